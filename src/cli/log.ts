import { Command } from 'commander'
import { escapeUntrusted } from '../redact/untrusted-text.ts'
import type { LedgerEvent } from '../schemas/records.ts'
import { eventsFromEnd, readEvents } from '../state/ledger.ts'
import { UserError } from '../system/errors.ts'
import { findCheckout } from '../system/repository.ts'
import { helpText, openTerminal } from './terminal.ts'

export const logCommand = (): Command =>
  new Command('log')
    .description('What happened here, line by line: revisions, verdicts, approvals, denials, drift.')
    .option('-n, --last <count>', 'only so many of the last events')
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
      else if (events.length === 0) terminal.out('Nothing has happened here yet.')
      else for (const event of events) terminal.out(lineOf(event))
    })

/** Of a long record the end, without the rest. */
function eventsIn(root: string, count: number | null): readonly LedgerEvent[] {
  const last: LedgerEvent[] = []
  if (count !== null)
    for (const event of eventsFromEnd(root, null)) {
      last.push(event)
      if (last.length === count) break
    }
  if (last.length > 0) return last.reverse()
  const read = readEvents(root)
  if (read.kind === 'refused') throw new UserError(`The record cannot be read: ${read.why}.`, 'See `plan-gate verify`.')
  return read.kind === 'read' ? read.events : []
}

function countOf(given: string): number {
  if (/^[1-9]\d{0,6}$/.test(given)) return Number(given)
  throw new UserError(`--last ${given} is not a whole number above 0.`, 'Give it as in --last 20.')
}

const shown = new Set(['seq', 'at', 'type', 'prev'])

function lineOf(event: LedgerEvent): string {
  const fields = Object.entries(event).filter(([name, value]) => !shown.has(name) && value !== null)
  const said = fields.map(([name, value]) => `${name}=${shortened(value)}`).join(' ')
  const line = `${event.at.replace('T', ' ').slice(0, 19)}  ${event.type.padEnd(20)} ${said}`.trimEnd()
  // What came from elsewhere is shown and not obeyed.
  return escapeUntrusted(line).replaceAll('\n', ' ')
}

/** Hashes by their beginning. */
function shortened(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (/^[0-9a-f]{64}$/.test(text)) return text.slice(0, 12)
  return text.length > 160 ? `${text.slice(0, 159)}…` : text
}
