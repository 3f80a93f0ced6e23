import { join } from 'node:path'
import type { ReflectSettings } from '../config/environment.ts'
import type { ProseVerdict } from '../review/answer.ts'
import type { Failure, FailureClass } from '../schemas/review.ts'
import { accepts, count, type FromSchema, objectOf, type Schema, text } from '../schemas/schema.ts'
import { ensureReviewDir, readAnyJson, StoreError, saveJson, sweepTemporaries } from '../state/files.ts'
import { holdLock } from '../state/lock.ts'
import { reflectPath, sessionFolder } from '../state/sessions.ts'
import { debug } from '../system/errors.ts'
import { pluralize } from '../text/clean.ts'
import { asList, asRecord } from '../text/json.ts'

/** What the second reviewer knows of one session: one JSON file, read and written as one state. Times are milliseconds. */

const judged = { summary: text, at: { type: 'number' } } as const
const cachedVerdictSchema = objectOf({
  hash: text,
  path: text,
  verdict: { enum: ['PASS', 'FAIL', 'UNCERTAIN'] },
  ...judged,
})
const openFindingSchema = objectOf({
  /** What a later PASS must be about to clear it. */
  key: { type: 'string', pattern: '.' },
  about: text,
  verdict: { enum: ['FAIL', 'UNCERTAIN'] },
  ...judged,
})
const spendingSchema = objectOf({
  calls: count,
  tokens: count,
  /** No call before this: the backoff after a rate limit. */
  quietUntil: count,
  /** Rate limits in a row; each doubles the backoff. */
  refusals: count,
  /**
   * The reason that the user was last given, so that it is given once and not at each edit. An answer does not reset it:
   * it may belong to a call that was made before the limit was reached.
   */
  said: text,
})

type CachedVerdict = FromSchema<typeof cachedVerdictSchema>
export type OpenFinding = FromSchema<typeof openFindingSchema>
export type Spending = FromSchema<typeof spendingSchema>
type Judged = Pick<CachedVerdict, 'verdict' | 'summary' | 'at'>

export type SessionState = {
  /** The verdicts on changes, so that the same change is not sent again: a cache with a TTL. */
  readonly memory: { readonly entries: readonly CachedVerdict[] }
  /** What was found wrong and has not passed since; Stop names it. */
  readonly fails: { readonly fails: readonly OpenFinding[] }
  readonly spending: Spending
  /** The hash of the plan after whose approval Claude has stopped once without having started. */
  readonly askedToStart: string | null
}

export const readSessionState = (root: string, session: string): SessionState =>
  parseSessionState(readAnyJson(root, reflectPath(session)))

/** A missing or damaged part is that of a session that has just begun, and a damaged entry is left out. */
export function parseSessionState(value: unknown): SessionState {
  const { memory, fails, spending, askedToStart } = asRecord(value)
  return {
    memory: { entries: entriesOf(cachedVerdictSchema, asRecord(memory).entries) },
    fails: { fails: entriesOf(openFindingSchema, asRecord(fails).fails).slice(-maxFindings) },
    spending: accepts(spendingSchema, spending) ? spending : nothingSpent,
    askedToStart: nonEmptyText(askedToStart),
  }
}

const nothingSpent: Spending = { calls: 0, tokens: 0, quietUntil: 0, refusals: 0, said: '' }

const entriesOf = <const S extends Schema>(schema: S, value: unknown): FromSchema<S>[] =>
  asList(value).filter((entry): entry is FromSchema<S> => accepts(schema, entry))

/** Saves `state` of what `change` returns. Where it cannot be locked or saved, the result counts all the same. */
export async function updateSessionState<R extends { readonly state: SessionState }>(
  root: string,
  session: string,
  change: (state: SessionState) => R,
): Promise<R> {
  const folder = sessionFolder(session)
  try {
    ensureReviewDir(root, folder)
    const save = (lost: AbortSignal): R => {
      sweepTemporaries(root, folder)
      const before = readAnyJson(root, reflectPath(session))
      const changed = change(parseSessionState(before))
      if (!lost.aborted && !isSame(changed.state, before)) saveJson(root, reflectPath(session), changed.state)
      return changed
    }
    const held = await holdLock(join(root, folder, 'reflect.lock'), save, { waitMs: 20_000 })
    if (held.kind === 'done') return held.value
    debug(`the state of the session was locked for ${held.waitedMs} ms`)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    debug(error.message)
  }
  return change(readSessionState(root, session))
}

