import { userFindingsIn } from '../review/user-finding.ts'
import type { LedgerEvent } from '../schemas/records.ts'
import { countOf, formatCount, formatDuration, type LabelTone, shortHash, verdictLabel } from './html.ts'

type EventWords = {
  readonly tone: LabelTone
  readonly title: string
  readonly detail: string
  /** Only of interest when something went wrong. */
  readonly isQuiet: boolean
}

type FieldText = (name: string) => string

type EventRow = (
  field: FieldText,
  event: LedgerEvent,
) => { tone?: LabelTone; title: string; detail?: string; isQuiet?: true }

/** An event of the ledger for a person; one of a type that this version does not know, by its fields. */
export function eventLabel(event: LedgerEvent): EventWords {
  const field: FieldText = (name) => textOf(event[name])
  const row = Object.hasOwn(rows, event.type) ? rows[event.type] : undefined
  const {
    tone = 'plain',
    title,
    detail = '',
    isQuiet = false,
  } = row?.(field, event) ?? { title: event.type, detail: fieldsOf(event) }
  return { tone, title, detail, isQuiet }
}

const rows: { readonly [type: string]: EventRow } = {
  'cycle-started': (field) => ({ title: `Cycle ${field('cycle')} begins` }),
  'revision-submitted': (field) => ({ title: `Revision ${field('revision') || '?'} goes to review` }),
  reviewed: (field) => {
    const { tone, words } = verdictLabel(field('verdict'))
    return {
      tone,
      title: `Revision ${field('revision')}: ${words.toLowerCase()}`,
      detail: `by ${field('backend')}, ${countOf(Number(field('findings')), 'open finding')}`,
    }
  },
  'review-unavailable': (field) => ({
    tone: 'bad',
    title: 'The review reached no verdict',
    detail: `${field('failure')}: ${field('why')}`,
  }),
  'routes-effective': (field) => ({
    title: 'Route table in force',
    detail: shortHash(field('routes_hash')),
    isQuiet: true,
  }),
  'thread-started': (field) => ({ title: 'A thread with the reviewer begins', detail: field('thread'), isQuiet: true }),
  'thread-replaced': (field) => ({
    title: 'The thread was replaced',
    detail: `${field('why')} (${field('was')} → ${field('thread')})`,
  }),
  approved: (field) => ({
    tone: 'good',
    title: `Revision ${field('revision')} is approved: the gate opens`,
    detail: `by ${field('route')}${field('verification') === '' ? '' : `, verification ${field('verification')}`}`,
  }),
  'approved-manually': (field) => ({ tone: 'ask', title: 'Approved by hand: the gate opens', detail: field('reason') }),
  'approval-carried': () => ({
    tone: 'good',
    title: 'The approval goes on: only ticks or white space changed in the plan',
  }),
  'approval-tampered': (field) => ({
    tone: 'bad',
    title: `approval.json changed while ${field('tool')} ran: put back`,
    detail: shortHash(field('plan_hash')),
  }),
  'gate-bypassed': (field) => ({
    tone: 'bad',
    title: `${field('tool')} got past the gate`,
    detail: `${field('how')}: ${field('target')}`,
  }),
  'approval-revoked': (field) => ({ tone: 'wait', title: 'The approval ends: the gate closes', detail: field('why') }),
  'limit-reached': (field) => ({
    tone: 'ask',
    title: 'The limit of revisions is reached',
    detail: `after revision ${field('revision')}; the user decides`,
  }),
  continued: (field) => ({
    tone: 'ask',
    title: 'The user allows more revisions',
    detail: `after ${field('revision')}`,
  }),
  'finding-waived': (field) => ({
    tone: 'ask',
    title: `The user waives ${field('finding')} (${field('severity')})`,
    detail: field('reason'),
  }),
  'changes-requested': (_, event) => ({
    tone: 'ask',
    title: 'The user requests changes',
    detail: userFindingsIn(event)
      .map(({ finding }) => `${finding.id}: ${finding.problem}`)
      .join('; '),
  }),
  'waiver-withdrawn': (field) => ({ tone: 'ask', title: `The user takes the waiver of ${field('finding')} back` }),
  'cycle-archived': (field, event) => ({
    title: `Cycle ${field('cycle')} ends`,
    detail: [
      countOf(Number(field('revisions')), 'revision'),
      event.approved === true ? 'approved' : 'not approved',
    ].join(', '),
  }),
  denied: (field) => ({
    tone: 'wait',
    title: `Denied: ${field('tool')}`,
    detail: `${field('rule')}: ${field('reason')}`,
  }),
  'config-change-vetoed': (field) => ({
    tone: 'bad',
    title: 'A change of the settings was vetoed',
    detail: `${field('source')} ${field('path')}`,
  }),
  'control-plane-restored': (field) => ({
    tone: 'bad',
    title: 'Files of the gate were changed, and restored',
    detail: field('paths'),
  }),
  'drift-found': (field) => ({ tone: 'bad', title: 'Files changed without an approved plan', detail: field('paths') }),
  'drift-accepted': (field) => ({ tone: 'ask', title: 'The user accepted changed files', detail: field('paths') }),
  installed: (field) => ({ title: `plan-gate ${field('version')} installed`, isQuiet: true }),
  uninstalled: (field) => ({ title: `plan-gate ${field('version')} removed`, isQuiet: true }),
  reflected: (field, event) => ({
    tone: reflectionTones[field('verdict')] ?? 'plain',
    title: `Reflection on ${field('about') || field('kind')}: ${field('verdict')}`,
    detail: [field('kind'), durationIn(event), tokensIn(event)].filter((words) => words !== '').join(', '),
  }),
  'reflection-unavailable': (field) => ({
    tone: 'bad',
    title: `No reflection on ${field('about') || field('kind')}`,
    detail: `${field('failure')}: ${field('why')}`,
  }),
  'torn-line': (field) => ({
    tone: 'bad',
    title: 'A torn line in the ledger was covered',
    detail: `${field('bytes')} bytes`,
  }),
}

const reflectionTones: { readonly [verdict: string]: LabelTone } = { PASS: 'good', FAIL: 'bad', UNCERTAIN: 'wait' }
const durationIn = ({ duration_ms: ms }: LedgerEvent): string => (typeof ms === 'number' ? formatDuration(ms) : '')

const tokensIn = ({ tokens }: LedgerEvent): string =>
  typeof tokens === 'number' ? `${formatCount(tokens)} tokens` : ''

const envelope = new Set(['seq', 'at', 'type', 'prev'])

const fieldsOf = (event: LedgerEvent): string =>
  Object.entries(event)
    .flatMap(([field, value]) => (envelope.has(field) || value === null ? [] : [`${field}=${textOf(value)}`]))
    .join(' ')

/** A line of 32 kB is a list of files; the first of them say enough here. */
const maxText = 600

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' ? value : Array.isArray(value) ? listOf(value) : JSON.stringify(value)
  return text.length > maxText ? `${text.slice(0, maxText)}…` : text
}

const listOf = (values: readonly unknown[]): string => {
  const shown = values.slice(0, 12).map(String).join(', ')
  return values.length > 12 ? `${shown} and ${values.length - 12} more` : shown
}
