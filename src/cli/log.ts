import { findGatedCheckout } from '../../bootstrap/find-worktree.ts'
import { formatEvent } from '../report/events.ts'
import type { LoggedDenial } from '../schemas/output.ts'
import type { LedgerEvent } from '../schemas/records.ts'
import { eventsFromEnd, readEvents, throwIfLedgerDamaged } from '../state/ledger.ts'
import { listSessions, readDenialsIn } from '../state/sessions.ts'
import { UserError } from '../system/errors.ts'
import type { Run } from './command.ts'
import { localTime } from './status.ts'
import { oneLine, type Terminal } from './terminal.ts'

export const logCommand: Run<'log'> = async ({ last }, terminal) => {
  const { root } = await findGatedCheckout(process.cwd())
  const count = last === null ? null : countOf(last)
  const events = eventsIn(root, count)
  const happened = [...events, ...denialsIn(root, count)].sort((a, b) => a.at.localeCompare(b.at))
  const shown = count === null ? happened : happened.slice(-count)
  for (const each of shown) {
    if (terminal.json) terminal.out(JSON.stringify(each))
    else terminal.say(lineOf(each, terminal))
  }
  // The end of a long ledger is enough, unless lines are missing in it.
  const isWhole = events.every(({ seq }, at) => at === 0 || seq === (events[at - 1]?.seq ?? 0) + 1)
  if (count === null || events.length < count || !isWhole) throwIfLedgerDamaged(root, 'so events may be missing')
  if (shown.length === 0 && !terminal.json) terminal.out('There are no events yet.')
}

function eventsIn(root: string, count: number | null): readonly LedgerEvent[] {
  const last: LedgerEvent[] = []
  if (count !== null)
    for (const event of eventsFromEnd(root, null)) {
      last.push(event)
      if (last.length === count) break
    }
  if (last.length > 0) return last.reverse()
  const read = readEvents(root)
  if (read.kind === 'refused') throw new UserError(`The ledger cannot be read: ${read.why}.`, 'See `plan-gate verify`.')
  return read.kind === 'read' ? read.events : []
}

function countOf(count: string): number {
  if (/^[1-9]\d{0,6}$/.test(count)) return Number(count)
  throw new UserError(`--last ${count} is not a whole number above 0.`, 'For example: --last 20.')
}

/** Of all sessions; with a count, at least as many as are among the newest. */
function denialsIn(root: string, count: number | null): readonly LoggedDenial[] {
  const denials: LoggedDenial[] = []
  for (const { folder, lastSeenMs, session } of listSessions(root)) {
    // Sessions are listed from the newest, and none has a denial after its end.
    const oldest = count === null ? undefined : denials.at(-count)?.at
    if (oldest !== undefined && lastSeenMs < Date.parse(oldest)) break
    const name = session?.session_id ?? folder.slice(folder.lastIndexOf('/') + 1)
    denials.push(
      ...readDenialsIn(root, folder).map((denial) => ({ type: 'denial' as const, session: name, ...denial })),
    )
    denials.sort((a, b) => a.at.localeCompare(b.at))
  }
  return denials
}

const tones = { good: 'green', bad: 'red', warn: 'yellow', busy: 'cyan', quiet: 'dim' } as const

function lineOf(happened: LedgerEvent | LoggedDenial, { paintOut }: Terminal): string {
  const { label, tone, text } =
    'session' in happened && happened.type === 'denial'
      ? formatDenial(happened as LoggedDenial)
      : formatEvent(happened as LedgerEvent)
  return `${paintOut('dim', localTime(happened.at))}  ${paintOut(tones[tone], oneLine(label).padEnd(11))} ${oneLine(text)}`
}

/** Its first line says why; the rest is advice for Claude. */
function formatDenial({ tool, target, rule, reason }: LoggedDenial): ReturnType<typeof formatEvent> {
  const [why = ''] = reason.replace(/^plan-gate: /, '').split('\n')
  const what = `${tool} ${target.slice(0, 120)}`.trim()
  return { label: rule === 'sandbox' ? 'sandbox' : 'denied', tone: 'bad', text: `${what}: ${why.slice(0, 200)}` }
}
