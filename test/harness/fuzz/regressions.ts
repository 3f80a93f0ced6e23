import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Failure } from './target.ts'

/**
 * A text, or pieces of it with how often each is repeated: what takes long is often long. Between two texts stands a
 * number that counts from 0, so that no two pieces are alike.
 */
type Folded = string | readonly Piece[]
type Piece = readonly [text: string, times: number] | readonly [before: string, behind: string, times: number]
type Regression = { readonly input: Folded; readonly was: string }

const fileOf = (target: string): string => fileURLToPath(new URL(`./regressions/${target}.json`, import.meta.url))

/** Inputs that something was wrong with once, by `npm run fuzz`. Each has to hold for ever. */
export const readRegressions = (target: string): readonly string[] => read(target).map(({ input }) => unfold(input))

const read = (target: string): readonly Regression[] =>
  existsSync(fileOf(target)) ? (JSON.parse(readFileSync(fileOf(target), 'utf8')) as readonly Regression[]) : []

/** Adds what was found to the table; returns its path. */
export function keepRegressions(target: string, failures: readonly Failure[]): string {
  const known = read(target)
  const inputs = new Set(known.map(({ input }) => unfold(input)))
  const fresh = failures
    .filter(({ input }) => !inputs.has(input))
    .map(({ input, why }) => ({ input: fold(input), was: why.split('\n')[0]?.slice(0, 200) ?? '' }))
  mkdirSync(dirname(fileOf(target)), { recursive: true })
  writeFileSync(fileOf(target), `${JSON.stringify([...known, ...fresh], null, 2)}\n`)
  return fileOf(target)
}

const unfold = (input: Folded): string => (typeof input === 'string' ? input : input.map(unfoldPiece).join(''))

const unfoldPiece = (piece: Piece): string =>
  piece.length === 2
    ? piece[0].repeat(piece[1])
    : Array.from({ length: piece[2] }, (_, number) => `${piece[0]}${number}${piece[1]}`).join('')

/** A run of equal pieces, or of numbered ones, becomes one of them and how often. */
function fold(text: string): Folded {
  if (text.length <= 400) return text
  const pieces: Piece[] = []
  let plain = ''
  for (let at = 0; at < text.length; ) {
    const run = longestRun(text, at) ?? numberedRun(text, at)
    if (run === null) plain += text[at]
    else pieces.push(...(plain === '' ? [] : [[plain, 1] as const]), run)
    if (run !== null) plain = ''
    at += run === null ? 1 : unfoldPiece(run).length
  }
  return plain === '' ? pieces : [...pieces, [plain, 1]]
}

const longestPiece = 40

function longestRun(text: string, at: number): Piece | null {
  for (let size = 1; size <= longestPiece; size += 1) {
    const piece = text.slice(at, at + size)
    let times = 1
    while (text.startsWith(piece, at + times * size)) times += 1
    if (times >= 4 && times * size >= 40) return [piece, times]
  }
  return null
}

function numberedRun(text: string, at: number): Piece | null {
  const zero = text.slice(at, at + longestPiece).indexOf('0')
  if (zero < 0) return null
  const before = text.slice(at, at + zero)
  const next = text.indexOf(`${before}1`, at + zero + 1)
  const behind = text.slice(at + zero + 1, next)
  if (next < 0 || behind.length > longestPiece) return null
  let [times, end] = [0, at]
  for (let piece = `${before}0${behind}`; text.startsWith(piece, end); piece = `${before}${times}${behind}`) {
    end += piece.length
    times += 1
  }
  return times >= 20 ? [before, behind, times] : null
}
