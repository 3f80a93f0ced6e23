import { splitCode } from '../html.ts'
import { type PageData, type PageFinding, type PageRevision, unpackText } from '../page-data.ts'
import { arrangeRows, type Item, type Layout, markWords, type WordSpan } from '../rows.ts'
import { button, element } from './dom.ts'

const themes = ['automatic', 'light', 'dark'] as const
type Theme = (typeof themes)[number]

const key = 'plan-gate-theme'

/** As the system has it, or as the reader wants it; remembered where the browser lets a file remember anything. */
function offerThemes(place: Element): void {
  let theme = remembered()
  const show = (): void => {
    if (theme === 'automatic') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = theme
    control.textContent = `Theme: ${theme}`
  }
  const control = button('', () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'automatic'
    remember(theme)
    show()
  })
  control.className = 'theme'
  place.append(control)
  show()
}

function remembered(): Theme {
  try {
    return themes.find((theme) => theme === localStorage.getItem(key)) ?? 'automatic'
  } catch {
    return 'automatic'
  }
}

function remember(theme: Theme): void {
  try {
    localStorage.setItem(key, theme)
  } catch {
    // It counts for this visit.
  }
}

/** Any two revisions, of any cycle. */
function offerComparison(place: Element): void {
  const { revisions } = readData()
  const there = revisions.flatMap(({ isThere }, index) => (isThere ? [index] : []))
  const [first, last] = [there[0], there.at(-1)]
  if (first === undefined || last === undefined || first === last) {
    place.replaceChildren(element('p', { class: 'faint' }, 'There are no two revisions to compare.'))
    return
  }
  const from = choice('From', there, first)
  const to = choice('to', there, last)
  const result = element('div', { class: 'viewer' })
  const compare = (): void => showDifference(result, Number(from.select.value), Number(to.select.value))
  for (const { select } of [from, to]) select.addEventListener('change', () => result.hasChildNodes() && compare())
  place.replaceChildren(element('p', { class: 'choices' }, from.label, to.label, button('Compare', compare)), result)
}

function choice(
  words: string,
  there: readonly number[],
  chosen: number,
): { label: HTMLElement; select: HTMLSelectElement } {
  const { revisions } = readData()
  const isOneCycle = new Set(there.map((index) => revisions[index]?.cycle)).size === 1
  const select = element(
    'select',
    {},
    ...there.map((index) => {
      const { cycle, name } = revisions[index] ?? { cycle: 0, name: '' }
      return element('option', { value: index }, isOneCycle ? name : `cycle ${cycle}, ${name}`)
    }),
  )
  select.value = String(chosen)
  return { label: element('label', {}, `${words} `, select), select }
}

let read: PageData | undefined

/** Parsed when it is first asked for. */
function readData(): PageData {
  read ??= JSON.parse(document.getElementById('page-data')?.textContent ?? '') as PageData
  return read
}

const linesOf = (index: number): readonly string[] => unpackText(readData().plans, index)

/** Two revisions with what changed and what was found, or a single one with what was found. */
function showDifference(place: Element, before: number | null, after: number): void {
  const { revisions } = readData()
  const [old, now] = [before === null ? undefined : revisions[before], revisions[after]]
  if (now === undefined) return
  const texts = { before: before === null ? null : linesOf(before), after: linesOf(after) }
  const notes = notesOn(old, now)
  const body = element('div')
  const draw = (layout: Layout, isWhole: boolean): void => {
    const { items, changed } = arrangeRows(texts.before, texts.after, notes, { layout, isWhole })
    body.replaceChildren(
      ...unplaced(notes.after),
      ...(changed === 0 && old !== undefined ? [aside('The two texts are the same.')] : []),
      ...(items.length === 0 ? [] : [drawTable(items, texts, namesOf(old, now), layout)]),
    )
  }
  place.replaceChildren(...(old === undefined ? [] : [toolsFor(draw)]), body)
  if (old === undefined) draw('whole', true)
}

/** Draws at once, and again at each choice. */
function toolsFor(draw: (layout: Layout, isWhole: boolean) => void): HTMLElement {
  let layout: Layout = matchMedia('(max-width: 860px)').matches ? 'unified' : 'split'
  let isWhole = false
  const split = button('Side by side', () => choose('split', isWhole))
  const unified = button('Unified', () => choose('unified', isWhole))
  const whole = button('Whole text', () => choose(layout, !isWhole))
  const choose = (chosen: Layout, all: boolean): void => {
    layout = chosen
    isWhole = all
    split.ariaPressed = String(layout === 'split')
    unified.ariaPressed = String(layout === 'unified')
    whole.ariaPressed = String(isWhole)
    draw(layout, isWhole)
  }
  choose(layout, isWhole)
  return element('div', { class: 'tools', role: 'group', 'aria-label': 'How it is shown' }, split, unified, whole)
}

type Notes = { readonly before: readonly PageFinding[]; readonly after: readonly PageFinding[] }

