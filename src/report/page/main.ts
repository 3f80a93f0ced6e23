/** The page is there without this; what it adds are the differences, local times, and what paper needs. */
import { splitCode } from '../html.ts'
import { type PageData, type PageFinding, type PageRevision, unpackText } from '../page-data.ts'
import { button, element } from './dom.ts'
import { arrangeRows, type Item, type Layout, markWords, type Notes, type WordSpan } from './rows.ts'

function start(): void {
  for (const details of document.querySelectorAll<HTMLDetailsElement>('details.changes')) {
    details.addEventListener('toggle', () => draw(details))
    draw(details)
  }
  showLocalTimes()
  offerComparison(document.getElementById('compare-tool'))
  openForPrint()
  addEventListener('hashchange', openTarget)
  openTarget()
}

/** A difference is drawn when it is first looked at. */
function draw(details: HTMLDetailsElement): void {
  const viewer = details.querySelector('.viewer')
  if (!details.open || viewer === null || viewer.classList.contains('drawn')) return
  viewer.classList.add('drawn')
  const { before, after } = details.dataset
  showDifference(viewer, before === '' ? null : Number(before), Number(after))
}

/** In the reader's zone; without this script they are UTC. */
function showLocalTimes(): void {
  // ISO dates, as in Sweden.
  const format = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium' })
  for (const time of document.querySelectorAll('time')) {
    const at = new Date(time.dateTime)
    if (Number.isNaN(at.getTime())) continue
    time.title = `${time.textContent} UTC`
    time.textContent = format.format(at)
  }
  const zone = document.getElementById('zone')
  if (zone !== null) zone.textContent = `Times are those of your time zone, ${format.resolvedOptions().timeZone}.`
}

/** On paper nobody can open anything, so all lies open but the differences that nobody looked at. */
function openForPrint(): void {
  let opened: HTMLDetailsElement[] = []
  addEventListener('beforeprint', () => {
    opened = [...document.querySelectorAll<HTMLDetailsElement>('details:not([open]):not(.changes)')]
    for (const details of opened) details.open = true
  })
  addEventListener('afterprint', () => {
    for (const details of opened) details.open = false
    opened = []
  })
}

/** A link may lead into what is folded away. */
function openTarget(): void {
  const target = document.getElementById(location.hash.slice(1))
  const fold = target?.closest<HTMLDetailsElement>('details:not([open])')
  if (fold === null || fold === undefined) return
  fold.open = true
  target?.scrollIntoView()
}

function offerComparison(place: HTMLElement | null): void {
  const there = readData().revisions.flatMap(({ isThere }, index) => (isThere ? [index] : []))
  const [first, last] = [there[0], there.at(-1)]
  if (first === undefined || last === undefined || first === last) {
    place?.replaceChildren(element('p', 'faint', 'There are no two revisions to compare.'))
    return
  }
  const [from, to] = [choice(there, first), choice(there, last)]
  const result = element('div', 'viewer')
  const compare = (): void => showDifference(result, Number(from.value), Number(to.value))
  for (const select of [from, to]) select.addEventListener('change', () => result.hasChildNodes() && compare())
  const choices = [element('label', '', 'From ', from), element('label', '', 'to ', to), button('Compare', compare)]
  place?.replaceChildren(element('p', 'choices row', ...choices), result)
}

function choice(there: readonly number[], chosen: number): HTMLSelectElement {
  const revisions = there.flatMap((index) => readData().revisions[index] ?? [])
  const isOneCycle = new Set(revisions.map(({ cycle }) => cycle)).size === 1
  const options = revisions.map((revision, at) =>
    element('option', { value: there[at] ?? 0 }, nameOf(revision, isOneCycle)),
  )
  const select = element('select', '', ...options)
  select.value = String(chosen)
  return select
}

const nameOf = ({ cycle, name }: PageRevision, isOneCycle: boolean): string =>
  isOneCycle ? name : `cycle ${cycle}, ${name}`

function readData(): PageData {
  const script = document.getElementById('page-data') as (HTMLElement & { parsed?: PageData }) | null
  if (script === null) return { plans: { lines: [], texts: [] }, revisions: [] }
  script.parsed ??= JSON.parse(script.textContent ?? '') as PageData
  return script.parsed
}

