import type { LedgerEvent } from '../schemas/records.ts'
import { oneLine } from './terminal.ts'

export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'quiet'
export type EventText = { readonly label: string; readonly tone: Tone; readonly text: string }
type EventFormat = { label: string; tone: Tone | ((field: Field) => Tone); say: (field: Field) => string }

/** `otherwise` is used if the field is missing. */
type Field = (name: string, otherwise?: string) => string

/** A ledger event for people. An unknown type is shown field by field. */
export function formatEvent(event: LedgerEvent): EventText {
  const field: Field = (name, otherwise) => textOf(event[name], otherwise)
  const { label, tone, say } = formatFor.get(event.type) ?? formatUnknown(event)
  return { label: oneLine(label), tone: typeof tone === 'string' ? tone : tone(field), text: oneLine(say(field)) }
}

/** Events that are too long for the ledger lose their fields. */
const manyFiles = 'too many files to list'

const eventFormats: { readonly [type: string]: EventFormat } = {
  'cycle-started': { label: 'cycle', tone: 'quiet', say: (of) => `cycle ${of('cycle')} started` },
  'revision-submitted': { label: 'submitted', tone: 'busy', say: (of) => `v${of('revision')} goes to the reviewer` },
  reviewed: {
    label: 'verdict',
    tone: (of) => toneOfVerdict(of('verdict')),
    say: (of) => `v${of('revision')} ${of('verdict')} by ${of('backend')}, ${counted(of('findings'), 'finding')}`,
  },
  'review-unavailable': { label: 'no verdict', tone: 'bad', say: (of) => `${of('failure')}: ${of('why')}` },
  'routes-effective': { label: 'routes', tone: 'quiet', say: (of) => `route table ${of('routes_hash').slice(0, 12)}` },
  'thread-started': { label: 'thread', tone: 'quiet', say: (of) => `${of('thread')} started` },
  'thread-replaced': {
    label: 'thread',
    tone: 'warn',
    say: (of) => `${of('thread')} replaces ${of('was')}: ${of('why')}`,
  },
  approved: { label: 'approved', tone: 'good', say: (of) => `v${of('revision')} by ${of('route')}; the gate is open` },
  'approved-manually': { label: 'by hand', tone: 'warn', say: (of) => of('reason', 'without a reason') },
  'approval-carried': {
    label: 'approved',
    tone: 'good',
    say: () => 'the approval holds for ticked boxes and white space',
  },
  'finding-waived': { label: 'waived', tone: 'warn', say: (of) => `${of('finding')} by you: ${of('reason')}` },
  'waiver-withdrawn': { label: 'waived', tone: 'quiet', say: (of) => `the waiver of ${of('finding')} was taken back` },
  'approval-tampered': {
    label: 'tampered',
    tone: 'bad',
    say: (of) => `approval.json changed while ${of('tool')} ran, and was put back`,
  },
  'gate-bypassed': {
    label: 'bypassed',
    tone: 'bad',
    say: (of) => `${of('tool')} got past the gate (${of('how')}): ${of('target')}`,
  },
  'approval-revoked': { label: 'revoked', tone: 'warn', say: (of) => `the approval has ended: ${of('why')}` },
  'limit-reached': {
    label: 'limit',
    tone: 'warn',
    say: (of) => `v${of('revision')} is the last one that is reviewed; you decide`,
  },
  'changes-requested': { label: 'changes', tone: 'warn', say: (of) => `you request changes: ${of('findings')}` },
  'ledger-replaced': {
    label: 'ledger',
    tone: 'warn',
    say: (of) => `what you decided was carried over from ${of('damaged')}`,
  },
  continued: { label: 'continued', tone: 'quiet', say: (of) => `more revisions are reviewed after v${of('revision')}` },
  'cycle-archived': {
    label: 'cycle',
    tone: 'quiet',
    say: (of) => `cycle ${of('cycle')} has ended, ${counted(of('revisions'), 'revision')}`,
  },
  denied: { label: 'denied', tone: 'bad', say: (of) => `${of('tool')} (${of('rule')}): ${of('reason')}` },
  'config-change-vetoed': {
    label: 'vetoed',
    tone: 'bad',
    say: (of) => `a change of ${of('path', of('source'))} was rejected`,
  },
  'control-plane-restored': {
    label: 'restored',
    tone: 'bad',
    say: (of) => `${of('paths', manyFiles)}; any approval has ended`,
  },
  'drift-found': {
    label: 'drift',
    tone: 'bad',
    say: (of) => `changed without an approved plan: ${of('paths', manyFiles)}`,
  },
  'drift-accepted': { label: 'drift', tone: 'warn', say: (of) => `accepted: ${of('paths', manyFiles)}` },
  installed: { label: 'installed', tone: 'quiet', say: (of) => `plan-gate ${of('version')}` },
  uninstalled: { label: 'uninstalled', tone: 'warn', say: (of) => `plan-gate ${of('version')}` },
  'torn-line': { label: 'torn', tone: 'warn', say: (of) => `${counted(of('lines'), 'torn line')} after a crash` },
  'reflection-unavailable': { label: 'reflected', tone: 'warn', say: (of) => `no verdict: ${of('why')}` },
  reflected: {
    label: 'reflected',
    tone: (of) => toneOfVerdict(of('verdict')),
    say: (of) =>
      `${of('verdict')} on ${of('kind')} ${of('about')}${of('cached') === 'true' ? ', cached' : ''}${tokensIn(of('tokens'))}`,
  },
}

const formatFor = new Map(Object.entries(eventFormats))

const formatUnknown = ({ type, ...event }: LedgerEvent): EventFormat => ({
  label: type,
  tone: 'quiet',
  say: (of) =>
    Object.keys(event)
      .filter((name) => !['seq', 'at', 'prev'].includes(name))
      .map((name) => `${name}=${of(name)}`)
      .join(' '),
})

const verdictTones = new Map<string, Tone>([
  ['APPROVED', 'good'],
  ['PASS', 'good'],
  ['CHANGES_REQUIRED', 'bad'],
  ['FAIL', 'bad'],
])

export const toneOfVerdict = (verdict: string): Tone => verdictTones.get(verdict) ?? 'warn'

function textOf(value: unknown, otherwise = 'none'): string {
  if (value === undefined || value === null) return otherwise
  if (Array.isArray(value)) return value.map((each) => textOf(each)).join(', ')
  // Of what has an id, the id says enough.
  if (typeof value === 'object') return 'id' in value ? String(value.id) : JSON.stringify(value)
  return String(value)
}

const counted = (count: string, what: string): string => `${count} ${what}${count === '1' ? '' : 's'}`
const tokensIn = (tokens: string): string => (/^[1-9]\d*$/.test(tokens) ? ` (${counted(tokens, 'token')})` : '')
