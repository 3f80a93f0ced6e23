import { asList, asRecord, textOrNull } from './read-values.ts'

/** What was found wrong in this session and has not been seen right since; Stop does not let go of it. */
export type FailState = { readonly fails: readonly Fail[] }
export type Fail = {
  /** See `failKey`: what a later PASS must be about to clear it. */
  readonly key: string
  /** The path, or the command line. */
  readonly about: string
  readonly verdict: 'FAIL' | 'UNCERTAIN'
  readonly summary: string
  readonly at: number
}

export type FailKey =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'command'; readonly hash: string }

/** A command has no path: it is known by the hash of its line, and cleared when that very line succeeds. */
export const failKey = (of: FailKey): string => (of.kind === 'file' ? `file ${of.path}` : `command ${of.hash}`)

/**
 * The last word on a key counts, and stands at the end; beyond `most` the oldest goes. What was said already stays where
 * it is: a repeat must cost nothing, and would have to be written.
 */
export const recordFail = ({ fails }: FailState, fail: Fail): FailState => ({
  fails: fails.some((known) => isSame(known, fail))
    ? fails
    : [...fails.filter(({ key }) => key !== fail.key), fail].slice(-most),
})

const isSame = (one: Fail, other: Fail): boolean =>
  one.key === other.key && one.at === other.at && one.verdict === other.verdict && one.summary === other.summary

export const clearFail = ({ fails }: FailState, key: string): FailState => ({
  fails: fails.filter((fail) => fail.key !== key),
})

/** The ones that are certain first, and of each the oldest first. */
export const pendingFails = ({ fails }: FailState): readonly Fail[] => [
  ...fails.filter(({ verdict }) => verdict === 'FAIL'),
  ...fails.filter(({ verdict }) => verdict === 'UNCERTAIN'),
]

/** Far more than anybody works through before they stop; the file must not grow without end. */
const most = 200

export const readFailState = (value: unknown): FailState => ({
  fails: asList(asRecord(value).fails)
    .flatMap((fail) => readFail(asRecord(fail)))
    .slice(-most),
})

function readFail({ key, about, verdict, summary, at }: { readonly [field: string]: unknown }): Fail[] {
  const name = textOrNull(key)
  if (name === null || (verdict !== 'FAIL' && verdict !== 'UNCERTAIN')) return []
  return [
    {
      key: name,
      about: textOrNull(about) ?? name,
      verdict,
      summary: textOrNull(summary) ?? '',
      at: typeof at === 'number' && Number.isFinite(at) ? at : 0,
    },
  ]
}
