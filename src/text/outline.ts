/** The sections of a plan, and the blocks (paragraph, list item, table row, code block) that annotations keep whole. */
import { type MarkdownLine, parseMarkdown } from './markdown.ts'

/** Lines count from 1, and `to` is included. */
export type LineRange = { readonly from: number; readonly to: number }

/** From a heading to the next one of its rank or above. */
export type Section = LineRange & { readonly title: string; readonly rank: number }

export type Outline = {
  readonly lines: readonly string[]
  readonly sections: readonly Section[]
  readonly blockAt: (line: number) => LineRange
  /** The first line, from this block on, after which text can be inserted without splitting a block or a table. */
  readonly gapAfter: (line: number) => number
  /** What closes the code block or comment that is open at the end; '' where none is. */
  readonly stillOpen: string
}

export function readOutline(plan: string): Outline {
  const { lines: parsed, headings } = parseMarkdown(plan)
  const lines = parsed.at(-1)?.raw === '' ? parsed.slice(0, -1) : parsed
  const blocks = findBlocks(lines)
  const ends = new Map(blocks.map(({ first }, index) => [first, index + 1]))
  const gaps = nextGaps(blocks)
  const endOf = (line: number): number => ends.get(blocks[line - 1]?.first ?? line) ?? line
  return {
    lines: lines.map(({ raw }) => raw),
    sections: headings.map(({ text, level, number, end }) => ({
      title: text,
      rank: level,
      from: number,
      to: Math.min(end, lines.length),
    })),
    blockAt: (line) => ({ from: blocks[line - 1]?.first ?? line, to: endOf(line) }),
    gapAfter: (line) => gaps[endOf(line) - 1] ?? lines.length,
    stillOpen: lines.at(-1)?.open ?? '',
  }
}

type Kind = 'blank' | 'heading' | 'item' | 'row' | 'fence' | 'text' | 'enclosed'

type BlockLine = {
  readonly kind: Kind
  readonly isOpen: boolean
  readonly isIndented: boolean
  /** The number of the line that its block begins with. */
  readonly first: number
  /** Whether that line is a list item. */
  readonly isInItem: boolean
}

function findBlocks(lines: readonly MarkdownLine[]): readonly BlockLine[] {
  const blocks: BlockLine[] = []
  let lastWritten: BlockLine | undefined
  for (const line of lines) {
    const before = blocks.at(-1)
    const kind = before?.isOpen === true ? 'enclosed' : kindOf(line)
    const isIndented = /^(?: {2}|\t)/.test(line.raw)
    const above = continuedBlock(kind, isIndented, before, lastWritten)
    const { first, isInItem } = above ?? { first: line.number, isInItem: kind === 'item' }
    const block = { kind, isOpen: line.open !== '', isIndented, first, isInItem }
    blocks.push(block)
    if (kind !== 'blank') lastWritten = block
  }
  return blocks
}

function kindOf({ raw, kind }: MarkdownLine): Kind {
  if (raw.trim() === '') return 'blank'
  // An underlined heading is a paragraph here, so that nothing comes between it and its underline.
  if (kind === 'heading' && /^ {0,3}#/.test(raw)) return 'heading'
  return patterns.find(([pattern]) => pattern.test(raw))?.[1] ?? 'text'
}

const patterns: readonly (readonly [RegExp, Kind])[] = [
  [/^ {0,3}(?:`{3,}[^`]*|~{3,}.*)$/s, 'fence'],
  [/^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/, 'item'],
  [/^ {0,3}\|/, 'row'],
]

/** The block that a line continues. An item continues after blank lines if the next line is indented. */
function continuedBlock(
  kind: Kind,
  isIndented: boolean,
  before: BlockLine | undefined,
  lastWritten: BlockLine | undefined,
): BlockLine | undefined {
  switch (kind) {
    case 'enclosed':
      return before
    case 'blank':
    case 'heading':
    case 'row':
      return undefined
    case 'item':
    case 'fence':
      return isIndented && lastWritten?.isInItem ? lastWritten : undefined
    case 'text':
      if (isIndented && lastWritten?.isInItem) return lastWritten
      return before?.kind === 'text' || before?.kind === 'item' || before?.kind === 'row' ? before : undefined
  }
}

/** For each line, the first one from there on after which text can be inserted. */
function nextGaps(blocks: readonly BlockLine[]): readonly number[] {
  const gaps = new Array<number>(blocks.length)
  let gap = blocks.length
  let nextWritten: BlockLine | undefined
  for (let index = blocks.length - 1; index >= 0; index -= 1) {
    const line = blocks[index]
    if (line !== undefined && isGap(line, blocks[index + 1], nextWritten)) gap = index + 1
    gaps[index] = gap
    if (line?.kind !== 'blank') nextWritten = line
  }
  return gaps
}

function isGap(line: BlockLine, next: BlockLine | undefined, nextWritten: BlockLine | undefined): boolean {
  if (line.isOpen) return false
  if (line.kind === 'heading' || next === undefined || nextWritten === undefined) return true
  if (nextWritten.isIndented || next.first === line.first) return false
  return line.kind !== 'row' || next.kind !== 'row'
}