/** Two revisions with what changed and what was found, or a single one with what was found. */
function showDifference(place: Element, before: number | null, after: number): void {
  const { revisions, plans } = readData()
  const [old, now] = [before === null ? undefined : revisions[before], revisions[after]]
  if (now === undefined) return
  const isOneCycle = old === undefined || old.cycle === now.cycle
  // What was found again stands beside the newer text only.
  const again = new Set(now.findings.map(({ anchor }) => anchor))
  const compared: Compared = {
    before: before === null ? null : unpackText(plans, before),
    after: unpackText(plans, after),
    names: { before: old === undefined ? '' : nameOf(old, isOneCycle), after: nameOf(now, isOneCycle) },
    notes: { before: old?.findings.filter(({ anchor }) => !again.has(anchor)) ?? [], after: now.findings },
  }
  const body = element('div')
  const redraw = (layout: Layout, isWhole: boolean): void =>
    body.replaceChildren(...drawDifference(compared, layout, isWhole))
  place.replaceChildren(...(old === undefined ? [] : [offerLayouts(redraw)]), body)
  if (old === undefined) redraw('whole', true)
}

type Compared = {
  readonly before: readonly string[] | null
  readonly after: readonly string[]
  readonly names: { readonly before: string; readonly after: string }
  readonly notes: Notes
}

/** Draws at once, and again at each choice. */
function offerLayouts(redraw: (layout: Layout, isWhole: boolean) => void): HTMLElement {
  const split = button('Side by side', () => choose('split', isWhole))
  const unified = button('Unified', () => choose('unified', isWhole))
  const whole = button('Whole text', () => choose(layout, !isWhole))
  let [layout, isWhole]: [Layout, boolean] = ['split', false]
  const choose = (chosen: Layout, all: boolean): void => {
    ;[layout, isWhole] = [chosen, all]
    split.ariaPressed = String(layout === 'split')
    unified.ariaPressed = String(layout === 'unified')
    whole.ariaPressed = String(isWhole)
    redraw(layout, isWhole)
  }
  choose(matchMedia('(max-width: 860px)').matches ? 'unified' : 'split', false)
  return element('div', { class: 'tools row', role: 'group', 'aria-label': 'How it is shown' }, split, unified, whole)
}

function drawDifference(compared: Compared, layout: Layout, isWhole: boolean): readonly HTMLElement[] {
  const { before, after, names, notes } = compared
  const { items, changed } = arrangeRows(before, after, notes, { layout, isWhole })
  const unplaced = notes.after.filter(({ line }) => line === null).map(drawNote)
  const head = element('p', 'faint', 'On the plan as a whole:')
  const heads = headsOf(names, layout)
  const columns = heads.map(([kind]) => element('col', `column-${kind}`))
  const cells = heads.map(([kind, words]) => element('th', { scope: 'col', class: `head of-${kind}` }, words))
  const body = element('tbody')
  appendRows(body, items, { compared, layout, columns: heads.length })
  const table = element(
    'table',
    'diff',
    element('caption', 'unseen', layout === 'whole' ? names.after : `${names.before} compared with ${names.after}`),
    element('colgroup', '', ...columns),
    element('thead', '', element('tr', '', ...cells)),
    body,
  )
  return [
    ...(unplaced.length === 0 ? [] : [element('div', 'aside', head, ...unplaced)]),
    ...(changed === 0 && before !== null ? [element('p', 'aside faint', 'The two texts are the same.')] : []),
    ...(items.length === 0 ? [] : [table]),
  ]
}

type Head = readonly [kind: 'number' | 'text', words: string]

function headsOf({ before, after }: Compared['names'], layout: Layout): readonly Head[] {
  const number = (words: string): Head => ['number', words]
  const text = (words: string): Head => ['text', words]
  switch (layout) {
    case 'split':
      return [number('Line'), text(before), number('Line'), text(after)]
    case 'unified':
      return [number(before), number(after), text('Text')]
    case 'whole':
      return [number('Line'), text(after)]
  }
}

type Setting = { readonly compared: Compared; readonly layout: Layout; readonly columns: number }

/** Rows that come into the page at once; the rest on request. */
const mostRows = 400

/** The next rows go where `before` stands; behind them a button for those that are too many. */
function appendRows(body: Element, items: readonly Item[], setting: Setting, before: Element | null = null) {
  const rows = items.slice(0, mostRows).map((item) => drawItem(item, setting))
  const rest = items.slice(mostRows)
  const next = Math.min(rest.length, mostRows).toLocaleString('en')
  if (rest.length > 0)
    rows.push(foldedRow(`Show ${next} more of ${rest.length.toLocaleString('en')} rows`, rest, setting))
  for (const row of rows) body.insertBefore(row, before)
  return rows[0]
}

