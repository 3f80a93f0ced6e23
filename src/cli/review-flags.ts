import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { readAnswer } from '../review/contract/read-answer.ts'
import { type ReviewType, reviewTypes } from '../schemas/backend.ts'
import type { AnsweredFinding, Finding } from '../schemas/review-result.ts'
import { UserError } from '../system/user-error.ts'
import { checkOutput } from './write-result.ts'

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

/** What would only show when the review is paid for. */
export function checkFiles({ content, expertise, context, previous, output }: ReviewFlags): void {
  const given = { content, expertise, context, previous }
  const onStdin = Object.entries(given).flatMap(([name, file]) => (file === '-' ? [`--${name}`] : []))
  if (onStdin.length > 1)
    throw new UserError(`${onStdin.join(' and ')} cannot both be standard input.`, 'Give a file for one of them.')
  if (output === undefined) return
  const same = Object.entries({ content, expertise, context }).find(
    ([, file]) => file !== undefined && file !== '-' && resolve(file) === resolve(output),
  )
  if (same !== undefined)
    throw new UserError(`--output would overwrite what --${same[0]} names.`, 'Give another file with --output.')
  checkOutput(output)
}

export function wholeNumber(name: string, given: string | undefined, most: number): number | null {
  if (given === undefined) return null
  if (/^[1-9]\d{0,5}$/.test(given) && Number(given) <= most) return Number(given)
  throw new UserError(`--${name} ${given} is not a whole number from 1 to ${most}.`, `Give it as in --${name} 2.`)
}

export const textOrNone = async (name: string, file: string | undefined): Promise<string | null> =>
  file === undefined ? null : textIn(name, file)

/** `-` is standard input. Text that is no UTF-8 is not reviewed: what the reviewer saw would not be what is there. */
export async function textIn(name: string, file: string): Promise<string> {
  const bytes = file === '-' ? await bytesOnStdin() : bytesOf(name, file)
  if (bytes.length > mostBytes)
    throw new UserError(
      `${nameOf(file)} has more than ${mostBytes / 1024 / 1024} MB; no more is read.`,
      'Review it in parts.',
    )
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new UserError(`${nameOf(file)} is not UTF-8 text.`, `Convert it, or give another file with --${name}.`)
  }
}

const nameOf = (file: string): string => (file === '-' ? 'What came on standard input' : file)

/** As a stream: who started us may have given us a pipe that says EAGAIN to `readFileSync`. */
async function bytesOnStdin(): Promise<Buffer> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of process.stdin as AsyncIterable<Buffer>) {
    pieces.push(piece)
    bytes += piece.length
    if (bytes > mostBytes) break
  }
  return Buffer.concat(pieces)
}

function bytesOf(name: string, file: string): Buffer {
  try {
    if (!statSync(file).isFile() && !statSync(file).isFIFO()) throw new TypeError('not a file')
    return readFileSync(file)
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'not a file'
    throw new UserError(`${nameOf(file)} cannot be read (${why}).`, `Give a file that is there with --${name}.`)
  }
}

export type Previous = { readonly findings: readonly Finding[]; readonly iteration: number; readonly lastId: number }

/** The last result of `plan-gate review`, or any answer of a reviewer that keeps the contract. */
export async function previousIn(file: string | undefined): Promise<Previous> {
  if (file === undefined) return { findings: [], iteration: 0, lastId: 0 }
  const text = await textIn('previous', file)
  const { verdict, iteration = 1 } = resultIn(text)
  // A review that was switched off has found nothing.
  if (verdict === 'SKIPPED') return { findings: [], iteration, lastId: 0 }
  const read = readAnswer(text, { reviewed: [] })
  if (read.kind === 'malformed')
    throw new UserError(`${nameOf(file)} is not the result of a review: ${read.why}`, 'Give what --output has written.')
  return { ...withIds(read.answer.findings), iteration }
}

function resultIn(text: string): { readonly verdict?: unknown; readonly iteration?: number } {
  try {
    const value = JSON.parse(text) as { verdict?: unknown; iteration?: unknown } | null
    const iteration = value?.iteration
    const counts = typeof iteration === 'number' && Number.isSafeInteger(iteration) && iteration > 0
    return { verdict: value?.verdict, ...(counts ? { iteration } : {}) }
  } catch {
    return {}
  }
}

/** Another tool's findings may have no ids, or twice the same. */
function withIds(answered: readonly AnsweredFinding[]): Pick<Previous, 'findings' | 'lastId'> {
  let lastId = Math.max(0, ...answered.map(({ id }) => numberIn(id)))
  const taken = new Set<string>()
  const findings = answered.map((finding): Finding => {
    const own = finding.id === null || taken.has(finding.id) || numberIn(finding.id) === 0 ? null : finding.id
    const id = own ?? `F${++lastId}`
    taken.add(id)
    return { ...finding, id }
  })
  return { findings, lastId }
}

const numberIn = (id: string | null): number => Number(/^F(\d{1,6})$/.exec(id ?? '')?.[1] ?? 0)
