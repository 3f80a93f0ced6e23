import { type EventText, formatEvent } from '../../report/events.ts'
import type { Denial, LedgerEvent, Progress } from '../../schemas/records.ts'
import type { Finding } from '../../schemas/review.ts'
import { passLabels } from '../review-progress.ts'
import { notInstalledReason } from '../status.ts'
import { describePlan, oneLine } from '../terminal.ts'
import type { WatchContext, Watched } from './follow.ts'

/** A line for people, and the same as data. */
export type FeedItem = EventText & {
  readonly at: string
  readonly kind: 'gate' | 'pass' | 'sign' | 'finding' | 'denial' | 'event' | 'worktree'
  readonly data: { readonly [field: string]: unknown }
}

/** What happened between two states. The first one (before: null) yields the current state. */
export function findFeedItems(before: Watched | null, now: Watched, at: string): FeedItem[] {
  const { here } = now
  if (here === null) return before !== null && before.here === null ? [] : [worktree(now, false, at)]
  const was = before?.here ?? null
  const recorded = was === null ? [] : ledgerItems(was, here, at)
  return [
    ...(before !== null && was === null ? [worktree(now, true, at)] : []),
    ...recorded,
    ...findingsSince(was, here, at),
    ...passItems(was, here, at),
    ...(was !== null && gateOf(was) === gateOf(here) ? [] : [gate(here, at)]),
  ]
}

/** All recorded events and denials. */
export const historyOf = ({ events, denials, status: { root } }: WatchContext): FeedItem[] =>
  inOrder([...events.map(eventItem), ...denials.flatMap(({ list }) => list.map((denial) => denialItem(denial, root)))])

function ledgerItems(
  was: WatchContext,
  { events, denials, unreadable, status: { root } }: WatchContext,
  at: string,
): FeedItem[] {
  const [first] = was.events
  const isSame = first === undefined || (events.length >= was.events.length && events[0]?.at === first.at)
  const unreadableItems: FeedItem[] =
    unreadable === was.unreadable || unreadable === null
      ? []
      : [{ at, kind: 'worktree', label: 'record', tone: 'bad', text: oneLine(unreadable), data: { unreadable } }]
  const replacedItems: FeedItem[] =
    isSame || unreadable !== null
      ? []
      : [
          {
            at,
            kind: 'worktree',
            label: 'record',
            tone: 'warn',
            text: 'the ledger was replaced',
            data: { record: 'new' },
          },
        ]
  const known = new Map(was.denials.map(({ folder, list }) => [folder, list.length]))
  return [
    ...unreadableItems,
    ...replacedItems,
    ...inOrder([
      ...events.slice(isSame ? was.events.length : 0).map(eventItem),
      ...denials.flatMap(({ folder, list }) =>
        list.slice(known.get(folder) ?? 0).map((denial) => denialItem(denial, root)),
      ),
    ]),
  ]
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
  return {
    at,
    kind: 'finding',
    label: 'finding',
    tone: 'warn',
    text: oneLine(`${id} ${severity}  ${section}: ${problem}`),
    data: { revision, id, severity, section, problem, fix },
  }
}

function passItems(was: WatchContext | null, { progress }: WatchContext, at: string): FeedItem[] {
  switch (progress.kind) {
    case 'absent':
    case 'refused':
      return []
    case 'died':
      return was?.progress.kind === 'running' ? [passDied(progress.progress, at)] : []
    case 'running': {
      const now = progress.progress
      const before = was?.progress.kind === 'running' ? was.progress.progress : null
      const isSame = before !== null && passKey(before) === passKey(now)
      const sign = now.sign !== undefined && now.sign !== (isSame ? before.sign : undefined) ? now.sign : null
      return [...(isSame ? [] : [passStarted(now, at)]), ...(sign === null ? [] : [heartbeatSeen(sign, now, at)])]
    }
  }
}

const passKey = ({ revision, pass, pass_started_at, pid }: Progress): string =>
  [revision, pass, pass_started_at, pid].join(' ')

function passStarted({ pid, sign, signed_at, ...progress }: Progress, at: string): FeedItem {
  const { revision, pass, passes, does, backend, deadline_at, pass_deadline_at, forecast } = progress
  // It may have begun before anybody watched.
  const begunAt = oneLine(progress.pass_started_at ?? at)
  const seconds = Math.round((Date.parse(pass_deadline_at ?? deadline_at) - Date.parse(begunAt)) / 1000)
  const upTo = seconds > 0 ? `, up to ${seconds} s` : ''
  const expected = forecast === undefined ? '' : `, ${oneLine(forecast)} to the end`
  return {
    at: begunAt,
    kind: 'pass',
    label: 'pass',
    tone: 'busy',
    text: oneLine(`v${revision}, pass ${pass} of ${passes}${describePass(does)} with ${backend}${upTo}${expected}`),
    data: progress,
  }
}

export const describePass = (does: string | undefined): string =>
  does !== undefined && Object.hasOwn(passLabels, does) ? `: ${passLabels[does as keyof typeof passLabels]}` : ''

const passDied = ({ revision, pass }: Progress, at: string): FeedItem => ({
  at,
  kind: 'pass',
  label: 'pass',
  tone: 'bad',
  text: `the review of v${revision} ended without a verdict: its process is gone`,
  data: { revision, pass, died: true },
})

const heartbeatSeen = (sign: string, { revision, pass, signed_at }: Progress, at: string): FeedItem => ({
  at: oneLine(signed_at ?? at),
  kind: 'sign',
  label: '',
  tone: 'quiet',
  text: oneLine(sign),
  data: { revision, pass, sign },
})

const gateOf = ({ status: { plan, installed } }: WatchContext): string =>
  JSON.stringify([plan.kind, plan.kind === 'open' ? plan.because : '', installed])

function gate({ status }: WatchContext, at: string): FeedItem {
  const { plan, installed } = status
  const why = notInstalledReason(status)
  const tone = why !== null ? 'bad' : plan.kind === 'approved' ? 'good' : 'warn'
  const data = { installed, open: plan.kind === 'approved', plan }
  return { at, kind: 'gate', label: 'gate', tone, text: oneLine(why ?? describePlan(plan)), data }
}

const worktree = ({ root }: Watched, exists: boolean, at: string): FeedItem => ({
  at,
  kind: 'worktree',
  label: 'worktree',
  tone: exists ? 'quiet' : 'bad',
  text: oneLine(exists ? `${root} exists again` : `${root} was removed, or is not a worktree any more`),
  data: { root, there: exists },
})

function eventItem(event: LedgerEvent): FeedItem {
  const { at, prev, ...data } = event
  const { label, tone, text } = formatEvent(event)
  return { at: oneLine(at), kind: 'event', label: oneLine(label), tone, text: oneLine(text), data }
}

function denialItem({ at, ...data }: Denial, root: string): FeedItem {
  const text = oneLine(`${data.tool} ${data.target.replaceAll(`${root}/`, '')} (${data.rule})`)
  return { at: oneLine(at), kind: 'denial', label: 'denied', tone: 'bad', text, data }
}

const inOrder = (items: readonly FeedItem[]): FeedItem[] =>
  [...items].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
