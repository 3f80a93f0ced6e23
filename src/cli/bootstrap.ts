import { type Bootstrapped, bootstrap } from '../../bootstrap/bootstrap.ts'
import { isAmbiguous } from '../../bootstrap/find-worktree.ts'
import { open } from '../../bootstrap/launch.ts'
import { type GatedWorktree, listGated } from '../../bootstrap/standing.ts'
import type { Reviewer } from '../install/prerequisites.ts'
import type { BootstrapResult } from '../schemas/output.ts'
import { UserError } from '../system/errors.ts'
import type { Run } from './command.ts'
import { printLines, worktreeHere, worktreeLines } from './status.ts'
import { askOnTerminal, describePlan, progressPrinter, type Terminal, withOwnCommand } from './terminal.ts'

export const bootstrapCommand: Run<'bootstrap'> = async ({ json, reviewer, ...flags }, terminal, operands) => {
  const { first, passedOn } = splitOperands(operands)
  // One of the choices of the option.
  const who = reviewer as Reviewer | null
  const options = { ...flags, reviewer: who, strategy: first, ask: askOnTerminal(terminal), claudeFlags: passedOn }
  printResult(await bootstrap(process.cwd(), options, progressPrinter(terminal)), terminal)
}

export const openCommand: Run<'open'> = async ({ list, trust, allowOldClient }, terminal, operands) => {
  const { first: name, passedOn } = splitOperands(operands)
  const isUnclear = name === null && !list && (await isAmbiguous(process.cwd()))
  if (list || isUnclear) printWorktrees(await listGated(process.cwd()), terminal)
  if (list) return
  if (isUnclear)
    throw new UserError('Several worktrees have a gate, and none was named.', 'Name one: plan-gate open <name>.')
  const options = { name, trust, ask: askOnTerminal(terminal), allowOldClient, claudeFlags: passedOn }
  printResult(await open(process.cwd(), options, progressPrinter(terminal)), terminal)
}

function printWorktrees(worktrees: readonly GatedWorktree[], terminal: Terminal): void {
  if (terminal.json)
    for (const each of worktrees) terminal.out(JSON.stringify({ event: 'worktree', ...worktreeHere(each) }))
  else if (worktrees.length === 0)
    terminal.say('No worktree of this repository has a gate. Open one: plan-gate bootstrap --name <name>.')
  else printLines(worktreeLines(worktrees), terminal)
}

/** Commander drops the `--`, so `bootstrap -- --model opus` would take `--model` for the strategy. */
function splitOperands(all: readonly string[]): { first: string | null; passedOn: string[] } {
  const marker = process.argv.indexOf('--')
  const afterMarker = marker === -1 ? [] : process.argv.slice(marker + 1)
  const before = all.slice(0, all.length - afterMarker.length)
  return { first: before[0] ?? null, passedOn: [...before.slice(1), ...afterMarker] }
}

function printResult(done: Bootstrapped, terminal: Terminal): void {
  if (terminal.json) terminal.out(JSON.stringify(asResult(done)))
  else for (const line of summary(done)) terminal.note(line)
  if (done.kind === 'ended') process.exitCode = done.exitCode
}

function asResult(done: Bootstrapped): BootstrapResult {
  if (done.kind === 'dry-run') return { event: 'result', ...done }
  const command = withOwnCommand(done.command)
  if (done.kind === 'ready') return { event: 'result', ...done, command }
  const { exitCode, ...rest } = done
  return { event: 'result', ...rest, command, exit_code: exitCode }
}

function summary(done: Bootstrapped): string[] {
  switch (done.kind) {
    case 'dry-run':
      return ['', 'Nothing was changed.']
    case 'ready':
      return [
        '',
        `Ready: ${done.worktree}`,
        '',
        'Start with:',
        `  ${done.command}`,
        '',
        'Remove it with `plan-gate finish`, there.',
      ]
    case 'ended':
      return ['', `plan-gate: ${describePlan(done.plan)}`, `  ${done.worktree}`, 'Go on with:', `  ${done.command}`]
  }
}
