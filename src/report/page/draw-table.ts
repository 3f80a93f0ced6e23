import type { Item, Layout } from '../arrange-rows.ts'
import { markWords, type Span } from '../mark-words.ts'
import { button, element } from './element.ts'
import { showLine } from './show-line.ts'
import { showNote } from './show-note.ts'

export type Texts = { readonly before: readonly string[] | null; readonly after: readonly string[] }
export type Names = { readonly before: string; readonly after: string }

/** Rows that come into the page at once; the rest on request. */
const mostRows = 400

/** The rows of a difference, with the lines of both texts. */
export function drawTable(items: readonly Item[], texts: Texts, names: Names, layout: Layout): HTMLTableElement {
  const heads = headsOf(names, layout)
  const body = element('tbody')
  append(body, items, { texts, layout, columns: heads.length })
  const columns = heads.map(({ kind }) => element('col', { class: `column-${kind}` }))
  const cells = heads.map(({ kind, words }) => element('th', { scope: 'col', class: `head of-${kind}` }, words))
  const caption = layout === 'whole' ? names.after : `${names.before} compared with ${names.after}`
  return element(
    'table',
    { class: 'diff' },
    element('caption', { class: 'unseen' }, caption),
    element('colgroup', {}, ...columns),
    element('thead', {}, element('tr', {}, ...cells)),
    body,
  )
}

type Head = { readonly kind: 'number' | 'text'; readonly words: string }

function headsOf({ before, after }: Names, layout: Layout): readonly Head[] {
  const number = (words: string): Head => ({ kind: 'number', words })
  const text = (words: string): Head => ({ kind: 'text', words })
  switch (layout) {
    case 'split':
      return [number('Line'), text(before), number('Line'), text(after)]
    case 'unified':
      return [number(before), number(after), text('Text')]
    case 'whole':
      return [number('Line'), text(after)]
  }
}

type Setting = { readonly texts: Texts; readonly layout: Layout; readonly columns: number }

/** The next rows go where `before` stands; behind them a button for those that are too many. */
function append(
  body: Element,
  items: readonly Item[],
  setting: Setting,
  before: Element | null = null,
): Element | null {
  const rows = items.slice(0, mostRows).map((item) => rowOf(item, setting))
  const rest = items.slice(mostRows)
  const next = Math.min(rest.length, mostRows).toLocaleString('en')
  if (rest.length > 0)
    rows.push(foldedRow(`Show ${next} more of ${rest.length.toLocaleString('en')} rows`, rest, setting))
  for (const row of rows) body.insertBefore(row, before)
  return rows[0] ?? null
}

function rowOf(item: Item, setting: Setting): HTMLTableRowElement {
  switch (item.kind) {
    case 'folded':
      return foldedRow(`Show ${item.lines.toLocaleString('en')} unchanged lines`, item.items, setting)
    case 'notes':
      return notesRow(item, setting)
    case 'row':
      return lineRow(item, setting)
  }
}

function foldedRow(words: string, items: readonly Item[], setting: Setting): HTMLTableRowElement {
  const row = element('tr')
  const show = button(words, () => {
    const first = row.parentElement === null ? null : append(row.parentElement, items, setting, row)
    row.remove()
    // Whoever came here by the keyboard goes on from here.
    if (!(first instanceof HTMLElement)) return
    first.tabIndex = -1
    first.focus({ preventScroll: true })
  })
  show.className = 'more'
  row.append(element('td', { class: 'folded', colspan: setting.columns }, show))
  return row
}

function notesRow({ before, after }: Item & { kind: 'notes' }, { layout, columns }: Setting): HTMLTableRowElement {
  if (layout !== 'split')
    return element(
      'tr',
      {},
      element('td', { class: 'noted', colspan: columns }, ...[...before, ...after].map(showNote)),
    )
  return element(
    'tr',
    {},
    element('td', { class: 'noted', colspan: 2 }, ...before.map(showNote)),
    element('td', { class: 'noted right-half', colspan: 2 }, ...after.map(showNote)),
  )
}

type Look = 'same' | 'went' | 'came'

function lineRow({ row, side }: Item & { kind: 'row' }, { texts, layout }: Setting): HTMLTableRowElement {
  const { kind, before, after } = row
  const old = before === null ? null : (texts.before?.[before - 1] ?? '')
  const now = after === null ? null : (texts.after[after - 1] ?? '')
  const marked = kind === 'changed' && old !== null && now !== null ? markWords(old, now) : null
  const [went, came]: [Look, Look] = kind === 'changed' ? ['went', 'came'] : ['same', 'same']
  const left = (): HTMLElement => textCell(old, went, marked?.before)
  const right = (): HTMLElement => textCell(now, came, marked?.after)
  switch (layout) {
    case 'split': {
      const middle = numberCell(after, came)
      middle.classList.add('right-half')
      return element('tr', {}, numberCell(before, went), left(), middle, right())
    }
    case 'unified':
      return side === 'before'
        ? element('tr', {}, numberCell(before, went), numberCell(null, went), left())
        : element('tr', {}, numberCell(side === 'both' ? before : null, came), numberCell(after, came), right())
    case 'whole':
      return element('tr', {}, numberCell(after, 'same'), right())
  }
}

const numberCell = (line: number | null, look: Look): HTMLElement =>
  element('td', { class: `line-number ${look}` }, line === null ? '' : String(line))

const tags = { same: 'span', went: 'del', came: 'ins' } as const

function textCell(text: string | null, look: Look, spans: readonly Span[] | undefined): HTMLElement {
  if (text === null) return element('td', { class: 'line-text none' })
  return element('td', { class: `line-text ${look}` }, showLine(spans ?? [{ text, isChanged: false }], tags[look]))
}
