import { plainTitle } from '../review/findings/plain-title.ts'
import { type Lines, type Outline, readOutline, type Section } from './read-outline.ts'

/** A plan in which passages can be looked up. */
export type PlanText = {
  readonly outline: Outline
  /** The sections by their plain titles. */
  readonly titles: readonly { readonly section: Section; readonly title: string }[]
  /** The first and last line of a passage that `squeezed` has seen to, if possible within these lines; else empty. */
  readonly find: (passage: string, within: Lines | null) => readonly number[]
}

export function readPlanText(plan: string): PlanText {
  const outline = readOutline(plan)
  const titles = outline.sections.map((section) => ({ section, title: plainTitle(section.title) }))
  return { outline, titles, find: joined(outline.lines) }
}

/** For comparing: without case, marks of emphasis, markers of lists and tables, and the ends of lines. */
export const squeezed = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[`*_"\u201c\u201d]/g, '')
    .replace(/^\s*(?:>\s*|[-+]\s+|\d{1,3}[.)]\s+|\|\s*)+/, '')
    .replace(/\s+/g, ' ')
    .trim()

/** All lines as one text, since a passage may be quoted across the end of a line. */
function joined(lines: readonly string[]): PlanText['find'] {
  const starts: { at: number; line: number }[] = []
  let text = ''
  for (const [index, line] of lines.entries()) {
    const words = squeezed(line)
    if (words === '') continue
    starts.push({ at: text.length, line: index + 1 })
    text += `${words} `
  }
  const lineAt = (at: number): number => starts[lastNotAfter(starts, at)]?.line ?? 0
  const startOf = (line: number): number => starts.find((start) => start.line >= line)?.at ?? text.length
  return (passage, within) => {
    const first = within === null ? -1 : text.indexOf(passage, startOf(within.from))
    const isWithin = first >= 0 && within !== null && lineAt(first) <= within.to
    const at = isWithin ? first : text.indexOf(passage)
    return at < 0 ? [] : [lineAt(at), lineAt(at + passage.length - 1)]
  }
}

function lastNotAfter(starts: readonly { at: number }[], at: number): number {
  let [low, high] = [0, starts.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((starts[middle]?.at ?? 0) <= at) low = middle + 1
    else high = middle
  }
  return low - 1
}
