import { gateConfig } from '../config/compiled-config.ts'
import { type ReflectSettings, reflectSettings } from '../config/reflect-settings.ts'
import type { CompiledConfig, EffectiveConfig } from '../config/schema.ts'
import type { ProseVerdict } from '../review/answer.ts'
import type { FailureClass, Usage } from '../schemas/review.ts'
import { StoreError } from '../state/files.ts'
import { changeReflectFile, readReflectFile } from '../state/reflect-file.ts'
import { debug } from '../system/debug.ts'
import {
  asList,
  asRecord,
  clearFail,
  type Fail,
  type FailState,
  parseFailState,
  recordFail,
  textOrNull,
  wholeOrZero,
} from './values.ts'

/** Where the state of a session cannot be kept, what there is to say is said all the same: `otherwise`. */
export async function updateSessionState<T>(
  root: string,
  session: string,
  change: (state: SessionState) => { readonly state: SessionState; readonly result: T },
  otherwise: T,
): Promise<T> {
  try {
    const held = await changeReflectFile(root, session, (value) => {
      const { state, result } = change(parseSessionState(value))
      return { value: state, result }
    })
    if (held.kind === 'done') return held.value
    debug(`the state of the session was locked for ${held.waitedMs} ms`)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    debug(error.message)
  }
  return otherwise
}

/** A call that nothing is known about without, counted before it is made. Who is refused says so itself. */
export function takeOneCall(root: string, session: string, limits: Limits): Promise<Grant> {
  const take = (state: SessionState): { state: SessionState; result: Grant } => {
    const grant = takeCall(state.spending, limits, Date.now())
    return { state: grant.kind === 'granted' ? { ...state, spending: grant.spending } : state, result: grant }
  }
  return updateSessionState(root, session, take, take(parseSessionState(readReflectFile(root, session))).result)
}

/** All that is kept of one session, as one JSON file: what is read and written together cannot come apart. */
export type SessionState = {
  readonly memory: VerdictCache
  readonly fails: FailState
  readonly spending: Spending
  readonly sharing: Sharing
  /** The hash of the plan after whose approval Claude has stopped once with nothing done yet. */
  readonly askedToStart: string | null
}

/** A missing or damaged file is a session that has just begun. */
export function parseSessionState(value: unknown): SessionState {
  const { memory, fails, spending, sharing, askedToStart } = asRecord(value)
  return {
    memory: parseVerdictCache(memory),
    fails: parseFailState(fails),
    spending: parseSpending(spending),
    sharing: readSharing(sharing),
    askedToStart: textOrNull(askedToStart),
  }
}

/** What is looked at. `hash` is null for what is never the same twice, `key` for what nothing can clear. */
export type Subject = { readonly hash: string | null; readonly key: string | null; readonly about: string }

export type FollowSettings = {
  readonly ttlMs: number
  readonly maxEntries: number
  readonly quietMs: number
  readonly limits: Limits
}

export type Followed = { readonly state: SessionState; readonly tell: ReflectionOutcome }

/** Before a call, with the state locked: whether there is one to be made, or what is known without. */
export function beforeAsking(
  state: SessionState,
  subject: Subject,
  { ttlMs, quietMs, limits }: FollowSettings,
  now: number,
): { readonly kind: 'ask'; readonly state: SessionState } | ({ readonly kind: 'known' } & Followed) {
  const { hash, key, about } = subject
  const known = hash === null ? null : cachedVerdict(state.memory, hash, now, ttlMs)
  // With the time of its judgement, so that a repeat changes nothing that would have to be written.
  if (known !== null) return { kind: 'known', ...settled(state, { ...known, cached: true, key, about }) }
  const { sharing, isShared } = share(state, subject, now, quietMs)
  if (isShared) return { kind: 'known', state: { ...state, sharing }, tell: { kind: 'nothing' } }
  const grant = takeCall(state.spending, limits, now)
  const { spending } = grant
  if (grant.kind === 'granted') return { kind: 'ask', state: { ...state, spending, sharing } }
  return { kind: 'known', state: { ...state, spending }, tell: { kind: 'refused', line: grant.line } }
}

function share({ sharing, fails }: SessionState, { key, about }: Subject, now: number, quietMs: number) {
  if (key === null || quietMs <= 0) return { sharing, isShared: false }
  const isOpen = fails.fails.some((fail) => fail.key === key)
  return shareReview(sharing, { key, about, isOpen }, now, quietMs)
}

