import { type Command, Option } from 'commander'
import { type Bootstrapped, bootstrap } from '../../bootstrap/bootstrap.ts'
import { isAmbiguous } from '../../bootstrap/find-worktree.ts'
import { open } from '../../bootstrap/launch.ts'
import { type GatedWorktree, listGated } from '../../bootstrap/standing.ts'
import { type Reviewer, reviewers } from '../install/prerequisites.ts'
import type { BootstrapResult } from '../schemas/output.ts'
import { UserError } from '../system/errors.ts'
import { newCommand } from './new-command.ts'
import { printLines, worktreeHere, worktreeLines } from './status.ts'
import {
  askOnTerminal,
  describePlan,
  openTerminal,
  progressPrinter,
  type Terminal,
  withOwnCommand,
} from './terminal.ts'

type Flags = {
  name?: string
  branch?: string
  base?: string
  dir?: string
  reviewer?: Reviewer
  reflect?: boolean
  setup: boolean
  launch: boolean
  allowOldClient?: boolean
  trust?: boolean
  dryRun?: boolean
  json?: boolean
}

export const bootstrapCommand = (): Command =>
  newCommand(
    'bootstrap',
    'Open a gated worktree and start Claude Code in it.',
    [
      ['plan-gate bootstrap docs/strategy.md', 'from a strategy to a session'],
      ['plan-gate bootstrap --name login -- --model opus', 'flags after -- go to claude'],
      ['plan-gate bootstrap --name login', 'again: continues there'],
      ['plan-gate bootstrap --reviewer checklist', 'without any account'],
    ],
    'Returns the exit code of Claude Code once that was started. `plan-gate finish` removes the worktree.',
  )
    .argument('[strategy]', 'a document that describes what is wanted; Claude plans from it')
    .argument('[claude-flags...]', 'after --: passed to claude unchanged')
    .option('--name <name>', 'name of the worktree (default: from the strategy, or the date)')
    .option('--branch <branch>', 'its branch; reuses the branch if it exists (default: plan/<name>)')
    .option('--base <commit>', 'the commit that it starts from (default: HEAD)')
    .option('--dir <folder>', 'its folder (default: ../<repo>-<name>)')
    .addOption(new Option('--reviewer <who>', 'who reviews the plan').choices(reviewers))
    .option('--reflect', 'let a second reviewer follow the implementation')
    .option('--no-setup', 'skip the commands of worktree.setup in plan-gate.yaml')
    .option('--no-launch', 'prepare everything, but do not start Claude Code')
    .option('--allow-old-client', 'go on with an old Claude Code, where less holds')
    .option('--trust', 'load what the repository brings (hooks, servers, skills …) without a question')
    .option('--dry-run', 'print what would be created or changed, and change nothing')
    .option('--json', 'one JSON object a line on stdout')
    .action(run)

async function run(strategy: string | undefined, claudeFlags: string[], flags: Flags): Promise<void> {
  const terminal = openTerminal(flags.json === true)
  const { file, passedOn } = splitArguments(strategy, claudeFlags)
  const { name = null, branch = null, base = null, dir = null, reviewer = null, setup, launch } = flags
  const { reflect = false, allowOldClient = false, dryRun = false, trust = false } = flags
  const what = {
    strategy: file,
    name,
    branch,
    base,
    dir,
    reviewer,
    reflect,
    setup,
    launch,
    allowOldClient,
    dryRun,
    trust,
  }
  const options = { ...what, ask: askOnTerminal(terminal), claudeFlags: passedOn }
  printResult(await bootstrap(process.cwd(), options, progressPrinter(terminal)), terminal)
}

type OpenFlags = Pick<Flags, 'trust' | 'allowOldClient' | 'json'> & { list?: boolean }

export const openCommand = (): Command =>
  newCommand(
    'open',
    'Start Claude Code again in a worktree with a gate.',
    [
      ['plan-gate open', 'the worktree of the current folder'],
      ['plan-gate open --list', 'which worktrees there are, and where their plans stand'],
      ['plan-gate open login', 'carries out an approved plan; continues an open one'],
      ['plan-gate open login -- --continue', 'the last session of the worktree login'],
      ['plan-gate open login -- --resume', 'choose a session'],
    ],
    'Claude Code started by hand has the hooks of the gate, too, but not all of its protection: see SECURITY.md.',
  )
    .argument('[folder]', 'the worktree, also by its name or branch (default: the current one, or the only one)')
    .argument('[claude-flags...]', 'after --: passed to claude unchanged')
    .option('--list', 'list the worktrees that have a gate, with where their plans stand, and start nothing')
    .option('--trust', 'load what the repository brings (hooks, servers, skills …) without a question')
    .option('--allow-old-client', 'go on with an old Claude Code, where less holds')
    .option('--json', 'one JSON object a line on stdout')
    .action(async (worktree: string | undefined, claudeFlags: string[], flags: OpenFlags) => {
      const terminal = openTerminal(flags.json === true)
      const { file, passedOn } = splitArguments(worktree, claudeFlags)
      const isUnclear = file === null && flags.list !== true && (await isAmbiguous(process.cwd()))
      if (flags.list === true || isUnclear) printWorktrees(await listGated(process.cwd()), terminal)
      if (flags.list === true) return
      if (isUnclear)
        throw new UserError('Several worktrees have a gate, and none was named.', 'Name one: plan-gate open <name>.')
      const { trust = false, allowOldClient = false } = flags
      const options = { name: file, trust, ask: askOnTerminal(terminal), allowOldClient, claudeFlags: passedOn }
      printResult(await open(process.cwd(), options, progressPrinter(terminal)), terminal)
    })

function printWorktrees(worktrees: readonly GatedWorktree[], terminal: Terminal): void {
  if (terminal.json)
    for (const each of worktrees) terminal.out(JSON.stringify({ event: 'worktree', ...worktreeHere(each) }))
  else if (worktrees.length === 0)
    terminal.say('No worktree of this repository has a gate. Open one: plan-gate bootstrap --name <name>.')
  else printLines(worktreeLines(worktrees), terminal)
}

/** Commander drops the `--`, so `bootstrap -- --model opus` would take `--model` for the strategy. */
function splitArguments(
  strategy: string | undefined,
  rest: readonly string[],
): { file: string | null; passedOn: string[] } {
  const marker = process.argv.indexOf('--')
  const afterMarker = marker === -1 ? [] : process.argv.slice(marker + 1)
  const all = [...(strategy === undefined ? [] : [strategy]), ...rest]
  const before = all.slice(0, all.length - afterMarker.length)
  return { file: before[0] ?? null, passedOn: [...before.slice(1), ...afterMarker] }
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