/** What was found again stands beside the newer text only. */
function notesOn(old: PageRevision | undefined, now: PageRevision): Notes {
  const again = new Set(now.findings.map(({ anchor }) => anchor))
  return { before: (old?.findings ?? []).filter(({ anchor }) => !again.has(anchor)), after: now.findings }
}

function namesOf(old: PageRevision | undefined, now: PageRevision): Names {
  const isOneCycle = old === undefined || old.cycle === now.cycle
  const name = ({ name, cycle }: PageRevision): string => (isOneCycle ? name : `cycle ${cycle}, ${name}`)
  return { before: old === undefined ? '' : name(old), after: name(now) }
}

const aside = (words: string): HTMLElement => element('p', { class: 'aside faint' }, words)

function unplaced(findings: readonly PageFinding[]): readonly HTMLElement[] {
  const without = findings.filter(({ line }) => line === null)
  if (without.length === 0) return []
  const head = element('p', { class: 'faint' }, 'On the plan as a whole:')
  return [element('div', { class: 'aside' }, head, ...without.map(showNote))]
}

type Texts = { readonly before: readonly string[] | null; readonly after: readonly string[] }
type Names = { readonly before: string; readonly after: string }

/** Rows that come into the page at once; the rest on request. */
const mostRows = 400

/** The rows of a difference, with the lines of both texts. */
function drawTable(items: readonly Item[], texts: Texts, names: Names, layout: Layout): HTMLTableElement {
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
    // Keeps the focus for keyboard users.
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

function textCell(text: string | null, look: Look, spans: readonly WordSpan[] | undefined): HTMLElement {
  if (text === null) return element('td', { class: 'line-text none' })
  return element('td', { class: `line-text ${look}` }, showLine(spans ?? [{ text, isChanged: false }], tags[look]))
}

/** A line of ten thousand characters is shown whole only when somebody asks for it. */
const mostCharacters = 2_000

/** A line of a plan, with the words in it that changed. */
function showLine(spans: readonly WordSpan[], tag: 'span' | 'ins' | 'del'): HTMLElement {
  const length = spans.reduce((sum, { text }) => sum + text.length, 0)
  if (length <= mostCharacters) return element(tag, {}, ...spans.map(showSpan))
  const text = spans.map((span) => span.text).join('')
  const line = element(tag, {}, text.slice(0, mostCharacters))
  const more = button(`… show all ${length.toLocaleString('en')} characters`, () => {
    line.textContent = text
    line.tabIndex = -1
    line.focus()
    more.remove()
  })
  more.className = 'more'
  return element('span', {}, line, more)
}

const showSpan = ({ text, isChanged }: WordSpan): Node =>
  isChanged ? element('b', { class: 'word' }, text) : document.createTextNode(text)

/** A finding at its place in the plan. */
const showNote = (finding: PageFinding): HTMLElement =>
  element(
    'div',
    { class: `note ${finding.severityTone}` },
    element(
      'p',
      { class: 'note-head' },
      element('a', { class: 'note-id', href: `#${finding.anchor}` }, finding.id),
      ' ',
      element('span', { class: `tag ${finding.severityTone}` }, finding.severity),
      ' ',
      finding.outcome === '' ? null : element('span', { class: `outcome ${finding.outcomeTone}` }, finding.outcome),
    ),
    element('p', { class: 'prose', dir: 'auto' }, ...withCode(finding.problem)),
    finding.fix === '' ? null : element('p', { class: 'prose note-fix', dir: 'auto' }, ...withCode(finding.fix)),
  )

const withCode = (text: string): readonly (HTMLElement | string)[] =>
  splitCode(text).map(({ text, isCode }) => (isCode ? element('code', {}, text) : text))

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

/** The page is there without this; what it adds are the differences, the choice of a theme, and what paper needs. */
const changes = document.querySelectorAll<HTMLDetailsElement>('details.changes')
for (const details of changes) {
  details.addEventListener('toggle', () => draw(details))
  draw(details)
}
showLocalTimes()
onPlace('theme-tool', offerThemes)
onPlace('compare-tool', offerComparison)
openForPrint()
addEventListener('hashchange', openTarget)
openTarget()

/** A difference is drawn when it is first looked at. */
function draw(details: HTMLDetailsElement): void {
  const viewer = details.querySelector('.viewer')
  if (!details.open || viewer === null || viewer.classList.contains('drawn')) return
  viewer.classList.add('drawn')
  const { before, after } = details.dataset
  showDifference(viewer, before === '' ? null : Number(before), Number(after))
}

function onPlace(id: string, act: (place: Element) => void): void {
  const place = document.getElementById(id)
  if (place !== null) act(place)
}

/** A link may lead into what is folded away. */
function openTarget(): void {
  const target = document.getElementById(location.hash.slice(1))
  const fold = target?.closest<HTMLDetailsElement>('details:not([open])')
  if (fold === null || fold === undefined) return
  fold.open = true
  target?.scrollIntoView()
}