export type Reflected =
  | {
      readonly kind: 'judged'
      readonly verdict: ProseVerdict
      readonly summary: string
      readonly usage: Usage | null
    }
  | {
      readonly kind: 'failed'
      readonly failure: FailureClass
      readonly why: string
      readonly nextStep: string
      readonly retryAfterMs: number | null
    }

/** After a call, with the state read anew under the lock: others have written meanwhile. */
export function afterAsking(
  state: SessionState,
  { hash, key, about }: Subject,
  answer: Reflected,
  { maxEntries }: FollowSettings,
  now: number,
): Followed {
  switch (answer.kind) {
    case 'failed': {
      const { why, nextStep } = answer
      const spending = recordCall(state.spending, answer, now)
      const sharing = key === null ? state.sharing : forgetReview(state.sharing, key)
      return { state: { ...state, spending, sharing }, tell: { kind: 'unavailable', about, why, nextStep } }
    }
    case 'judged': {
      const { verdict, summary, usage } = answer
      const spending = recordCall(state.spending, { kind: 'answered', usage }, now)
      const memory =
        hash === null
          ? state.memory
          : cacheVerdict(state.memory, { hash, verdict, at: now, path: about, summary }, maxEntries)
      return settled({ ...state, spending, memory }, { verdict, summary, cached: false, key, about, at: now })
    }
  }
}

function settled(state: SessionState, reviewed: ReviewedSubject): Followed {
  const { state: fails, tell } = recordVerdict(state.fails, reviewed)
  return { state: { ...state, fails }, tell }
}

/** A command that had failed has succeeded, or a file that was found wrong is gone: nothing is open about it. */
export const clearOpen = (state: SessionState, key: string): SessionState => ({
  ...state,
  fails: clearFail(state.fails, key),
})

export type ReviewedSubject = {
  readonly verdict: ProseVerdict
  /** Known from a moment ago, not asked again. */
  readonly cached: boolean
  /** null: about nothing that a later review could find mended, so nothing is recorded. */
  readonly key: string | null
  readonly about: string
  readonly summary: string
  readonly at: number
}

/** What there is to say about a change, a thought or a command; nothing of it blocks. */
export type ReflectionOutcome =
  | { readonly kind: 'nothing' }
  /** `settled`: there was an open finding, and this clears it. */
  | { readonly kind: 'passed'; readonly about: string; readonly settled: boolean }
  | {
      readonly kind: 'found'
      readonly about: string
      readonly verdict: Fail['verdict']
      readonly summary: string
      readonly cached: boolean
    }
  /** The reviewer could not answer. That is no verdict, and nothing is remembered of it. */
  | { readonly kind: 'unavailable'; readonly about: string; readonly why: string; readonly nextStep: string }
  /** The session may not ask now; `line` says so, once. */
  | { readonly kind: 'refused'; readonly line: string | null }

/**
 * The one place where a verdict meets the fail state, so that neither can be forgotten. A cached UNCERTAIN is recorded,
 * since nobody looks at that change again; a fresh one is no news and leaves what was, which may be a FAIL.
 */
export function recordVerdict(
  state: FailState,
  reviewed: ReviewedSubject,
): { readonly state: FailState; readonly tell: ReflectionOutcome } {
  const { verdict, cached, key, about, summary, at } = reviewed
  const found = (of: Fail['verdict']): ReflectionOutcome => ({ kind: 'found', about, verdict: of, summary, cached })
  if (key === null) return { state, tell: verdict === 'PASS' ? passed(about, false) : found(verdict) }
  switch (verdict) {
    case 'PASS': {
      const settled = state.fails.some((fail) => fail.key === key)
      return { state: clearFail(state, key), tell: cached ? { kind: 'nothing' } : passed(about, settled) }
    }
    case 'FAIL':
      return { state: recordFail(state, { key, about, verdict, summary, at }), tell: found(verdict) }
    case 'UNCERTAIN':
      return {
        state: cached ? recordFail(state, { key, about, verdict, summary, at }) : state,
        tell: found(verdict),
      }
  }
}

const passed = (about: string, settled: boolean): ReflectionOutcome => ({ kind: 'passed', about, settled })

/** What one session has spent. Times are milliseconds. */
export type Spending = {
  readonly calls: number
  readonly tokens: number
  /** No call before this. */
  readonly quietUntil: number
  /** Refusals of the service in a row; each doubles the pause. */
  readonly refusals: number
  /**
   * The reason for which it was last said that nothing is reviewed, so that it is said once and not at each edit. An
   * answer does not take it back: it may come from a call that was made before the limit was reached.
   */
  readonly said: string
}

