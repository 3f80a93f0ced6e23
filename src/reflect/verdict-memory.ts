import type { ProseVerdict } from '../review/contract/parse-verdict.ts'
import { asList, asRecord, textOrNull } from './read-values.ts'

/** What was judged a moment ago, so that the same change is not sent again. Times are milliseconds. */
export type Memory = { readonly entries: readonly Remembered[] }
export type Remembered = {
  readonly hash: string
  readonly verdict: ProseVerdict
  readonly at: number
  readonly path: string
  readonly summary: string
}

/**
 * Hooks of one session run side by side, so an entry may be a little younger than the clock of who reads it. One that
 * is much younger was written before the clock was set back; nobody knows how old it is.
 */
const skewMs = 5_000

/** null also when the entry is too old, and whenever nothing is remembered at all (`ttlMs` is 0). */
export function lookUp({ entries }: Memory, hash: string, now: number, ttlMs: number): Remembered | null {
  const found = entries.findLast((entry) => entry.hash === hash)
  return found !== undefined && isFresh(found, now, ttlMs) ? found : null
}

/** The newest is the last; what was remembered of the same change goes. */
export const remember = ({ entries }: Memory, entry: Remembered, max: number): Memory => ({
  entries: [...entries.filter(({ hash }) => hash !== entry.hash), entry].slice(-Math.max(1, max)),
})

const isFresh = ({ at }: Remembered, now: number, ttlMs: number): boolean =>
  ttlMs > 0 && at - now <= skewMs && now - at < ttlMs

/** Entries that make no sense are left out, and garbage is an empty memory: it saves calls, nothing hangs on it. */
export const readMemory = (value: unknown): Memory => ({
  entries: asList(asRecord(value).entries).flatMap((entry) => readRemembered(asRecord(entry))),
})

function readRemembered({ hash, verdict, at, path, summary }: { readonly [field: string]: unknown }): Remembered[] {
  const known = verdicts.find((name) => name === verdict)
  const key = textOrNull(hash)
  if (known === undefined || key === null || typeof at !== 'number' || !Number.isFinite(at)) return []
  return [{ hash: key, verdict: known, at, path: textOrNull(path) ?? '', summary: textOrNull(summary) ?? '' }]
}

const verdicts = ['PASS', 'FAIL', 'UNCERTAIN'] as const
