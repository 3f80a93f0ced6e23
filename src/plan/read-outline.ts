/** Lines count from 1, and `to` is the last that belongs to it. */
export type Lines = { readonly from: number; readonly to: number }

/** From a heading to the next one of its rank or above. */
export type Section = Lines & { readonly title: string; readonly rank: number }

export type Outline = {
  /** Without what ends them. */
  readonly lines: readonly string[]
  readonly sections: readonly Section[]
  /** The paragraph, list item, table row or code block that a line belongs to. */
  readonly blockAt: (line: number) => Lines
  /** The first line, from this block on, after which something can stand without tearing apart what belongs together. */
  readonly gapAfter: (line: number) => number
  /** What has to stand at the end for a code block or a comment to be closed; '' where none is open. */
  readonly stillOpen: string
}

/** What a plan consists of. A `#` inside a code block or a comment is no heading. */
export function readOutline(plan: string): Outline {
  const lines = plan.split('\n').map((line) => line.replace(/\r$/, ''))
  if (lines.at(-1) === '') lines.pop()
  const read = readLines(lines)
  const ends = blockEnds(read)
  const gaps = nextGaps(read)
  const endOf = (line: number): number => ends.get(read[line - 1]?.block ?? line) ?? line
  return {
    lines,
    sections: sectionsIn(read),
    blockAt: (line) => ({ from: read[line - 1]?.block ?? line, to: endOf(line) }),
    gapAfter: (line) => gaps[endOf(line) - 1] ?? read.length,
    stillOpen: closing(read.at(-1)?.inside ?? outside),
  }
}

/** What is open after a line. */
type Inside =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'code'; readonly fence: string }
  | { readonly kind: 'comment' }
type Kind = 'blank' | 'heading' | 'item' | 'row' | 'fence' | 'text' | 'enclosed'
type ReadLine = {
  readonly text: string
  readonly kind: Kind
  readonly inside: Inside
  readonly isIndented: boolean
  /** The line with which its block begins. */
  readonly block: number
  /** Whether that is the line of a list item. */
  readonly inItem: boolean
}

const outside: Inside = { kind: 'nothing' }

function readLines(lines: readonly string[]): readonly ReadLine[] {
  const read: ReadLine[] = []
  let written: ReadLine | undefined
  for (const [index, text] of lines.entries()) {
    const before = read.at(-1)
    const wasInside = before?.inside ?? outside
    const kind = wasInside.kind === 'nothing' ? kindOf(text) : 'enclosed'
    const line = { text, kind, inside: insideAfter(text, wasInside), isIndented: /^(?: {2}|\t)/.test(text) }
    const above = blockGoingOn(line, before, written)
    const own = above ?? { block: index + 1, inItem: kind === 'item' }
    read.push({ ...line, block: own.block, inItem: own.inItem })
    if (kind !== 'blank') written = read.at(-1)
  }
  return read
}

const kinds: readonly (readonly [RegExp, Kind])[] = [
  [/^\s*$/, 'blank'],
  [/^ {0,3}#{1,6}(?:[ \t]|$)/, 'heading'],
  [/^ {0,3}(?:`{3,}[^`]*|~{3,}.*)$/, 'fence'],
  [/^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/, 'item'],
  [/^ {0,3}\|/, 'row'],
]

/** Most lines begin with a letter, and those are text. */
const kindOf = (text: string): Kind =>
  /^\s*[^\s#`~*+|\d-]/.test(text) ? 'text' : (kinds.find(([pattern]) => pattern.test(text))?.[1] ?? 'text')

/** As CommonMark has it: a fence is closed by one of its kind that is as long, a comment begins at the start of a line. */
function insideAfter(text: string, inside: Inside): Inside {
  switch (inside.kind) {
    case 'nothing': {
      if (!/`{3}|~{3}|<!--/.test(text)) return outside
      const fence = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(text)?.[1]
      if (fence !== undefined) return { kind: 'code', fence }
      return /^ {0,3}<!--/.test(text) && !text.includes('-->') ? { kind: 'comment' } : outside
    }
    case 'code': {
      const fence = /^ {0,3}(`{3,}|~{3,})\s*$/.exec(text)?.[1] ?? ''
      return fence.startsWith(inside.fence) ? outside : inside
    }
    case 'comment':
      return text.includes('-->') ? outside : inside
  }
}

/** The line whose block this one carries on. An item goes on after blank lines, if what follows is indented. */
function blockGoingOn(
  line: Pick<ReadLine, 'kind' | 'isIndented'>,
  before: ReadLine | undefined,
  written: ReadLine | undefined,
): ReadLine | undefined {
  switch (line.kind) {
    case 'enclosed':
      return before
    case 'blank':
    case 'heading':
    case 'row':
      return undefined
    case 'item':
    case 'fence':
      return line.isIndented && written?.inItem ? written : undefined
    case 'text':
      if (line.isIndented && written?.inItem) return written
      return before?.kind === 'text' || before?.kind === 'item' || before?.kind === 'row' ? before : undefined
  }
}

function blockEnds(read: readonly ReadLine[]): ReadonlyMap<number, number> {
  const ends = new Map<number, number>()
  for (const [index, { block }] of read.entries()) ends.set(block, index + 1)
  return ends
}

function sectionsIn(read: readonly ReadLine[]): readonly Section[] {
  const open: { title: string; rank: number; from: number; to: number }[] = []
  const sections: { title: string; rank: number; from: number; to: number }[] = []
  for (const [index, { kind, text }] of read.entries()) {
    if (kind !== 'heading') continue
    const rank = /#+/.exec(text)?.[0].length ?? 1
    for (let last = open.at(-1); last !== undefined && last.rank >= rank; last = open.at(-1)) {
      last.to = index
      open.pop()
    }
    const section = { title: titleOf(text), rank, from: index + 1, to: read.length }
    sections.push(section)
    open.push(section)
  }
  return sections
}

const titleOf = (heading: string): string => heading.trim().replace(/^#+/, '').trim().replace(/ #+$/, '').trim()

/** For each line, the first one from there on after which there is a gap. */
function nextGaps(read: readonly ReadLine[]): readonly number[] {
  const gaps = new Array<number>(read.length)
  let gap = read.length
  let written: ReadLine | undefined
  for (let index = read.length - 1; index >= 0; index -= 1) {
    const line = read[index]
    if (line !== undefined && isGap(line, read[index + 1], written)) gap = index + 1
    gaps[index] = gap
    if (line?.kind !== 'blank') written = line
  }
  return gaps
}

/** `written` is the next line that is not blank. */
function isGap(line: ReadLine, next: ReadLine | undefined, written: ReadLine | undefined): boolean {
  if (line.inside.kind !== 'nothing') return false
  if (line.kind === 'heading' || next === undefined || written === undefined) return true
  if (written.isIndented || next.block === line.block) return false
  return line.kind !== 'row' || next.kind !== 'row'
}

function closing(inside: Inside): string {
  switch (inside.kind) {
    case 'nothing':
      return ''
    case 'code':
      return inside.fence
    case 'comment':
      return '-->'
  }
}
