import { Command } from 'commander'
import { escapeUntrusted } from '../redact/untrusted-text.ts'
import type { LedgerEvent } from '../schemas/records.ts'
import { eventsFromEnd, readEvents } from '../state/ledger.ts'
import { UserError } from '../system/errors.ts'
import { findCheckout } from '../system/repository.ts'
import { helpText, openTerminal } from './terminal.ts'

export const logCommand = (): Command =>
  new Command('log')
    .description('Show the events of this worktree: revisions, verdicts, approvals, denials, drift.')
    .option('-n, --last <count>', 'only the last <count> events')
    .option('--json', 'each event as a JSON line on stdout')
    .addHelpText(
      'after',
      helpText([['plan-gate log -n 20'], ['plan-gate log --json | jq -r \'select(.type == "reviewed").verdict\'']]),
    )
    .action(async (flags: { last?: string; json?: boolean }) => {
      const terminal = openTerminal(flags.json === true)
      const { root } = await findCheckout(process.cwd())
      const events = eventsIn(root, flags.last === undefined ? null : countOf(flags.last))
      if (terminal.json) for (const event of events) terminal.out(JSON.stringify(event))
      else if (events.length === 0) terminal.out('There are no events yet.')
      else for (const event of events) terminal.out(lineOf(event))
    })

/** The end of a long ledger, without reading the rest. */
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

const hiddenFields = new Set(['seq', 'at', 'type', 'prev'])

function lineOf(event: LedgerEvent): string {
  const fields = Object.entries(event).filter(([name, value]) => !hiddenFields.has(name) && value !== null)
  const text = fields.map(([name, value]) => `${name}=${shortened(value)}`).join(' ')
  const line = `${event.at.replace('T', ' ').slice(0, 19)}  ${event.type.padEnd(20)} ${text}`.trimEnd()
  return escapeUntrusted(line).replaceAll('\n', ' ')
}

function shortened(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (/^[0-9a-f]{64}$/.test(text)) return text.slice(0, 12)
  return text.length > 160 ? `${text.slice(0, 159)}…` : text
}