export const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** `hash` is null for what has no stable content, `key` for what no later event can clear. */
export type Subject = { readonly hash: string | null; readonly key: string | null; readonly about: string }

export type Answer =
  | {
      readonly kind: 'judged'
      readonly verdict: ProseVerdict
      readonly summary: string
      readonly tokens: number | null
    }
  | ({ readonly kind: 'failed' } & Failure)

export type Reflection =
  /** `cleared`: there was an open finding, and this clears it. */
  | (Omit<Extract<Answer, { kind: 'judged' }>, 'tokens'> & { readonly cached: boolean; readonly cleared: boolean })
  | Extract<Answer, { kind: 'failed' }>
  | Refusal

/** The session may not ask now; `line` tells the user so, once. */
type Refusal = {
  readonly kind: 'refused'
  readonly because: 'limit' | 'backoff'
  readonly why: string
  readonly line: string | null
}

/** Before a call, with the state locked: what is known without asking; null: ask. */
export function beforeAsking(
  state: SessionState,
  subject: Subject,
  limits: Limits,
  now: number,
): { readonly state: SessionState; readonly known: Reflection | null } {
  const cached = subject.hash === null ? null : cachedVerdict(state, subject.hash, now)
  if (cached !== null) {
    // With the time of the first verdict, so that a repeat changes nothing that would have to be written.
    const { state: after, reflection } = withVerdict(state, subject, cached, true)
    return { state: after, known: reflection }
  }
  const { spending, refusal } = takeCall(state.spending, limits, now)
  return { state: { ...state, spending }, known: refusal }
}

/** After a call, with the state read again under the lock: other hooks may have written meanwhile. */
export function afterAsking(
  state: SessionState,
  subject: Subject,
  answer: Answer,
  now: number,
): { readonly state: SessionState; readonly reflection: Reflection } {
  const spent = { ...state, spending: recordCall(state.spending, answer, now) }
  if (answer.kind === 'failed') return { state: spent, reflection: answer }
  const judged = { verdict: answer.verdict, summary: answer.summary, at: now }
  const { entries } = state.memory
  const { hash, about: path } = subject
  // LRU: a hash that is cached again moves to the end.
  const memory =
    hash === null
      ? state.memory
      : { entries: [...entries.filter((entry) => entry.hash !== hash), { hash, path, ...judged }].slice(-maxEntries) }
  return withVerdict({ ...spent, memory }, subject, judged, false)
}

/**
 * The one place where a verdict meets the open findings. A cached UNCERTAIN is recorded, because that change is not sent
 * again; a fresh one leaves what was open, which may be a FAIL.
 */
function withVerdict(
  state: SessionState,
  { key, about }: Subject,
  { verdict, summary, at }: Judged,
  cached: boolean,
): { readonly state: SessionState; readonly reflection: Reflection } {
  const cleared = verdict === 'PASS' && key !== null && state.fails.fails.some((fail) => fail.key === key)
  const reflection: Reflection = { kind: 'judged', verdict, summary, cached, cleared }
  if (key === null) return { state, reflection }
  if (verdict === 'PASS') return { state: clearOpen(state, key), reflection }
  const isOpen = verdict === 'FAIL' || cached
  return { state: isOpen ? recordFinding(state, { key, about, verdict, summary, at }) : state, reflection }
}

/** LRU: a new verdict on a key moves it to the end. A repeated one stays, or it would have to be written. */
function recordFinding(state: SessionState, finding: OpenFinding): SessionState {
  const { fails } = state.fails
  if (fails.some((known) => isSame(known, finding))) return state
  return {
    ...state,
    fails: { fails: [...fails.filter(({ key }) => key !== finding.key), finding].slice(-maxFindings) },
  }
}

