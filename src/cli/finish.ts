import { type Discardable, finish, obstaclesLeft } from '../../bootstrap/finish.ts'
import type { FinishOutput } from '../schemas/output.ts'
import { present, printable } from '../text/clean.ts'
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
  else for (const line of linesOf(output, discard)) terminal.note(whole(line))
  if (output.kind === 'dry-run' && obstaclesLeft(output.obstacles, discard).length > 0) process.exitCode = 2
}

function linesOf(output: FinishOutput, discard: readonly Discardable[]): string[] {
  const { worktree, branch, branch_is_kept, head, merged_into, archive, goes_with_it, in_main, notes, cd } = output
  const isDone = output.kind === 'finished'
  const label = (done: string, would: string): string => (isDone ? done.padEnd(10) : would.padEnd(9))
  const deleted = branch_is_kept ? null : branch
  const isLost = isDone && discard.includes('unmerged') && merged_into === null
  const ignored =
    goes_with_it.length > 0 && `${isDone ? ', with ' : 'with files that git ignores: '}${listed(goes_with_it)}`
  const same = in_main.length > 0 && `(the main checkout has the same ${listed(in_main)})`
  return present(
    !(isDone && archive === null) && `${label('archived', 'archive')}${archive}`,
    output.kept_in && `${label('kept', 'keep')}${listed(output.kept)}, which git ignores: ${output.kept_in}`,
    `${label('removed', 'remove')}${worktree}${isDone ? `${ignored || ''}${same ? ` ${same}` : ''}` : ''}`,
    isDone ? [] : present(ignored, same).map((line) => label('', '') + line),
    deleted && `${label('deleted', 'delete')}${deleted}${merged_into === null ? '' : `, merged into ${merged_into}`}`,
    isLost && deleted && head && `To restore it while git keeps its commits: git branch ${shellWord(deleted)} ${head}`,
    notes,
    isDone && cd ? ['', `The current folder was removed: cd ${shellWord(cd)}`] : [],
  )
}

/** There may be names of files in any of them. */
const whole = (line: string): string => printable(line, Number.POSITIVE_INFINITY)

const maxListed = 20

const listed = (paths: readonly string[]): string =>
  [...paths.slice(0, maxListed), ...(paths.length > maxListed ? [`${paths.length - maxListed} more`] : [])].join(', ')

function dryRunLines(output: FinishOutput, discard: readonly Discardable[], { paintOut }: Terminal): string[] {
  const left = obstaclesLeft(output.obstacles, discard)
  const blockers = output.obstacles.flatMap(({ kind, what, items, next_step }) => {
    const isLeft = left.some((each) => each.kind === kind)
    return present(
      isLeft ? paintOut('red', whole(what)) : `${whole(what)} It will be discarded.`,
      items.map((item) => `    ${whole(item)}`),
      isLeft && `  → ${whole(next_step)}`,
    )
  })
  return [...linesOf(output, discard).map(whole), ...blockers, '', 'Nothing was changed.']
}
