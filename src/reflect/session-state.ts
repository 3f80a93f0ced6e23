/** What the second reviewer knows of one session: one JSON file, read and written as one state. */
import { join } from 'node:path'
import { gateConfig } from '../config/compiled-config.ts'
import { type ReflectSettings, reflectSettings } from '../config/environment.ts'
import type { CompiledConfig } from '../config/schema.ts'
import type { ProseVerdict } from '../review/answer/answer.ts'
import type { Failure, FailureClass, Usage } from '../schemas/review.ts'
import { ensureReviewDir, readAnyJson, StoreError, saveJson, sweepTemporaries } from '../state/files.ts'
import { holdLock } from '../state/lock.ts'
import { reflectPath, sessionFolder } from '../state/sessions.ts'
import { debug } from '../system/debug.ts'
import { asList, asRecord, type JsonRecord } from '../text/json.ts'

export type ReflectionSetup = { readonly compiled: CompiledConfig; readonly settings: ReflectSettings }

/** null: nothing is reflected on in this worktree. */
export async function reflectionSetup(root: string): Promise<ReflectionSetup | null> {
  const compiled = await gateConfig(root)
  if (compiled.problems.length > 0) return null
  const settings = reflectSettings(compiled.config, process.env)
  return settings === null ? null : { compiled, settings }
}

export type SessionState = {
  readonly memory: VerdictCache
  readonly fails: OpenFindings
  readonly spending: Spending
  /** The hash of the plan after whose approval Claude has stopped once without having started. */
  readonly askedToStart: string | null
}

export const readSessionState = (root: string, session: string): SessionState =>
  parseSessionState(readAnyJson(root, reflectPath(session)))

/** A missing or damaged file is a session that has just begun. */
export function parseSessionState(value: unknown): SessionState {
  const { memory, fails, spending, askedToStart } = asRecord(value)
  return {
    memory: parseVerdictCache(memory),
    fails: parseOpenFindings(fails),
    spending: parseSpending(spending),
    askedToStart: nonEmptyText(askedToStart),
  }
}

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
      if (!lost.aborted && JSON.stringify(changed.state) !== JSON.stringify(before))
        saveJson(root, reflectPath(session), changed.state)
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

/** A call is counted before it is made, so that of twenty hooks at once none misses what the others spend. */
export async function takeOneCall(root: string, session: string, limits: Limits): Promise<Grant> {
  const { grant } = await updateSessionState(root, session, (state) => {
    const taken = takeCall(state.spending, limits, Date.now())
    return { state: taken.kind === 'granted' ? { ...state, spending: taken.spending } : state, grant: taken }
  })
  return grant
}

/** `hash` is null for what has no stable content, `key` for what no later event can clear. */
export type Subject = { readonly hash: string | null; readonly key: string | null; readonly about: string }
type Reflected = { readonly state: SessionState; readonly outcome: ReflectionOutcome }

/** What a reflection on a change, a thought or a command results in; none of it blocks. */
export type ReflectionOutcome =
  | { readonly kind: 'nothing' }
  /** `cleared`: there was an open finding, and this clears it. */
  | { readonly kind: 'passed'; readonly about: string; readonly cleared: boolean }
  | {
      readonly kind: 'found'
      readonly about: string
      readonly verdict: OpenFinding['verdict']
      readonly summary: string
      readonly cached: boolean
    }
  /** The reviewer could not answer: no verdict, and nothing is cached. */
  | { readonly kind: 'unavailable'; readonly about: string; readonly why: string; readonly nextStep: string }
  /** The session may not ask now; `line` says so, once. */
  | { readonly kind: 'refused'; readonly line: string | null }

/** Before a call, with the state locked: whether to ask, or the outcome that is known without asking. */
export function beforeAsking(
  state: SessionState,
  { hash, key, about }: Subject,
  limits: Limits,
  now: number,
): { readonly kind: 'ask'; readonly state: SessionState } | ({ readonly kind: 'known' } & Reflected) {
  const known = hash === null ? null : cachedVerdict(state.memory, hash, now)
  // With the time of the first verdict, so that a repeat changes nothing that would have to be written.
  if (known !== null) return { kind: 'known', ...withVerdict(state, { ...known, cached: true, key, about }) }
  const grant = takeCall(state.spending, limits, now)
  const after = { ...state, spending: grant.spending }
  if (grant.kind === 'granted') return { kind: 'ask', state: after }
  return { kind: 'known', state: after, outcome: { kind: 'refused', line: grant.line } }
}

export type ReflectionAnswer =
  | { readonly kind: 'judged'; readonly verdict: ProseVerdict; readonly summary: string; readonly usage: Usage | null }
  | ({ readonly kind: 'failed' } & Failure)