export type Limits = { readonly maxCalls: number | null; readonly maxTokens: number | null }

/** `line`: for the user; null when they have been told. */
type Grant =
  | { readonly kind: 'granted'; readonly spending: Spending }
  | {
      readonly kind: 'refused'
      readonly because: 'ceiling' | 'quiet'
      readonly why: string
      readonly line: string | null
      readonly spending: Spending
    }

/** A call is counted before it is made: of twenty hooks at once, none sees what the others are about to spend. */
export function takeCall(spending: Spending, limits: Limits, now: number): Grant {
  const ceiling = ceilingOf(spending, limits)
  if (ceiling !== null) return refused(spending, 'ceiling', ceiling, ceiling)
  const left = quietLeft(spending, now)
  if (left > 0) {
    const why = `the service takes no more requests for now; it is asked again in ${inWords(left)}`
    return refused(spending, 'quiet', why, `quiet ${spending.quietUntil}`)
  }
  return { kind: 'granted', spending: { ...spending, calls: spending.calls + 1 } }
}

function ceilingOf({ calls, tokens }: Spending, { maxCalls, maxTokens }: Limits): string | null {
  if (maxCalls !== null && calls >= maxCalls)
    return `this session has made the ${counted(maxCalls, 'call')} that it may make (reflect.max_calls in plan-gate.yaml)`
  if (maxTokens !== null && tokens >= maxTokens)
    return `this session has used ${counted(tokens, 'token')}, and ${counted(maxTokens, 'token')} are the limit (reflect.max_tokens in plan-gate.yaml)`
  return null
}

const refused = (spending: Spending, because: 'ceiling' | 'quiet', why: string, reason: string): Grant => ({
  kind: 'refused',
  because,
  why,
  line: spending.said === reason ? null : `plan-gate: nothing more is reviewed: ${why}.`,
  spending: { ...spending, said: reason },
})

const counted = (count: number, thing: string): string =>
  `${count.toLocaleString('en-US')} ${thing}${count === 1 ? '' : 's'}`

const inWords = (ms: number): string =>
  ms < 90_000 ? counted(Math.ceil(ms / 1000), 'second') : counted(Math.ceil(ms / 60_000), 'minute')

type CallOutcome =
  | { readonly kind: 'answered'; readonly usage: Usage | null }
  | { readonly kind: 'failed'; readonly failure: FailureClass; readonly retryAfterMs: number | null }

/** After each call, whatever came of it. */
export function recordCall(spending: Spending, outcome: CallOutcome, now: number): Spending {
  switch (outcome.kind) {
    case 'answered':
      return { ...spending, tokens: spending.tokens + tokensOf(outcome.usage), quietUntil: 0, refusals: 0 }
    case 'failed': {
      const pause = pauses[outcome.failure]
      if (pause === undefined) return spending
      const asked = Math.max(pause * 2 ** Math.min(spending.refusals, 10), outcome.retryAfterMs ?? 0)
      const quietUntil = Math.max(quietEnd(spending, now), now + Math.min(asked, longestPauseMs))
      return { ...spending, quietUntil, refusals: spending.refusals + 1 }
    }
  }
}

/** The service wants to be left alone; the other failures say nothing about the next call. */
const pauses: { readonly [failure in FailureClass]?: number } = { 'rate-limited': 60_000, quota: 600_000 }
const longestPauseMs = 1_800_000

/** What was read from a cache is in `input` already, and was paid for less; it counts all the same. */
const tokensOf = (usage: Usage | null): number => (usage === null ? 0 : usage.input + usage.output)

/** A pause longer than any we make was written before the clock was set back. */
const quietEnd = ({ quietUntil }: Spending, now: number): number => (quietUntil - now > longestPauseMs ? 0 : quietUntil)
const quietLeft = (spending: Spending, now: number): number => Math.max(0, quietEnd(spending, now) - now)

export function parseSpending(value: unknown): Spending {
  const { calls, tokens, quietUntil, refusals, said } = asRecord(value)
  return {
    calls: wholeOrZero(calls),
    tokens: wholeOrZero(tokens),
    quietUntil: wholeOrZero(quietUntil),
    refusals: wholeOrZero(refusals),
    said: typeof said === 'string' ? said : '',
  }
}

/** When each file was last sent to review, and whether it has changed since without being sent. */
type Sharing = { readonly files: readonly SharedFile[] }

type SharedFile = {
  readonly key: string
  readonly about: string
  readonly at: number
  readonly isWaiting: boolean
}

