import { type Command, InvalidArgumentError, Option } from 'commander'
import { type Discardable, discardables, finish, obstaclesLeft } from '../../bootstrap/finish.ts'
import type { FinishOutput } from '../schemas/output.ts'
import { printable } from '../text/clean.ts'
import { shellWord } from '../text/own-commands.ts'
import { newCommand } from './new-command.ts'
import { openTerminal, type Terminal } from './terminal.ts'

type Flags = { archive?: string; keepBranch?: boolean; discard: Discardable[]; dryRun?: boolean; json?: boolean }

export const finishCommand = (): Command =>
  newCommand(
    'finish',
    'Archive the reviews of a worktree that bootstrap opened, then remove it and its branch.',
    [
      ['plan-gate finish', 'the worktree of the current folder'],
      ['plan-gate finish login --dry-run', 'what would happen'],
      'plan-gate finish --keep-branch --archive ~/reviews/login',
      ['plan-gate finish --discard unmerged', 'discard the branch'],
    ],
    `It refuses while work is uncommitted or unmerged, or while a session or a program runs there, and lists them.
Exit code: 0 done, 1 wait and try again, 2 something blocks it that you can fix.`,
  )
    .argument('[folder]', 'the worktree, or its name or branch (default: the one of the current folder)')
    .option('--archive <folder>', 'where the reviews go (default: plan-gate-archive in the git directory)')
    .option('--keep-branch', 'remove the worktree only; its commits need not be merged')
    .addOption(
      new Option('--discard <what>', 'discard this; repeatable')
        .choices(discardables)
        .argParser(collectDiscards)
        .default([], 'nothing'),
    )
    .option('--dry-run', 'print what would be removed and what blocks it, and change nothing')
    .option('--json', 'the result as JSON on stdout')
    .action(run)

function collectDiscards(given: string, before: Discardable[]): Discardable[] {
  const known = discardables.find((name) => name === given)
  if (known === undefined) throw new InvalidArgumentError(`Allowed choices are ${discardables.join(', ')}.`)
  return [...before, known]
}

async function run(folder: string | undefined, flags: Flags): Promise<void> {
  const terminal = openTerminal(flags.json === true)
  const { archive = null, keepBranch = false, discard, dryRun = false } = flags
  const options = { worktree: folder ?? null, archive, keepBranch, discard, dryRun }
  const output = await finish(process.cwd(), options, new Date())
  if (terminal.json) terminal.out(JSON.stringify(output satisfies FinishOutput))
  else if (output.kind === 'dry-run') for (const line of dryRunLines(output, discard, terminal)) terminal.out(line)
  else for (const line of doneLines(output, discard)) terminal.note(whole(line))
  if (output.kind === 'dry-run' && obstaclesLeft(output.obstacles, discard).length > 0) process.exitCode = 2
}

function doneLines(output: FinishOutput, discard: readonly Discardable[]): string[] {
  const { worktree, branch, branch_is_kept, head, merged_into, archive, goes_with_it, in_main, notes, cd } = output
  const isLost = discard.includes('unmerged') && merged_into === null && !branch_is_kept
  const ignored = goes_with_it.length === 0 ? '' : `, with ${listed(goes_with_it)}`
  const same = in_main.length === 0 ? '' : ` (the main checkout has the same ${listed(in_main)})`
  return [
    ...(archive === null ? [] : [`archived  ${archive}`]),
    ...keptLines('kept      ', output),
    `removed   ${worktree}${ignored}${same}`,
    ...branchLines('deleted   ', output),
    ...(isLost && branch !== null && head !== null
      ? [`To restore it while git keeps its commits: git branch ${shellWord(branch)} ${head}`]
      : []),
    ...notes,
    ...(cd === null ? [] : ['', `The current folder was removed: cd ${shellWord(cd)}`]),
  ]
}

const keptLines = (label: string, { kept, kept_in }: FinishOutput): string[] =>
  kept_in === null ? [] : [`${label}${listed(kept)}, which git ignores: ${kept_in}`]

const branchLines = (label: string, { branch, branch_is_kept, merged_into }: FinishOutput): string[] =>
  branch === null || branch_is_kept
    ? []
    : [`${label}${branch}${merged_into === null ? '' : `, merged into ${merged_into}`}`]

/** There may be names of files in any of them. */
const whole = (line: string): string => printable(line, Number.POSITIVE_INFINITY)

const maxListed = 20

const listed = (paths: readonly string[]): string =>
  [...paths.slice(0, maxListed), ...(paths.length > maxListed ? [`${paths.length - maxListed} more`] : [])].join(', ')

function dryRunLines(output: FinishOutput, discard: readonly Discardable[], { paintOut }: Terminal): string[] {
  const { worktree, archive, obstacles, goes_with_it, in_main, notes } = output
  const lines = [
    `archive  ${archive}`,
    ...keptLines('keep     ', output),
    `remove   ${worktree}`,
    ...(goes_with_it.length === 0 ? [] : [`         with files that git ignores: ${listed(goes_with_it)}`]),
    ...(in_main.length === 0 ? [] : [`         (the main checkout has the same ${listed(in_main)})`]),
    ...branchLines('delete   ', output),
    ...notes,
  ]
  const left = obstaclesLeft(obstacles, discard)
  const blockers = obstacles.flatMap(({ kind, what, items, next_step }) => {
    const isLeft = left.some((each) => each.kind === kind)
    return [
      isLeft ? paintOut('red', whole(what)) : `${whole(what)} It will be discarded.`,
      ...items.map((item) => `    ${whole(item)}`),
      ...(isLeft ? [`  → ${whole(next_step)}`] : []),
    ]
  })
  return [...lines.map(whole), ...blockers, '', 'Nothing was changed.']
}