/** After a call, with the state read again under the lock: other hooks may have written meanwhile. */
export function afterAsking(
  state: SessionState,
  { hash, key, about }: Subject,
  answer: ReflectionAnswer,
  now: number,
): Reflected {
  switch (answer.kind) {
    case 'failed': {
      const { why, nextStep } = answer
      const spending = recordCall(state.spending, answer, now)
      return { state: { ...state, spending }, outcome: { kind: 'unavailable', about, why, nextStep } }
    }
    case 'judged': {
      const { verdict, summary, usage } = answer
      const spending = recordCall(state.spending, { kind: 'answered', usage }, now)
      const memory =
        hash === null ? state.memory : cacheVerdict(state.memory, { hash, verdict, at: now, path: about, summary })
      return withVerdict({ ...state, spending, memory }, { verdict, summary, cached: false, key, about, at: now })
    }
  }
}

function withVerdict(state: SessionState, reviewed: ReviewedSubject): Reflected {
  const { state: fails, outcome } = recordVerdict(state.fails, reviewed)
  return { state: { ...state, fails }, outcome }
}

/** A command that had failed has succeeded, or a file with an open finding is gone. */
export const clearOpen = (state: SessionState, key: string): SessionState => ({
  ...state,
  fails: clearFinding(state.fails, key),
})

export type ReviewedSubject = {
  readonly verdict: ProseVerdict
  readonly cached: boolean
  readonly key: string | null
  readonly about: string
  readonly summary: string
  readonly at: number
}

/**
 * The one place where a verdict meets the open findings. A cached UNCERTAIN is recorded, because that change is not sent
 * again; a fresh one leaves what was open, which may be a FAIL.
 */
export function recordVerdict(
  state: OpenFindings,
  { verdict, cached, key, about, summary, at }: ReviewedSubject,
): { readonly state: OpenFindings; readonly outcome: ReflectionOutcome } {
  if (verdict === 'PASS') {
    if (key === null) return { state, outcome: { kind: 'passed', about, cleared: false } }
    const cleared = state.fails.some((fail) => fail.key === key)
    return {
      state: clearFinding(state, key),
      outcome: cached ? { kind: 'nothing' } : { kind: 'passed', about, cleared },
    }
  }
  const isRecorded = key !== null && (verdict === 'FAIL' || cached)
  return {
    state: isRecorded ? recordFinding(state, { key, about, verdict, summary, at }) : state,
    outcome: { kind: 'found', about, verdict, summary, cached },
  }
}

/** What was found wrong in this session and has not passed since; Stop names it. */
export type OpenFindings = { readonly fails: readonly OpenFinding[] }
export type OpenFinding = {
  /** See `findingKey`: what a later PASS must be about to clear it. */
  readonly key: string
  /** The path, or the command line. */
  readonly about: string
  readonly verdict: 'FAIL' | 'UNCERTAIN'
  readonly summary: string
  readonly at: number
}

/** A command has no path: it is known by the hash of its line, and cleared when that very line succeeds. */
export const findingKey = (of: { kind: 'file'; path: string } | { kind: 'command'; hash: string }): string =>
  of.kind === 'file' ? `file ${of.path}` : `command ${of.hash}`

/** LRU: a new verdict on a key moves it to the end. A repeated one stays, or it would have to be written. */
export const recordFinding = ({ fails }: OpenFindings, fail: OpenFinding): OpenFindings => ({
  fails: fails.some((known) => isSame(known, fail))
    ? fails
    : [...fails.filter(({ key }) => key !== fail.key), fail].slice(-maxFindings),
})

const isSame = (one: OpenFinding, other: OpenFinding): boolean =>
  one.key === other.key && one.at === other.at && one.verdict === other.verdict && one.summary === other.summary

const maxFindings = 200

export const clearFinding = ({ fails }: OpenFindings, key: string): OpenFindings => ({
  fails: fails.filter((fail) => fail.key !== key),
})

/** FAIL before UNCERTAIN, and of each the oldest first. */
export const openFindings = ({ fails }: OpenFindings): readonly OpenFinding[] => [
  ...fails.filter(({ verdict }) => verdict === 'FAIL'),
  ...fails.filter(({ verdict }) => verdict === 'UNCERTAIN'),
]

export const parseOpenFindings = (value: unknown): OpenFindings => ({
  fails: asList(asRecord(value).fails)
    .flatMap((fail) => parseFinding(asRecord(fail)))
    .slice(-maxFindings),
})

function parseFinding({ key, about, verdict, summary, at }: JsonRecord): OpenFinding[] {
  const name = nonEmptyText(key)
  if (name === null || (verdict !== 'FAIL' && verdict !== 'UNCERTAIN')) return []
  return [
    {
      key: name,
      about: nonEmptyText(about) ?? name,
      verdict,
      summary: nonEmptyText(summary) ?? '',
      at: typeof at === 'number' && Number.isFinite(at) ? at : 0,
    },
  ]
}

/** The verdicts on changes, so that the same change is not sent again: a cache with a TTL. Times are milliseconds. */
export type VerdictCache = { readonly entries: readonly CachedVerdict[] }

export type CachedVerdict = {
  readonly hash: string
  readonly verdict: ProseVerdict
  readonly at: number
  readonly path: string
  readonly summary: string
}

const ttlMs = 300_000
const maxEntries = 100

/**
 * Hooks of one session run at the same time, so an entry may be a little younger than the reader's clock. A much younger
 * one was written before the clock was set back, and is stale.
 */
const skewMs = 5_000

