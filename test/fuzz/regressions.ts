import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Failure } from './target.ts'

/** A text, or pieces of it with how often each is repeated: what takes long is often long. */
type Folded = string | readonly (readonly [piece: string, times: number])[]
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

const unfold = (input: Folded): string =>
  typeof input === 'string' ? input : input.map(([piece, times]) => piece.repeat(times)).join('')

/** A run of equal pieces becomes one of them and a number. */
export function fold(text: string): Folded {
  if (text.length <= 400) return text
  const pieces: [string, number][] = []
  let plain = ''
  for (let at = 0; at < text.length; ) {
    const run = longestRun(text, at)
    if (run === null) {
      plain += text[at]
      at += 1
      continue
    }
    if (plain !== '') pieces.push([plain, 1])
    plain = ''
    pieces.push(run)
    at += run[0].length * run[1]
  }
  return plain === '' ? pieces : [...pieces, [plain, 1]]
}

const longestPiece = 40

function longestRun(text: string, at: number): [string, number] | null {
  for (let size = 1; size <= longestPiece; size += 1) {
    const piece = text.slice(at, at + size)
    let times = 1
    while (text.startsWith(piece, at + times * size)) times += 1
    if (times >= 4 && times * size >= 40) return [piece, times]
  }
  return null
}
