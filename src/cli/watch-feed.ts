import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { formatEvent, passLabels, type Tone } from '../report/events.ts'
import type { Denial, LedgerEvent, Progress } from '../schemas/records.ts'
import type { Finding } from '../schemas/review.ts'
import { errnoOf } from '../state/files.ts'
import { readEvents } from '../state/ledger.ts'
import { configFile, planPath, reviewPaths, settingsFiles } from '../state/own-paths.ts'
import { fileSignature } from '../state/records.ts'
import { type ProgressRead, readProgress } from '../state/revisions.ts'
import { listSessions, readDenialsIn } from '../state/sessions.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { notInstalledReason, readStatus, type StatusHere } from './status.ts'
import { describePlan, oneLine } from './terminal.ts'

/** What `watch` reads, and what happened between two states of it. */

/** A line for people, and the same as data. */
export type FeedItem = {
  readonly at: string
  readonly kind: 'gate' | 'pass' | 'sign' | 'finding' | 'denial' | 'event' | 'worktree'
  readonly label: string
  readonly tone: Tone
  readonly text: string
  readonly data: { readonly [field: string]: unknown }
}

/** What happened between two states. The first one (before: null) yields the current state. */
export function findFeedItems(before: Watched | null, now: Watched, at: string): FeedItem[] {
  const { here } = now
  if (here === null) return before !== null && before.here === null ? [] : [worktreeItem(now, false, at)]
  const was = before?.here ?? null
  return [
    ...(before !== null && was === null ? [worktreeItem(now, true, at)] : []),
    ...(was === null ? [] : ledgerItems(was, here, at)),
    ...findingsSince(was, here, at),
    ...passItems(was, here, at),
    ...(was !== null && gateOf(was) === gateOf(here) ? [] : [gateItem(here, at)]),
  ]
}

/** All recorded events and denials. */
export const historyOf = (here: WatchContext): FeedItem[] => recordedSince({ events: [], denials: [] }, here)

/** In the order of their times. */
function recordedSince(
  was: Pick<WatchContext, 'events' | 'denials'>,
  { events, denials, status: { root } }: WatchContext,
): FeedItem[] {
  const known = new Map(was.denials.map(({ folder, list }) => [folder, list.length]))
  const denied = denials.flatMap(({ folder, list }) => list.slice(known.get(folder) ?? 0))
  return [...events.slice(was.events.length).map(eventItem), ...denied.map((denial) => denialItem(denial, root))].sort(
    (a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0),
  )
}

function ledgerItems(was: WatchContext, here: WatchContext, at: string): FeedItem[] {
  const { events, unreadable } = here
  const [first] = was.events
  const isSame = first === undefined || (events.length >= was.events.length && events[0]?.at === first.at)
  const record = { at, kind: 'worktree', label: 'record' } as const
  const problems: FeedItem[] = []
  if (unreadable !== null && unreadable !== was.unreadable)
    problems.push({ ...record, tone: 'bad', text: oneLine(unreadable), data: { unreadable } })
  if (unreadable === null && !isSame)
    problems.push({ ...record, tone: 'warn', text: 'the ledger was replaced', data: { record: 'new' } })
  return [...problems, ...recordedSince(isSame ? was : { ...was, events: [] }, here)]
}

/** Findings are written a moment after their verdict is recorded. */
function findingsSince(was: WatchContext | null, { status }: WatchContext, at: string): FeedItem[] {
  const last = status.verdicts.at(-1)
  const before = was?.status
  const isKnown =
    before === undefined ||
    (before.cycles === status.cycles && before.verdicts.some(({ revision }) => revision === last?.revision))
  return last === undefined || isKnown ? [] : status.findings.map((finding) => findingItem(finding, last.revision, at))
}

function findingItem({ id, severity, section, problem, fix }: Finding, revision: number, at: string): FeedItem {
  const text = oneLine(`${id} ${severity}  ${section}: ${problem}`)
  const data = { revision, id, severity, section, problem, fix }
  return { at, kind: 'finding', label: 'finding', tone: 'warn', text, data }
}

function passItems(was: WatchContext | null, { progress }: WatchContext, at: string): FeedItem[] {
  const before = was?.progress.kind === 'running' ? was.progress.progress : null
  if (progress.kind === 'died' && before !== null) {
    const { revision, pass } = progress.progress
    const text = `the review of v${revision} ended without a verdict: its process is gone`
    return [{ at, kind: 'pass', label: 'pass', tone: 'bad', text, data: { revision, pass, died: true } }]
  }
  if (progress.kind !== 'running') return []
  const now = progress.progress
  const isSame = before !== null && passKey(before) === passKey(now)
  const isNewSign = now.sign !== undefined && now.sign !== (isSame ? before.sign : undefined)
  return [...(isSame ? [] : [passItem(now, at)]), ...(isNewSign ? [signItem(now, at)] : [])]
}

const passKey = ({ revision, pass, pass_started_at, pid }: Progress): string =>
  [revision, pass, pass_started_at, pid].join(' ')

