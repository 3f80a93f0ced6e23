import { arrangeRows, type Layout } from '../arrange-rows.ts'
import type { PageFinding, PageRevision } from '../page-data.ts'
import { drawTable, type Names } from './draw-table.ts'
import { button, element } from './element.ts'
import { linesOf, readData } from './read-data.ts'
import { showNote } from './show-note.ts'

/** Two revisions with what changed and what was found, or a single one with what was found. */
export function showDifference(place: Element, before: number | null, after: number): void {
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
  const unified = button('One under the other', () => choose('unified', isWhole))
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
