import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { Status } from '../../../src/schemas/status.ts'
import { appendEvent } from '../../../src/state/ledger.ts'
import { reviewPaths } from '../../../src/state/own-paths.ts'
import { runCli } from '../../support/run-cli.ts'
import { snapshotTree } from '../../support/snapshot-tree.ts'
import { temporaryRepo, write } from '../../support/temporary-repo.ts'

/** Five events, one of them in a line that was overwritten. */
async function damaged(line: number, by: string): Promise<string> {
  const cwd = temporaryRepo()
  await runCli(['install', '--reviewer', 'checklist'], { cwd })
  for (const cycle of [1, 2, 3, 4]) await appendEvent(cwd, { type: 'cycle-started', cycle })
  const lines = readFileSync(`${cwd}/${reviewPaths.ledger}`, 'utf8').split('\n')
  lines[line - 1] = by
  write(cwd, { [reviewPaths.ledger]: lines.join('\n'), 'docs/plan.md': '# Plan\n' })
  return cwd
}

const commands: readonly (readonly [args: readonly string[], so: string])[] = [
  [['findings'], 'so not every finding is known'],
  [['log'], 'so events may be missing'],
  [['log', '-n', '4'], 'so events may be missing'],
  [['waive', 'F1', '--reason', 'x'], 'so nothing was changed'],
  [['waive', 'F1', '--undo'], 'so nothing was changed'],
  [['continue'], 'so nothing was changed'],
  [['approve', '--force', '--reason', 'x'], 'so nothing was approved'],
]

it.each([
  { what: 'garbage', line: 3, by: 'garbage', why: 'it is not an event, and no torn-line event covers it' },
  { what: 'two megabytes', line: 2, by: 'x'.repeat(2_000_000), why: 'it is longer than any event' },
])('a ledger with a line of $what is said to be damaged by every command that relies on it', async (each) => {
  const cwd = await damaged(each.line, each.by)
  const problem = `.claude/review/events.jsonl is damaged in line ${each.line}: ${each.why}`
  const { problems, next_step } = JSON.parse((await runCli(['status', '--json'], { cwd })).stdout) as Status
  expect({ problems, next_step }).toEqual({
    problems: [problem],
    next_step: {
      state: 'damaged',
      text: `What the reviews found, and what you decided, is not certain: ${problem}.`,
      command: expect.stringMatching(/ doctor$/),
    },
  })
  const before = snapshotTree(cwd)
  for (const [args, so] of commands) {
    const { stderr } = await runCli(args, { cwd, exitCode: 1 })
    expect(stderr).toMatch(
      new RegExp(`^plan-gate: ${problem}, ${so}\\.\n {2}→ \`.* install\` keeps it, and carries over what you decided`),
    )
  }
  expect(snapshotTree(cwd)).toEqual(before)
  expect((await runCli(['log', '-n', '1'], { cwd })).stdout).toMatch(/cycle 4 started/)
})
