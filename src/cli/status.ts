import { Command } from 'commander'
import { findCheckout } from '../../bootstrap/install/install-here.ts'
import { neutralise } from '../safety/neutralise.ts'
import { describePlan } from './describe-plan.ts'
import { readStatus, type Status } from './read-status.ts'
import { openTerminal, type Terminal } from './terminal.ts'

export const statusCommand = (): Command =>
  new Command('status')
    .description('Where the plan stands, and whether the gate has been heard of.')
    .option('--json', 'the status as JSON on stdout')
    .action(async (flags: { json?: boolean }) => {
      const terminal = openTerminal(flags.json === true)
      const { root, gitDirs } = await findCheckout(process.cwd())
      const status = readStatus(root, gitDirs)
      if (terminal.json) terminal.out(JSON.stringify(status))
      else
        for (const [name, value] of linesOf(status, terminal))
          terminal.out(`${terminal.paint('dim', name.padEnd(10))}${value}`)
    })

function linesOf(status: Status, { paint }: Terminal): [string, string][] {
  const open = status.plan.kind === 'approved'
  const session = status.sessions[0]
  return [
    ['worktree', status.root],
    [
      'gate',
      status.installed === null
        ? paint('red', 'not installed (plan-gate install)')
        : `installed, plan-gate ${status.installed}`,
    ],
    ['plan', paint(open ? 'green' : 'yellow', describePlan(status.plan))],
    ['revisions', revisionsIn(status)],
    ...(status.review === null ? [] : [row('review', reviewing(status.review))]),
    ...(status.unavailable === null
      ? []
      : [row('review', paint('yellow', `none came about: ${clean(status.unavailable)}`))]),
    ...status.findings.map(({ id, severity, section, problem }) =>
      row(id, clean(`${severity}  ${section}: ${problem}`)),
    ),
    ['thread', status.thread ?? 'none yet'],
    [
      'sessions',
      session === undefined
        ? 'none has been heard of'
        : `${status.sessions.length}, last heard of ${session.last_seen_at}`,
    ],
    [
      'denials',
      status.denials === 0
        ? 'none in the last session'
        : `${status.denials} in the last session, the last one: ${status.lastDenial}`,
    ],
    ...status.problems.map((problem): [string, string] => ['config', paint('red', problem)]),
  ]
}

const row = (name: string, text: string): [string, string] => [name, text]

function revisionsIn({ revisions, limit, cycles, verdicts }: Status): string {
  const said = verdicts.map(({ revision, verdict }) => `v${revision} ${verdict}`).join(', ')
  const before = cycles === 0 ? '' : `; ${cycles} ${cycles === 1 ? 'cycle' : 'cycles'} before`
  return `${revisions} of ${limit} reviewed in this cycle${said === '' ? '' : ` (${said})`}${before}`
}

function reviewing({ pass, passes, backend, revision, deadline_at }: NonNullable<Status['review']>): string {
  const left = Math.max(0, Math.round((Date.parse(deadline_at) - Date.now()) / 1000))
  return `revision ${revision} is with ${backend}: pass ${pass} of ${passes}, at most ${left} s more`
}

const clean = (text: string): string => neutralise(text).replaceAll('\n', ' ').slice(0, 300)