/**
 * Changes to one file that follow each other closely share the review of the first; what is not looked at by itself is
 * named at the end. Never while something is open about the file: the next change may be the one that mends it.
 */
function shareReview(
  { files }: Sharing,
  { key, about, isOpen }: { readonly key: string; readonly about: string; readonly isOpen: boolean },
  now: number,
  quietMs: number,
): { readonly sharing: Sharing; readonly isShared: boolean } {
  const others = files.filter((file) => file.key !== key)
  const last = files.find((file) => file.key === key)
  const age = last === undefined ? quietMs : now - last.at
  const isShared = last !== undefined && !isOpen && age >= 0 && age < quietMs
  const file = { key, about, at: isShared ? last.at : now, isWaiting: isShared }
  return { sharing: { files: [...others, file].slice(-most) }, isShared }
}

/** The review did not come about: there is nothing to share. */
const forgetReview = ({ files }: Sharing, key: string): Sharing => ({
  files: files.filter((file) => file.key !== key),
})

/** What was changed and not looked at since. */
export const waitingFiles = ({ files }: Sharing): readonly string[] =>
  files.filter(({ isWaiting }) => isWaiting).map(({ about }) => about)

/** A look at the whole has seen them. */
export const nothingWaits = ({ files }: Sharing): Sharing => ({
  files: files.map((file) => ({ ...file, isWaiting: false })),
})

const most = 200

const readSharing = (value: unknown): Sharing => ({
  files: asList(asRecord(value).files)
    .flatMap((file) => readFile(asRecord(file)))
    .slice(-most),
})

function readFile({ key, about, at, isWaiting }: { readonly [field: string]: unknown }): SharedFile[] {
  const name = textOrNull(key)
  if (name === null || typeof at !== 'number' || !Number.isFinite(at)) return []
  return [{ key: name, about: textOrNull(about) ?? name, at, isWaiting: isWaiting === true }]
}

/** What was judged a moment ago, so that the same change is not sent again. Times are milliseconds. */
export type VerdictCache = { readonly entries: readonly CachedVerdict[] }

export type CachedVerdict = {
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
export function cachedVerdict(
  { entries }: VerdictCache,
  hash: string,
  now: number,
  ttlMs: number,
): CachedVerdict | null {
  const found = entries.findLast((entry) => entry.hash === hash)
  return found !== undefined && isFresh(found, now, ttlMs) ? found : null
}

/** The newest is the last; what was remembered of the same change goes. */
export const cacheVerdict = ({ entries }: VerdictCache, entry: CachedVerdict, max: number): VerdictCache => ({
  entries: [...entries.filter(({ hash }) => hash !== entry.hash), entry].slice(-Math.max(1, max)),
})

const isFresh = ({ at }: CachedVerdict, now: number, ttlMs: number): boolean =>
  ttlMs > 0 && at - now <= skewMs && now - at < ttlMs

/** Entries that make no sense are left out, and garbage is an empty memory: it saves calls, nothing hangs on it. */
export const parseVerdictCache = (value: unknown): VerdictCache => ({
  entries: asList(asRecord(value).entries).flatMap((entry) => readRemembered(asRecord(entry))),
})

function readRemembered({ hash, verdict, at, path, summary }: { readonly [field: string]: unknown }): CachedVerdict[] {
  const known = verdicts.find((name) => name === verdict)
  const key = textOrNull(hash)
  if (known === undefined || key === null || typeof at !== 'number' || !Number.isFinite(at)) return []
  return [{ hash: key, verdict: known, at, path: textOrNull(path) ?? '', summary: textOrNull(summary) ?? '' }]
}

const verdicts = ['PASS', 'FAIL', 'UNCERTAIN'] as const

export type ReflectionSetup = { readonly compiled: CompiledConfig; readonly settings: ReflectSettings }

/** null: nobody follows the implementation here. */
export async function reflectionSetup(root: string): Promise<ReflectionSetup | null> {
  const compiled = await gateConfig(root)
  if (compiled.problems.length > 0) return null
  const settings = reflectSettings(compiled.config as EffectiveConfig, process.env)
  return settings === null ? null : { compiled, settings }
}

export const followSettings = ({ dedup, quiet_seconds, max_calls, max_tokens }: ReflectSettings): FollowSettings => ({
  ttlMs: dedup.ttl_seconds * 1000,
  maxEntries: dedup.max_entries,
  quietMs: quiet_seconds * 1000,
  limits: { maxCalls: max_calls ?? null, maxTokens: max_tokens ?? null },
})
