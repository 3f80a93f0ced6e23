import { splitLines } from '../plan/split-lines.ts'
import { showHidden } from '../safety/show-hidden.ts'

/**
 * Texts that have most of their lines in common: each different line once, and each text as runs of them, `[first,
 * count, first, count, …]`. Fifty revisions of a plan take little more room than one of them.
 */
export type PackedTexts = {
  readonly lines: readonly string[]
  readonly texts: readonly (readonly number[])[]
}

export function packTexts(texts: readonly string[]): PackedTexts {
  const numbers = new Map<string, number>()
  const numberOf = (line: string): number => {
    const known = numbers.get(line)
    if (known !== undefined) return known
    numbers.set(line, numbers.size)
    return numbers.size - 1
  }
  const runs = texts.map((text) => runsIn(splitLines(text).map(numberOf)))
  return { lines: [...numbers.keys()].map(shownLine), texts: runs }
}

/** The lines of one of them. */
export function unpackText({ lines, texts }: PackedTexts, index: number): readonly string[] {
  const runs = texts[index] ?? []
  const unpacked: string[] = []
  for (let at = 0; at < runs.length; at += 2) {
    const first = runs[at] ?? 0
    for (let n = 0; n < (runs[at + 1] ?? 0); n += 1) unpacked.push(lines[first + n] ?? '')
  }
  return unpacked
}

function runsIn(numbers: readonly number[]): readonly number[] {
  const runs: number[] = []
  for (const number of numbers) {
    const last = runs.length - 2
    if (last >= 0 && (runs[last] ?? 0) + (runs[last + 1] ?? 0) === number) runs[last + 1] = (runs[last + 1] ?? 0) + 1
    else runs.push(number, 1)
  }
  return runs
}

/** Lines that differ only in how they end must look different, too. */
function shownLine(line: string): string {
  const end = /\r?\n$/.exec(line)?.[0] ?? ''
  const text = showHidden(line.slice(0, line.length - end.length)).replaceAll('\n', ' ')
  if (end === '') return `${text}⟨no line end⟩`
  return end === '\n' ? text : `${text}␍`
}
