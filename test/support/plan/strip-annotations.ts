import { splitLines } from '../../../src/text/clean.ts'

/** The plan without the annotations of `annotatePlan`. */
export function stripAnnotations(annotated: string): string {
  const lines = splitLines(annotated)
  const mark = /^>[>\d]*/.exec(annotated)?.[0]
  if (mark === undefined) return annotated
  const isOurs = lines.map((line) => line.startsWith(mark))
  const headEnd = isOurs.indexOf(false)
  const tail = isOurs.lastIndexOf(false) + 1
  const said = lines[headEnd - 1] ?? ''
  const last = tail - 1 - (said.includes('a line is added that closes what it leaves open') ? 1 : 0)
  const isPlan = (index: number): boolean => index < last && !isOurs[index] && !isOurs[index - 1] && !isOurs[index + 1]
  const plan = lines.filter((_, index) => isPlan(index)).join('')
  const eol = /\r?\n/.exec(annotated)?.[0] ?? '\n'
  return said.includes('has no newline at its end') && plan.endsWith(eol) ? plan.slice(0, -eol.length) : plan
}
