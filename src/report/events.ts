import type { PassKind } from '../review/prompts.ts'
import type { LedgerEvent } from '../schemas/records.ts'

export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'quiet'
export type EventText = { readonly label: string; readonly tone: Tone; readonly text: string }

/** `otherwise` is used if the field is missing. */
type Field = (name: string, otherwise?: string) => string

/** A ledger event for people, as `log`, `watch` and the report say it. An unknown type is shown field by field. */
export function formatEvent(event: LedgerEvent): EventText {
  const of: Field = (name, otherwise) => textOf(event[name], otherwise)
  const { type, seq, at, prev, ...fields } = event
  const row = Object.hasOwn(events, type) ? events[type] : undefined
  const [label, tone, say] = row ?? [
    type,
    'quiet',
    () =>
      Object.keys(fields)
        .map((name) => `${name}=${of(name)}`)
        .join(' '),
  ]
  return { label, tone: tone === 'verdict' ? toneOfVerdict(of('verdict')) : tone, text: say(of) }
}

type EventFormat = readonly [label: string, tone: Tone | 'verdict', say: (of: Field) => string]

/** Events that are too long for the ledger lose their fields. */
const manyFiles = 'too many files to list'

const events: { readonly [type: string]: EventFormat } = {
  'cycle-started': ['cycle', 'quiet', (of) => `cycle ${of('cycle')} started`],
  'revision-submitted': ['submitted', 'busy', (of) => `v${of('revision')} goes to the reviewer`],
  reviewed: [
    'verdict',
    'verdict',
    (of) => `v${of('revision')} ${of('verdict')} by ${of('backend')}, ${counted(of('findings'), 'finding')}`,
  ],
  'review-unavailable': ['no verdict', 'bad', (of) => `${of('failure')}: ${of('why')}`],
  'routes-effective': ['routes', 'quiet', (of) => `route table ${of('routes_hash').slice(0, 12)}`],
  'thread-started': ['thread', 'quiet', (of) => `${of('thread')} started`],
  'thread-replaced': ['thread', 'warn', (of) => `${of('thread')} replaces ${of('was')}: ${of('why')}`],
  approved: ['approved', 'good', (of) => `v${of('revision')} by ${of('route')}; the gate is open`],
  'approved-manually': ['by hand', 'warn', (of) => of('reason', 'without a reason')],
  'approval-carried': ['approved', 'good', () => 'the approval holds for ticked boxes and white space'],
  'finding-waived': ['waived', 'warn', (of) => `${of('finding')} by you: ${of('reason')}`],
  'waiver-withdrawn': ['waived', 'quiet', (of) => `the waiver of ${of('finding')} was taken back`],
  'approval-tampered': ['tampered', 'bad', (of) => `approval.json changed while ${of('tool')} ran, and was put back`],
  'gate-bypassed': ['bypassed', 'bad', (of) => `${of('tool')} got past the gate (${of('how')}): ${of('target')}`],
  'approval-revoked': ['revoked', 'warn', (of) => `the approval has ended: ${of('why')}`],
  'limit-reached': ['limit', 'warn', (of) => `v${of('revision')} is the last one that is reviewed; you decide`],
  'changes-requested': ['changes', 'warn', (of) => `The user requests changes: ${of('findings')}`],
  'ledger-replaced': ['ledger', 'warn', (of) => `what you decided was carried over from ${of('damaged')}`],
  continued: ['continued', 'quiet', (of) => `more revisions are reviewed after v${of('revision')}`],
  'cycle-archived': [
    'cycle',
    'quiet',
    (of) => `cycle ${of('cycle')} has ended, ${counted(of('revisions'), 'revision')}`,
  ],
  denied: ['denied', 'bad', (of) => `${of('tool')} (${of('rule')}): ${of('reason')}`],
  'config-change-vetoed': ['vetoed', 'bad', (of) => `a change of ${of('path', of('source'))} was rejected`],
  'control-plane-restored': ['restored', 'bad', (of) => `${of('paths', manyFiles)}; any approval has ended`],
  'drift-found': ['drift', 'bad', (of) => `changed without an approved plan: ${of('paths', manyFiles)}`],
  'drift-accepted': ['drift', 'warn', (of) => `accepted: ${of('paths', manyFiles)}`],
  installed: ['installed', 'quiet', (of) => `plan-gate ${of('version')}`],
  uninstalled: ['uninstalled', 'warn', (of) => `plan-gate ${of('version')}`],
  'torn-line': ['torn', 'warn', (of) => `${counted(of('lines'), 'torn line')} after a crash`],
  'reflection-unavailable': ['reflected', 'warn', (of) => `no verdict: ${of('why')}`],
  reflected: [
    'reflected',
    'verdict',
    (of) => {
      const cached = of('cached') === 'true' ? ', cached' : ''
      return `${of('verdict')} on ${of('kind')} ${of('about')}${cached}${tokensIn(of('tokens'))}`
    },
  ],
}

const verdictTones: { readonly [verdict: string]: Tone | undefined } = {
  APPROVED: 'good',
  PASS: 'good',
  CHANGES_REQUIRED: 'bad',
  FAIL: 'bad',
}

export const toneOfVerdict = (verdict: string): Tone =>
  (Object.hasOwn(verdictTones, verdict) ? verdictTones[verdict] : undefined) ?? 'warn'

function textOf(value: unknown, otherwise = 'none'): string {
  if (value === undefined || value === null) return otherwise
  if (Array.isArray(value)) return value.map((each) => textOf(each)).join(', ')
  // Of what has an id, the id says enough.
  if (typeof value === 'object') return 'id' in value ? String(value.id) : JSON.stringify(value)
  return String(value)
}

const counted = (count: string, what: string): string => `${count} ${what}${count === '1' ? '' : 's'}`
const tokensIn = (tokens: string): string => (/^[1-9]\d*$/.test(tokens) ? ` (${counted(tokens, 'token')})` : '')

export const passLabels = {
  plan: 'understand',
  review: 'find',
  verify: 'verify',
  combined: 'the only pass',
  settle: 'one more question',
  arbitrate: 'decide what is contested',
} as const satisfies { readonly [pass in PassKind]: string }