function drawItem(item: Item, setting: Setting): HTMLElement {
  const { layout, columns } = setting
  switch (item.kind) {
    case 'folded':
      return foldedRow(`Show ${item.lines.toLocaleString('en')} unchanged lines`, item.items, setting)
    case 'notes': {
      const cell = (findings: readonly PageFinding[], colspan: number, more = '') =>
        element('td', { class: `noted${more}`, colspan }, ...findings.map(drawNote))
      return layout === 'split'
        ? element('tr', '', cell(item.before, 2), cell(item.after, 2, ' right-half'))
        : element('tr', '', cell([...item.before, ...item.after], columns))
    }
    case 'row':
      return lineRow(item, setting)
  }
}

function foldedRow(words: string, items: readonly Item[], setting: Setting): HTMLElement {
  const show = button(
    words,
    () => {
      const first = row.parentElement === null ? undefined : appendRows(row.parentElement, items, setting, row)
      row.remove()
      moveFocusTo(first)
    },
    'more',
  )
  const row = element('tr', '', element('td', { class: 'folded', colspan: setting.columns }, show))
  return row
}

/** Keeps the focus for keyboard users. */
function moveFocusTo(place: HTMLElement | undefined): void {
  if (place === undefined) return
  place.tabIndex = -1
  place.focus({ preventScroll: true })
}

/** Signs and tones of what changed; a copy of the text has no sign. */
const looks = {
  same: { tag: 'span', class: 'line-text', 'data-sign': '' },
  went: { tag: 'del', class: 'line-text went bad', 'data-sign': '−' },
  came: { tag: 'ins', class: 'line-text came good', 'data-sign': '+' },
} as const

type Look = keyof typeof looks

function lineRow({ row, side }: Item & { kind: 'row' }, { compared, layout }: Setting): HTMLElement {
  const { kind, before, after } = row
  const old = before === null ? null : (compared.before?.[before - 1] ?? '')
  const now = after === null ? null : (compared.after[after - 1] ?? '')
  const marked = kind === 'changed' && old !== null && now !== null ? markWords(old, now) : null
  const [went, came]: [Look, Look] = kind === 'changed' ? ['went', 'came'] : ['same', 'same']
  const left = (): HTMLElement => textCell(old, went, marked?.before)
  const right = (): HTMLElement => textCell(now, came, marked?.after)
  switch (layout) {
    case 'split':
      return element('tr', '', numberCell(before, went), left(), numberCell(after, came, ' right-half'), right())
    case 'unified':
      return side === 'before'
        ? element('tr', '', numberCell(before, went), numberCell(null, went), left())
        : element('tr', '', numberCell(side === 'both' ? before : null, came), numberCell(after, came), right())
    case 'whole':
      return element('tr', '', numberCell(after, 'same'), right())
  }
}

const numberCell = (line: number | null, look: Look, more = ''): HTMLElement =>
  element('td', looks[look].class.replace('line-text', 'line-number') + more, line === null ? '' : String(line))

/** A line of ten thousand characters is shown whole only when somebody asks for it. */
const mostCharacters = 2_000

function textCell(text: string | null, look: Look, words: readonly WordSpan[] | undefined): HTMLElement {
  if (text === null) return element('td', 'line-text none')
  const { tag, ...attributes } = looks[look]
  if (text.length <= mostCharacters) {
    const spans = words?.map(({ text, isChanged }) => (isChanged ? element('b', 'word', text) : text)) ?? [text]
    return element('td', attributes, element(tag, '', ...spans))
  }
  const line = element(tag, '', text.slice(0, mostCharacters))
  const more = button(
    `… show all ${text.length.toLocaleString('en')} characters`,
    () => {
      line.textContent = text
      moveFocusTo(line)
      more.remove()
    },
    'more',
  )
  return element('td', attributes, element('span', '', line, more))
}

const drawNote = ({ anchor, id, severity, severityTone, outcome, outcomeTone, problem, fix }: PageFinding) =>
  element(
    'div',
    `note box ${severityTone}`,
    element(
      'p',
      'note-head row',
      element('a', { href: `#${anchor}` }, id),
      ' ',
      element('span', `tag ${severityTone}`, severity),
      ' ',
      element('span', `outcome ${outcomeTone}`, outcome),
    ),
    element('p', { class: 'prose', dir: 'auto' }, ...withCode(problem)),
    fix === '' ? null : element('p', { class: 'prose faint', dir: 'auto' }, '→ ', ...withCode(fix)),
  )

const withCode = (text: string): readonly (HTMLElement | string)[] =>
  splitCode(text).map(({ text, isCode }) => (isCode ? element('code', '', text) : text))

start()
