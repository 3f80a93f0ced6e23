import { readFileSync, statSync } from 'node:fs'
import { readAnswer } from '../review/contract/read-answer.ts'
import { type ReviewType, reviewTypes } from '../schemas/backend.ts'
import type { Finding } from '../schemas/review-result.ts'
import { UserError } from '../system/user-error.ts'

export type ReviewFlags = {
  type?: string
  content?: string
  diff?: string | true
  expertise?: string
  context?: string
  output?: string
  iteration?: string
  previous?: string
  fast?: boolean
  toolAccess?: boolean
  timeout?: string
  json?: boolean
}

/** Longer content is cut to its budget anyway; what is longer than this was meant for somebody else. */
const mostBytes = 50 * 1024 * 1024

export function typeOf({ type, diff }: ReviewFlags): ReviewType {
  const given = type ?? (diff === undefined ? undefined : 'code')
  const known = reviewTypes.find((name) => name === given)
  if (known !== undefined) return known
  throw new UserError(
    given === undefined ? 'There is no --type.' : `${JSON.stringify(given)} is not a type of review.`,
    `Choose one: --type ${reviewTypes.join(', ')}.`,
  )
}

export function wholeNumber(name: string, given: string | undefined, most: number): number | null {
  if (given === undefined) return null
  if (/^[1-9]\d{0,5}$/.test(given) && Number(given) <= most) return Number(given)
  throw new UserError(`--${name} ${given} is not a whole number from 1 to ${most}.`, `Give it as in --${name} 2.`)
}

export const textOrNone = (name: string, file: string | undefined): string | null =>
  file === undefined ? null : textIn(name, file)

/** `-` is standard input. Text that is no UTF-8 is not reviewed: what the reviewer saw would not be what is there. */
export function textIn(name: string, file: string): string {
  const bytes = bytesOf(name, file)
  if (bytes.length > mostBytes)
    throw new UserError(
      `${nameOf(file)} has ${bytes.length} bytes; at most ${mostBytes} are read.`,
      'Review it in parts.',
    )
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new UserError(`${nameOf(file)} is not UTF-8 text.`, `Convert it, or give another file with --${name}.`)
  }
}

const nameOf = (file: string): string => (file === '-' ? 'What came on standard input' : file)

function bytesOf(name: string, file: string): Buffer {
  try {
    if (file !== '-' && !statSync(file).isFile() && !statSync(file).isFIFO()) throw new TypeError('not a file')
    return readFileSync(file === '-' ? 0 : file)
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'not a file'
    throw new UserError(`${nameOf(file)} cannot be read (${why}).`, `Give a file that is there with --${name}.`)
  }
}

export type Previous = { readonly findings: readonly Finding[]; readonly iteration: number; readonly lastId: number }

/** The last result of `plan-gate review`, or any answer of a reviewer that keeps the contract. */
export function previousIn(file: string | undefined): Previous {
  if (file === undefined) return { findings: [], iteration: 0, lastId: 0 }
  const text = textIn('previous', file)
  const read = readAnswer(text, { reviewed: [] })
  if (read.kind === 'malformed')
    throw new UserError(`${file} is not the result of a review: ${read.why}`, 'Give a file that --output has written.')
  const findings = read.answer.findings.map((finding, index) => ({ ...finding, id: finding.id ?? `F${index + 1}` }))
  const numbers = findings.map(({ id }) => Number(/^F(\d{1,6})$/.exec(id)?.[1] ?? 0))
  return { findings, iteration: iterationIn(text), lastId: Math.max(0, findings.length, ...numbers) }
}

function iterationIn(text: string): number {
  try {
    const { iteration } = JSON.parse(text) as { iteration?: unknown }
    return typeof iteration === 'number' && Number.isSafeInteger(iteration) && iteration > 0 ? iteration : 1
  } catch {
    return 1
  }
}