/** null also for a stale entry. */
export function cachedVerdict({ entries }: VerdictCache, hash: string, now: number): CachedVerdict | null {
  const found = entries.findLast((entry) => entry.hash === hash)
  return found !== undefined && found.at - now <= skewMs && now - found.at < ttlMs ? found : null
}

/** LRU: a hash that is cached again moves to the end; beyond `maxEntries` the oldest are evicted. */
export const cacheVerdict = ({ entries }: VerdictCache, entry: CachedVerdict): VerdictCache => ({
  entries: [...entries.filter(({ hash }) => hash !== entry.hash), entry].slice(-maxEntries),
})

/** Invalid entries are left out. */
export const parseVerdictCache = (value: unknown): VerdictCache => ({
  entries: asList(asRecord(value).entries).flatMap((entry) => parseCachedVerdict(asRecord(entry))),
})

function parseCachedVerdict({ hash, verdict, at, path, summary }: JsonRecord): CachedVerdict[] {
  const known = (['PASS', 'FAIL', 'UNCERTAIN'] as const).find((name) => name === verdict)
  const key = nonEmptyText(hash)
  if (known === undefined || key === null || typeof at !== 'number' || !Number.isFinite(at)) return []
  return [{ hash: key, verdict: known, at, path: nonEmptyText(path) ?? '', summary: nonEmptyText(summary) ?? '' }]
}

/** What one session has spent. Times are milliseconds. */
export type Spending = {
  readonly calls: number
  readonly tokens: number
  /** No call before this: the backoff after a rate limit. */
  readonly quietUntil: number
  /** Rate limits in a row; each doubles the backoff. */
  readonly refusals: number
  /**
   * The reason that the user was last given, so that it is given once and not at each edit. An answer does not reset it:
   * it may belong to a call that was made before the limit was reached.
   */
  readonly said: string
}

export type Limits = { readonly maxCalls: number | null; readonly maxTokens: number | null }

export const limitsOf = ({ max_calls, max_tokens }: ReflectSettings): Limits => ({
  maxCalls: max_calls ?? null,
  maxTokens: max_tokens ?? null,
})

/** `line`: for the user; null when they have been told. */
type Grant =
  | { readonly kind: 'granted'; readonly spending: Spending }
  | {
      readonly kind: 'refused'
      readonly because: 'limit' | 'backoff'
      readonly why: string
      readonly line: string | null
      readonly spending: Spending
    }

export function takeCall(spending: Spending, limits: Limits, now: number): Grant {
  const limit = limitReached(spending, limits)
  if (limit !== null) return refused(spending, 'limit', limit, limit)
  const left = backoffEnd(spending, now) - now
  if (left > 0) {
    const why = `the service takes no more requests for now; it is asked again in ${inWords(left)}`
    return refused(spending, 'backoff', why, `quiet ${spending.quietUntil}`)
  }
  return { kind: 'granted', spending: { ...spending, calls: spending.calls + 1 } }
}

function limitReached({ calls, tokens }: Spending, { maxCalls, maxTokens }: Limits): string | null {
  if (maxCalls !== null && calls >= maxCalls)
    return `this session has made the ${counted(maxCalls, 'call')} that it may make (reflect.max_calls in plan-gate.yaml)`
  if (maxTokens !== null && tokens >= maxTokens)
    return `this session has used ${counted(tokens, 'token')}, and ${counted(maxTokens, 'token')} are the limit (reflect.max_tokens in plan-gate.yaml)`
  return null
}

const refused = (spending: Spending, because: 'limit' | 'backoff', why: string, reason: string): Grant => ({
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

type CallResult =
  | { readonly kind: 'answered'; readonly usage: Usage | null }
  | { readonly kind: 'failed'; readonly failure: FailureClass; readonly retryAfterMs: number | null }

export function recordCall(spending: Spending, result: CallResult, now: number): Spending {
  switch (result.kind) {
    case 'answered':
      return { ...spending, tokens: spending.tokens + tokensOf(result.usage), quietUntil: 0, refusals: 0 }
    case 'failed': {
      const backoff = backoffs[result.failure]
      if (backoff === undefined) return spending
      const wanted = Math.max(backoff * 2 ** Math.min(spending.refusals, 10), result.retryAfterMs ?? 0)
      const quietUntil = Math.max(backoffEnd(spending, now), now + Math.min(wanted, maxBackoffMs))
      return { ...spending, quietUntil, refusals: spending.refusals + 1 }
    }
  }
}

/** The other failures predict nothing about the next call. */
const backoffs: { readonly [failure in FailureClass]?: number } = { 'rate-limited': 60_000, quota: 600_000 }
const maxBackoffMs = 1_800_000

/** `input` includes what was read from a cache; it costs less and counts all the same. */
const tokensOf = (usage: Usage | null): number => (usage === null ? 0 : usage.input + usage.output)

/** A backoff longer than the maximum was written before the clock was set back. */
const backoffEnd = ({ quietUntil }: Spending, now: number): number => (quietUntil - now > maxBackoffMs ? 0 : quietUntil)

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

export const nonEmptyText = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null

export const wholeOrZero = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
