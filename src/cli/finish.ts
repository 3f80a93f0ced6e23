import { type Discardable, finish, obstaclesLeft } from '../../bootstrap/finish.ts'
import type { FinishOutput } from '../schemas/output.ts'
import { printable } from '../text/clean.ts'
import { shellWord } from '../text/own-commands.ts'
import type { Run } from './command.ts'
import type { Terminal } from './terminal.ts'

export const finishCommand: Run<'finish'> = async (flags, terminal, [worktree = null]) => {
  // Each is one of the choices of the option.
  const discard = flags.discard as readonly Discardable[]
  const { archive, keepBranch, dryRun } = flags
  const options = { worktree, archive, keepBranch, discard, dryRun }
  const output = await finish(process.cwd(), options, new Date())
  if (terminal.json) terminal.answer(output, [])
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
