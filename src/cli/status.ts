import { Command } from 'commander'
import { escapeUntrusted } from '../redact/untrusted-text.ts'
import type { Status } from '../schemas/output.ts'
import { findCheckout } from '../system/repository.ts'
import { readStatus } from './read-status.ts'
import { describePlan, helpText, openTerminal, type Paint, whyNotInstalled } from './ui.ts'

export const statusCommand = (): Command =>
  new Command('status')
    .description('Where the plan stands, and whether the gate has been heard of.')
    .option('--json', 'the status as JSON on stdout')
    .addHelpText('after', helpText([['plan-gate status'], ['plan-gate status --json | jq -r .plan.kind']]))
    .action(async (flags: { json?: boolean }) => {
      const terminal = openTerminal(flags.json === true)
      const { root, gitDirs } = await findCheckout(process.cwd())
      const status = readStatus(root, gitDirs)
      if (terminal.json) return terminal.out(JSON.stringify(status))
      for (const [name, text, style] of linesOf(status)) {
        const shown = clean(text)
        terminal.out(
          terminal.paintOut('dim', name.padEnd(10)) + (style === undefined ? shown : terminal.paintOut(style, shown)),
        )
      }
    })

type Line = [name: string, text: string, style?: Parameters<Paint>[0]]

const linesOf = (status: Status): Line[] => [
  ['worktree', status.root],
  gateIn(status),
  ['plan', describePlan(status.plan), status.plan.kind === 'approved' ? 'green' : 'yellow'],
  ['revisions', revisionsIn(status)],
  ...(status.review === null ? [] : [line('review', reviewing(status.review))]),
  ...(status.unavailable === null ? [] : [line('review', `none came about: ${status.unavailable}`, 'yellow')]),
  ...status.findings.map(({ id, severity, section, problem }) => line(id, `${severity}  ${section}: ${problem}`)),
  ['deadline', `${status.deadline_seconds} s for the review of a plan`],
  status.routes_hash === null
    ? ['routes', 'not valid (plan-gate routes)', 'red']
    : ['routes', `sha256 ${status.routes_hash}`],
  ['thread', status.thread ?? 'none yet'],
  ['sessions', sessionsIn(status)],
  ['denials', denialsIn(status)],
  ...status.problems.map((problem) => line('config', problem, 'red')),
]

function gateIn(status: Status): Line {
  const why = whyNotInstalled(status)
  return why === null ? ['gate', `installed, plan-gate ${status.installed}`] : ['gate', why, 'red']
}

const line = (...line: Line): Line => line

function revisionsIn({ revisions, limit, cycles, verdicts }: Status): string {
  const said = verdicts.map(({ revision, verdict }) => `v${revision} ${verdict}`).join(', ')
  const before = cycles === 0 ? '' : `; ${cycles} ${cycles === 1 ? 'cycle' : 'cycles'} before`
  return `${revisions} of ${limit} reviewed in this cycle${said === '' ? '' : ` (${said})`}${before}`
}

function reviewing({ pass, passes, backend, revision, deadline_at }: NonNullable<Status['review']>): string {
  const left = Math.max(0, Math.round((Date.parse(deadline_at) - Date.now()) / 1000))
  return `revision ${revision} is with ${backend}: pass ${pass} of ${passes}, at most ${left} s more`
}

function sessionsIn({ sessions }: Status): string {
  const [last] = sessions
  return last === undefined ? 'none has been heard of' : `${sessions.length}, last heard of ${last.last_seen_at}`
}

const denialsIn = ({ denials, last_denial }: Status): string =>
  denials === 0 ? 'none in the last session' : `${denials} in the last session, the last one: ${last_denial}`

const clean = (text: string): string => escapeUntrusted(text).replaceAll('\n', ' ').slice(0, 300)
