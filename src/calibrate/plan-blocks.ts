import { parseMarkdown } from '../text/markdown.ts'

/** The list items and paragraphs of a plan, and how they are taken out or written anew without a trace. */

export type Block = {
  /** Lines count from 1, and `to` is included. */
  readonly from: number
  readonly to: number
  readonly kind: 'item' | 'numbered' | 'paragraph'
  /** `- ` or `2. `, with what it is indented by; '' for a paragraph. */
  readonly marker: string
  readonly text: string
  /** Of the second level. */
  readonly section: string
}

export type Plan = {
  readonly lines: readonly string[]
  readonly blocks: readonly Block[]
  /** The longest line of prose, to which a block is wrapped that is written anew. */
  readonly width: number
}

const itemStart = /^(\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?)(?=\S)/

export function readPlan(text: string): Plan {
  const { lines, headings } = parseMarkdown(text)
  const titles = headings.filter(({ level }) => level === 2)
  const blocks: Block[] = []
  let open: { from: number; marker: string; texts: string[] } | null = null
  const close = (to: number): void => {
    if (open !== null) blocks.push(asBlock(open, to, titles.findLast(({ number }) => number <= to)?.title ?? ''))
    open = null
  }
  for (const { number, raw, kind } of lines) {
    const marker = itemStart.exec(raw)?.[1] ?? ''
    const isText = kind === 'text' && !raw.trimStart().startsWith('|') && !raw.trimStart().startsWith('>')
    if (!isText || marker !== '') close(number - 1)
    if (!isText) continue
    if (open === null) open = { from: number, marker, texts: [raw.slice(marker.length).trim()] }
    else open.texts.push(raw.trim())
  }
  close(lines.length)
  const prose = blocks.flatMap(({ from, to }) => lines.slice(from - 1, to).map(({ raw }) => raw.length))
  return { lines: lines.map(({ raw }) => raw), blocks, width: Math.max(60, ...prose) }
}

const asBlock = (
  open: { from: number; marker: string; texts: readonly string[] },
  to: number,
  section: string,
): Block => ({
  from: open.from,
  to,
  kind: open.marker === '' ? 'paragraph' : /\d/.test(open.marker) ? 'numbered' : 'item',
  marker: open.marker,
  text: open.texts.join(' '),
  section,
})

export type Edited = {
  readonly text: string
  /** Of the plan as it was: what was changed or taken out. */
  readonly before: readonly number[]
  /** Of the plan as it is now: what was changed, and what stands beside a gap. */
  readonly lines: readonly number[]
}

/** `null` takes a block out; a numbered list counts on. */
export function editBlocks(plan: Plan, edits: ReadonlyMap<Block, string | null>): Edited {
  const changed = new Map<number, { readonly to: number; readonly lines: readonly string[] }>()
  const renumbered = renumberedItems(plan, edits)
  for (const block of plan.blocks) {
    const edit = edits.get(block)
    const marker = renumbered.get(block)
    if (edit === undefined && marker === undefined) continue
    const lines =
      edit === null
        ? []
        : edit === undefined
          ? remarked(plan.lines.slice(block.from - 1, block.to), block.marker, marker ?? block.marker)
          : wrap(edit, marker ?? block.marker, plan.width)
    changed.set(block.from, { to: block.to, lines })
  }
  const [now, before, touched]: [string[], number[], number[]] = [[], [], []]
  for (let number = 1; number <= plan.lines.length; number += 1) {
    const change = changed.get(number)
    if (change === undefined) {
      now.push(plan.lines[number - 1] ?? '')
      continue
    }
    for (let n = number; n <= change.to; n += 1) before.push(n)
    // The neighbours of a gap are where a reader sees it.
    touched.push(
      ...(change.lines.length === 0 ? [now.length, now.length + 1] : change.lines.map((_, n) => now.length + 1 + n)),
    )
    now.push(...change.lines)
    number = change.to
  }
  const isWritten = (number: number): boolean => (now[number - 1] ?? '').trim() !== ''
  return { text: now.join('\n'), before, lines: [...new Set(touched)].filter(isWritten) }
}

/** The items behind one that is taken out, with their new numbers. */
function renumberedItems(plan: Plan, edits: ReadonlyMap<Block, string | null>): ReadonlyMap<Block, string> {
  const renumbered = new Map<Block, string>()
  let gone = 0
  for (const [index, block] of plan.blocks.entries()) {
    const last = plan.blocks[index - 1]
    if (last?.kind !== 'numbered' || last.section !== block.section) gone = 0
    if (block.kind !== 'numbered') continue
    if (gone > 0)
      renumbered.set(
        block,
        block.marker.replace(/\d+/, (number) => String(Number(number) - gone)),
      )
    if (edits.get(block) === null) gone += 1
  }
  return renumbered
}

const remarked = (lines: readonly string[], from: string, to: string): readonly string[] =>
  lines.map((line, n) => (n === 0 ? to + line.slice(from.length) : line))

/** Words are kept whole; a block of one line stays one where the plan does not wrap. */
function wrap(text: string, marker: string, width: number): readonly string[] {
  const indent = ' '.repeat(marker.length)
  const lines: string[] = []
  let line = marker
  let isEmpty = true
  for (const word of text.split(/\s+/)) {
    if (!isEmpty && line.length + 1 + word.length > width) {
      lines.push(line)
      line = indent
      isEmpty = true
    }
    line += isEmpty ? word : ` ${word}`
    isEmpty = false
  }
  return [...lines, line]
}

/** With their punctuation; code in backticks is not cut. */
export function sentencesOf(text: string): readonly string[] {
  const masked = text.replace(/`[^`]*`/g, (code) => 'x'.repeat(code.length))
  const ends = [...masked.matchAll(/[.!?](?=\s+[A-Z\u0060x\d])/g)].map(({ index }) => index + 1)
  return [...ends, text.length].map((end, n) => text.slice(n === 0 ? 0 : ends[n - 1], end).trim())
}

export const codeIn = (text: string): readonly string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)

export const pathsIn = (text: string): readonly string[] =>
  codeIn(text).filter((code) => /^[\w.@-]+(?:\/[\w.@-]+)*\.[a-z]\w{0,5}$|^[\w.@-]+(?:\/[\w.@-]+)+$/i.test(code))
