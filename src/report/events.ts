import type { LedgerEvent } from '../schemas/records.ts'
import { counted, formatCount, formatDuration, shortHash, type Tone, verdictLabel } from './html.ts'

type EventWords = {
  readonly tone: Tone
  readonly title: string
  readonly detail: string
  /** What only matters to who looks for a fault. */
  readonly isQuiet: boolean
}

type Said = (field: string) => string

type RowDescribeEvent = (
  said: Said,
  event: LedgerEvent,
) => { tone?: Tone; title: string; detail?: string; isQuiet?: true }

/** An event of the ledger for a person; one of a type that this version does not know, by its fields. */
export function describeEvent(event: LedgerEvent): EventWords {
  const said: Said = (field) => textOf(event[field])
  const row = Object.hasOwn(rows, event.type) ? rows[event.type] : undefined
  const {
    tone = 'plain',
    title,
    detail = '',
    isQuiet = false,
  } = row?.(said, event) ?? { title: event.type, detail: fieldsOf(event) }
  return { tone, title, detail, isQuiet }
}

const rows: { readonly [type: string]: RowDescribeEvent } = {
  'cycle-started': (said) => ({ title: `Cycle ${said('cycle')} begins` }),
  'revision-submitted': (said) => ({
    title: `Revision ${said('revision') || '?'} goes to review`,
    detail: shortHash(said('plan_hash')),
  }),
  reviewed: (said) => {
    const { tone, words } = verdictLabel(said('verdict'))
    return {
      tone,
      title: `Revision ${said('revision')}: ${words.toLowerCase()}`,
      detail: `by ${said('backend')}, ${counted(Number(said('findings')), 'open finding')}`,
    }
  },
  'review-unavailable': (said) => ({
    tone: 'bad',
    title: 'No review came about',
    detail: `${said('failure')}: ${said('why')}`,
  }),
  'routes-effective': (said) => ({
    title: 'Route table in force',
    detail: shortHash(said('routes_hash')),
    isQuiet: true,
  }),
  'thread-started': (said) => ({ title: 'A thread with the reviewer begins', detail: said('thread'), isQuiet: true }),
  'thread-replaced': (said) => ({
    title: 'The thread was replaced',
    detail: `${said('why')} (${said('was')} → ${said('thread')})`,
  }),
  approved: (said) => ({
    tone: 'good',
    title: `Revision ${said('revision')} is approved: the gate opens`,
    detail: `by ${said('route')}${said('verification') === '' ? '' : `, verification ${said('verification')}`}`,
  }),
  'approved-manually': (said) => ({ tone: 'ask', title: 'Approved by hand: the gate opens', detail: said('reason') }),
  'approval-revoked': (said) => ({ tone: 'wait', title: 'The approval ends: the gate closes', detail: said('why') }),
  'limit-reached': (said) => ({
    tone: 'ask',
    title: 'The limit of revisions is reached',
    detail: `after revision ${said('revision')}; the user decides`,
  }),
  continued: (said) => ({
    tone: 'ask',
    title: 'The user has more revisions reviewed',
    detail: `after ${said('revision')}`,
  }),
  'cycle-archived': (said, event) => ({
    title: `Cycle ${said('cycle')} ends`,
    detail: [
      counted(Number(said('revisions')), 'revision'),
      event.approved === true ? 'approved' : 'not approved',
    ].join(', '),
  }),
  denied: (said) => ({ tone: 'wait', title: `Denied: ${said('tool')}`, detail: `${said('rule')}: ${said('reason')}` }),
  'config-change-vetoed': (said) => ({
    tone: 'bad',
    title: 'A change of the settings was vetoed',
    detail: `${said('source')} ${said('path')}`,
  }),
  'control-plane-restored': (said) => ({
    tone: 'bad',
    title: 'The gate was meddled with, and put back',
    detail: said('paths'),
  }),
  'drift-found': (said) => ({ tone: 'bad', title: 'Files changed without an approved plan', detail: said('paths') }),
  'drift-accepted': (said) => ({ tone: 'ask', title: 'The user took changed files over', detail: said('paths') }),
  installed: (said) => ({ title: `plan-gate ${said('version')} installed`, isQuiet: true }),
  uninstalled: (said) => ({ title: `plan-gate ${said('version')} removed`, isQuiet: true }),
  reflected: (said, event) => ({
    tone: reflectionTones[said('verdict')] ?? 'plain',
    title: `Second look at ${said('about') || said('kind')}: ${said('verdict')}`,
    detail: [said('kind'), durationIn(event), tokensIn(event)].filter((words) => words !== '').join(', '),
  }),
  'reflection-unavailable': (said) => ({
    tone: 'bad',
    title: `No second look at ${said('about') || said('kind')}`,
    detail: `${said('failure')}: ${said('why')}`,
  }),
  'torn-line': (said) => ({
    tone: 'bad',
    title: 'A torn line in the ledger was covered',
    detail: `${said('bytes')} bytes`,
  }),
}

const reflectionTones: { readonly [verdict: string]: Tone } = { PASS: 'good', FAIL: 'bad', UNCERTAIN: 'wait' }

const durationIn = ({ duration_ms: ms }: LedgerEvent): string => (typeof ms === 'number' ? formatDuration(ms) : '')

const tokensIn = ({ tokens }: LedgerEvent): string =>
  typeof tokens === 'number' ? `${formatCount(tokens)} tokens` : ''

const envelope = new Set(['seq', 'at', 'type', 'prev'])

const fieldsOf = (event: LedgerEvent): string =>
  Object.entries(event)
    .flatMap(([field, value]) => (envelope.has(field) || value === null ? [] : [`${field}=${textOf(value)}`]))
    .join(' ')

/** A line of 32 kB is a list of files; the first of them say enough here. */
const mostText = 600

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' ? value : Array.isArray(value) ? listOf(value) : JSON.stringify(value)
  return text.length > mostText ? `${text.slice(0, mostText)}…` : text
}

const listOf = (values: readonly unknown[]): string => {
  const shown = values.slice(0, 12).map(String).join(', ')
  return values.length > 12 ? `${shown} and ${values.length - 12} more` : shown
}
