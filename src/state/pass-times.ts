import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Effort, efforts } from '../schemas/review.ts'
import { roughTime } from '../text/clean.ts'
import { asList, parseRecord } from '../text/json.ts'
import { putFile, readRegular } from './files.ts'
import { gitDirFolder, passTimesPath } from './own-paths.ts'

export type Expected = { readonly ms: number; readonly tokens: number | null }

export type PassTimes = {
  /** null: fewer than three passes of that row and effort are known. */
  readonly expect: (backend: string, effort: Effort) => Expected | null
  readonly record: (backend: string, effort: Effort, pass: Expected) => void
}

/**
 * How long earlier passes took and what they cost: those of this worktree, and where these are too few, those of the user.
 * Both files are only hints, so what cannot be read counts as empty and a failure to write is ignored.
 */
export function openPassTimes(gitDir: string | null, cacheDir: string | null): PassTimes {
  const places = [
    // Only where plan-gate is installed; a review by hand leaves nothing in a repository.
    ...(gitDir === null || !existsSync(join(gitDir, gitDirFolder)) ? [] : [{ folder: gitDir, path: passTimesPath }]),
    ...(cacheDir === null ? [] : [{ folder: cacheDir, path: 'pass-times.json' }]),
  ]
  return {
    expect: (backend, effort) => {
      for (const place of places) {
        const passes = read(place)[keyOf(backend, effort)] ?? []
        if (passes.length >= minPasses)
          return { ms: median(passes.map(([ms]) => ms)) ?? 0, tokens: medianTokens(passes) }
      }
      return null
    },
    record: (backend, effort, { ms, tokens }) => {
      for (const place of places) {
        try {
          const known = read(place)
          const key = keyOf(backend, effort)
          const passes = [...(known[key] ?? []), [Math.round(ms), tokens] as const].slice(-maxPasses)
          mkdirSync(place.folder, { recursive: true, mode: 0o700 })
          putFile(place.folder, place.path, JSON.stringify({ ...known, [key]: passes }), 0o600)
        } catch {}
      }
    },
  }
}

const minPasses = 3
/** Of one backend and effort; old ones say little about the model of today. */
const maxPasses = 20

type Pass = readonly [ms: number, tokens: number | null]
type Known = { readonly [key: string]: readonly Pass[] }

const keyOf = (backend: string, effort: Effort): string => `${backend} ${effort}`
/** Of more rows than a table may have nothing is kept. */
const maxKeys = 400
const key = new RegExp(`^[\\w.-]{1,40} (${efforts.join('|')})$`)

function read({ folder, path }: { folder: string; path: string }): Known {
  const file = readRegular(folder, path, 256 * 1024)
  const record = file.kind === 'read' ? parseRecord(file.bytes.toString('utf8')) : null
  const known = Object.entries(record ?? {}).filter(([name]) => key.test(name))
  return Object.fromEntries(
    known.slice(0, maxKeys).map(([name, passes]) => [name, asList(passes).filter(isPass).slice(-maxPasses)]),
  )
}

const isPass = (value: unknown): value is Pass =>
  Array.isArray(value) && isCount(value[0]) && (value[1] === null || isCount(value[1]))
const isCount = (value: unknown): value is number => typeof value === 'number' && value >= 0

const medianTokens = (passes: readonly Pass[]): number | null => median(passes.flatMap(([, tokens]) => tokens ?? []))

const median = (values: readonly number[]): number | null =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? null

/** "about 3 min, 30k tokens". */
export function formatForecast({ ms, tokens }: Expected): string {
  const cost = tokens === null ? '' : `, ${tokens < 1000 ? tokens : `${Math.round(tokens / 1000)}k`} tokens`
  return `${roughTime(ms)}${cost}`
}