const maxFindings = 200

/** A PASS, or a command that had failed has succeeded, or a file with an open finding is gone. */
export const clearOpen = (state: SessionState, key: string): SessionState => ({
  ...state,
  fails: { fails: state.fails.fails.filter((fail) => fail.key !== key) },
})

/** FAIL before UNCERTAIN, and of each the oldest first. */
export const openFindings = ({ fails: { fails } }: SessionState): readonly OpenFinding[] => [
  ...fails.filter(({ verdict }) => verdict === 'FAIL'),
  ...fails.filter(({ verdict }) => verdict === 'UNCERTAIN'),
]

const ttlMs = 300_000
const maxEntries = 100

/**
 * Hooks of one session run at the same time, so an entry may be a little younger than the reader's clock. A much younger
 * one was written before the clock was set back, and is stale.
 */
const skewMs = 5_000

function cachedVerdict({ memory }: SessionState, hash: string, now: number): CachedVerdict | null {
  const found = memory.entries.findLast((entry) => entry.hash === hash)
  return found !== undefined && found.at - now <= skewMs && now - found.at < ttlMs ? found : null
}

export type Limits = Partial<Pick<ReflectSettings, 'max_calls' | 'max_tokens'>>

/** A call is counted before it is made, so that of twenty hooks at once none misses what the others spend. */
export function takeCall(
  spending: Spending,
  limits: Limits,
  now: number,
): { readonly spending: Spending; readonly refusal: Refusal | null } {
  const refuse = (because: Refusal['because'], why: string, reason: string) => ({
    spending: { ...spending, said: reason },
    refusal: {
      kind: 'refused' as const,
      because,
      why,
      line: spending.said === reason ? null : `plan-gate: nothing more is reviewed: ${why}.`,
    },
  })
  const limit = limitReached(spending, limits)
  if (limit !== null) return refuse('limit', limit, limit)
  const left = backoffEnd(spending, now) - now
  if (left <= 0) return { spending: { ...spending, calls: spending.calls + 1 }, refusal: null }
  const why = `the service takes no more requests for now; it is asked again in ${inWords(left)}`
  return refuse('backoff', why, `quiet ${spending.quietUntil}`)
}

function limitReached({ calls, tokens }: Spending, { max_calls, max_tokens }: Limits): string | null {
  if (typeof max_calls === 'number' && calls >= max_calls)
    return `this session has made the ${pluralize(max_calls, 'call')} that it may make (reflect.max_calls in plan-gate.yaml)`
  if (typeof max_tokens === 'number' && tokens >= max_tokens)
    return `this session has used ${pluralize(tokens, 'token')}, and ${pluralize(max_tokens, 'token')} are the limit (reflect.max_tokens in plan-gate.yaml)`
  return null
}

const inWords = (ms: number): string =>
  ms < 90_000 ? pluralize(Math.ceil(ms / 1000), 'second') : pluralize(Math.ceil(ms / 60_000), 'minute')

export function recordCall(spending: Spending, answer: Answer, now: number): Spending {
  if (answer.kind === 'judged')
    return { ...spending, tokens: spending.tokens + (answer.tokens ?? 0), quietUntil: 0, refusals: 0 }
  const backoff = backoffs[answer.failure]
  if (backoff === undefined) return spending
  const wanted = Math.max(backoff * 2 ** Math.min(spending.refusals, 10), answer.retryAfterMs ?? 0)
  const quietUntil = Math.max(backoffEnd(spending, now), now + Math.min(wanted, maxBackoffMs))
  return { ...spending, quietUntil, refusals: spending.refusals + 1 }
}

/** The other failures predict nothing about the next call. */
const backoffs: { readonly [failure in FailureClass]?: number } = { 'rate-limited': 60_000, quota: 600_000 }
const maxBackoffMs = 1_800_000

/** A backoff longer than the maximum was written before the clock was set back. */
const backoffEnd = ({ quietUntil }: Spending, now: number): number => (quietUntil - now > maxBackoffMs ? 0 : quietUntil)

export const nonEmptyText = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null