function passItem({ pid, sign, signed_at, ...data }: Progress, at: string): FeedItem {
  const { revision, pass, passes, does, backend, deadline_at, pass_deadline_at, forecast } = data
  // It may have begun before anybody watched.
  const begunAt = oneLine(data.pass_started_at ?? at)
  const seconds = Math.round((Date.parse(pass_deadline_at ?? deadline_at) - Date.parse(begunAt)) / 1000)
  const upTo = seconds > 0 ? `, up to ${seconds} s` : ''
  const expected = forecast === undefined ? '' : `, ${forecast} to the end`
  const text = oneLine(`v${revision}, pass ${pass} of ${passes}${describePass(does)} with ${backend}${upTo}${expected}`)
  return { at: begunAt, kind: 'pass', label: 'pass', tone: 'busy', text, data }
}

export const describePass = (does: string | undefined): string =>
  does !== undefined && Object.hasOwn(passLabels, does) ? `: ${passLabels[does as keyof typeof passLabels]}` : ''

function signItem({ sign = '', revision, pass, signed_at }: Progress, at: string): FeedItem {
  const data = { revision, pass, sign }
  return { at: oneLine(signed_at ?? at), kind: 'sign', label: '', tone: 'quiet', text: oneLine(sign), data }
}

const gateOf = ({ status: { plan, installed } }: WatchContext): string =>
  JSON.stringify([plan.kind, plan.kind === 'open' ? plan.because : '', installed])

/** Where the gate stands, and how good that is. */
export function describeGate(status: WatchContext['status']): { readonly tone: Tone; readonly text: string } {
  const why = notInstalledReason(status)
  const tone = why !== null ? 'bad' : status.plan.kind === 'approved' ? 'good' : 'warn'
  return { tone, text: oneLine(why ?? describePlan(status.plan)) }
}

function gateItem({ status }: WatchContext, at: string): FeedItem {
  const { plan, installed } = status
  const data = { installed, open: plan.kind === 'approved', plan }
  return { at, kind: 'gate', label: 'gate', ...describeGate(status), data }
}

function worktreeItem({ root }: Watched, exists: boolean, at: string): FeedItem {
  const text = oneLine(exists ? `${root} exists again` : `${root} was removed, or is not a worktree any more`)
  const tone = exists ? 'quiet' : 'bad'
  return { at, kind: 'worktree', label: 'worktree', tone, text, data: { root, there: exists } }
}

function eventItem(event: LedgerEvent): FeedItem {
  const { at, prev, ...data } = event
  const { label, tone, text } = formatEvent(event)
  return { at: oneLine(at), kind: 'event', label: oneLine(label), tone, text: oneLine(text), data }
}

function denialItem({ at, ...data }: Denial, root: string): FeedItem {
  const text = oneLine(`${data.tool} ${data.target.replaceAll(`${root}/`, '')} (${data.rule})`)
  return { at: oneLine(at), kind: 'denial', label: 'denied', tone: 'bad', text, data }
}

export type Watched = { readonly root: string; readonly here: WatchContext | null }

/** The state of an existing worktree. */
export type WatchContext = {
  readonly status: StatusHere
  readonly progress: ProgressRead
  readonly events: readonly LedgerEvent[]
  /** Why the ledger cannot be read. */
  readonly unreadable: string | null
  /** By session. */
  readonly denials: readonly { readonly folder: string; readonly list: readonly Denial[] }[]
}

/** Returns a function that reads the worktree. It only reads files that have changed since the last call. */
export function openWatched(root: string): () => Watched {
  const inRoot = (paths: readonly string[]): readonly string[] => paths.map((path) => join(root, path))
  const record = cached(
    () => inRoot(recordFiles),
    () => readRecord(root),
  )
  const progress = cached(
    () => inRoot([reviewPaths.progress]),
    () => readProgress(root),
  )
  const denials = cached(
    () => inRoot(listSessions(root).map(({ folder }) => `${folder}/denials.jsonl`)),
    () => listSessions(root).map(({ folder }) => ({ folder, list: readDenialsIn(root, folder) })),
  )
  let last: Watched = { root, here: null }
  return () => {
    try {
      if (readGitDirs(root) === null) last = { root, here: null }
      else {
        const read = progress()
        // A process that dies changes no file.
        const now = read.kind === 'running' ? readProgress(root) : read
        last = { root, here: { ...record(), progress: now, denials: denials() } }
      }
    } catch (error) {
      // A file was removed meanwhile; the next call reads again.
      if (!['ENOENT', 'ENOTDIR'].includes(errnoOf(error))) throw error
      if (!existsSync(join(root, '.git'))) last = { root, here: null }
    }
    return last
  }
}

function cached<T>(files: () => readonly string[], read: () => T): () => T {
  let seen: { signature: string; value: T } | null = null
  return () => {
    const signature = fileSignature(files())
    if (seen?.signature !== signature) seen = { signature, value: read() }
    return seen.value
  }
}

/** The counter is written last, after the other files of a revision. */
const recordFiles: readonly string[] = [
  '.git',
  planPath,
  configFile,
  reviewPaths.ledger,
  reviewPaths.counter,
  reviewPaths.approval,
  reviewPaths.history,
  ...settingsFiles,
]

function readRecord(root: string): Pick<WatchContext, 'status' | 'events' | 'unreadable'> {
  const gitDirs = readGitDirs(root)
  if (gitDirs === null) throw Object.assign(new Error('the worktree is gone'), { code: 'ENOENT' })
  const read = readEvents(root)
  return {
    status: readStatus(root, gitDirs),
    events: read.kind === 'read' ? read.events : [],
    unreadable: read.kind === 'refused' ? read.why : null,
  }
}
