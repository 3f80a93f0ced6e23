import { headingText, type MarkdownLine, scanMarkdown } from '../text/markdown.ts'
import { type Html, html, splitCode } from './html.ts'

/** A plan as a page shows it: headings, lists, tables as they stand, code. All of it is text; nothing of it is a link. */

export function renderMarkdown(text: string): Html {
  const blocks: Html[] = []
  let [open, group]: [string, Group | null] = ['', null]
  const close = (): void => {
    if (group !== null) blocks.push(renderGroup(group))
    group = null
  }
  const add = (kind: Group['kind'], line: string): void => {
    if (group?.kind !== kind) {
      close()
      group = { kind, lines: [] }
    }
    group.lines.push(line)
  }
  let isUnderlined = false
  for (const line of scanMarkdown(text)) {
    const kind = kindOf(line, open, isUnderlined)
    if (kind === 'none' || kind === 'fence' || kind === 'heading') close()
    else add(kind, line.raw)
    if (kind === 'heading') blocks.push(renderHeading(line))
    isUnderlined = kind === 'heading' && !/^ {0,3}#/.test(line.raw)
    open = line.open
  }
  close()
  return html`<div class="plan">${blocks}</div>`
}

type Group = { readonly kind: 'text' | 'item' | 'code' | 'table' | 'quote'; readonly lines: string[] }

const isFence = (open: string): boolean => /^[`~]/.test(open)

/** What CommonMark hides (comments, a YAML header) is shown as code: nobody approves what they cannot see. */
function kindOf(
  { raw, kind, open }: MarkdownLine,
  before: string,
  isUnderlined: boolean,
): Group['kind'] | 'heading' | 'fence' | 'none' {
  if (isFence(before)) return isFence(open) ? 'code' : 'fence'
  if (isFence(open)) return 'fence'
  if (raw.trim() === '' || (isUnderlined && /^ {0,3}(?:=+|-+)\s*$/.test(raw))) return 'none'
  if (kind === 'heading' || kind === 'code') return kind
  if (kind === 'blank' && !/^ {0,3}[-*_][-*_ \t]+$/.test(raw)) return 'code'
  if (kind === 'blank') return 'none'
  if (item.test(raw) || /^\s/.test(raw)) return 'item'
  return raw.startsWith('|') ? 'table' : raw.startsWith('>') ? 'quote' : 'text'
}

const item = /^(\s*)(?:[-*+]|(\d{1,9})[.)])\s+(?:\[([ xX])\]\s+)?(.*)$/

function renderGroup({ kind, lines }: Group): Html {
  switch (kind) {
    case 'code':
    case 'table':
      return html`<pre><code>${lines.join('\n')}</code></pre>`
    case 'quote':
      return html`<blockquote dir="auto">${withMarks(lines.map((line) => line.replace(/^>\s?/, '')).join('\n'))}</blockquote>`
    case 'text':
      return html`<p dir="auto">${withMarks(lines.join('\n'))}</p>`
    case 'item':
      return renderItems(lines)
  }
}

type Item = { readonly depth: number; readonly mark: string; readonly text: string }

/** A line that is no item goes on with the one above. */
function renderItems(lines: readonly string[]): Html {
  const items: Item[] = []
  for (const line of lines) {
    const [, indent = '', number, box, text = ''] = item.exec(line) ?? []
    const last = items.at(-1)
    if (text === '' && last !== undefined) items[items.length - 1] = { ...last, text: `${last.text}\n${line.trim()}` }
    else if (text === '') items.push({ depth: 0, mark: '', text: line.trim() })
    else {
      const mark = box === undefined ? (number === undefined ? '•' : `${number}.`) : box === ' ' ? '☐' : '☑'
      items.push({ depth: Math.min(4, Math.floor(indent.replaceAll('\t', '    ').length / 2)), mark, text })
    }
  }
  const rendered = items.map(
    ({ depth, mark, text }) =>
      html`<li class="depth-${depth}" dir="auto"><span class="item-mark">${mark}</span> <span>${withMarks(text)}</span></li>`,
  )
  return html`<ul>${rendered}</ul>`
}

/** Below the heading of the page's part. */
function renderHeading(line: MarkdownLine): Html {
  const words = withMarks(headingText(line))
  if (line.level === 1) return html`<h3>${words}</h3>`
  return line.level === 2 ? html`<h4>${words}</h4>` : html`<h5>${words}</h5>`
}

const withMarks = (text: string): readonly Html[] =>
  splitCode(text).flatMap(({ text, isCode }) =>
    isCode
      ? [html`<code>${text}</code>`]
      : text
          .split(/(\*\*[^*\n]{1,400}\*\*)/)
          .map((part, index) => (index % 2 === 1 ? html`<strong>${part.slice(2, -2)}</strong>` : html`${part}`)),
  )
