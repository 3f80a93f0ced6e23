import { launchSettings } from '../../../bootstrap/launch.ts'
import { gatedWorktree } from '../../support/gated-worktree.ts'
import { runClaude } from '../../support/run-claude.ts'
import { type Measured, round } from './measure.ts'

/**
 * What the sandbox adds to a command: sessions of the real client in turn, with and without the wrapper, the same hooks
 * in both. From one request of the client to the next is a whole tool call.
 */
export async function benchSandbox(
  rounds: number,
): Promise<Measured & { against: string; ratio: number; limit: number }> {
  const worktree = await gatedWorktree()
  try {
    if (worktree.installed.sandbox.kind !== 'holds') throw new Error(worktree.installed.sandbox.why)
    const settings = launchSettings(worktree.root, worktree.gitDirs)
    const without = { ...settings, env: { NODE_OPTIONS: '', CLAUDE_CODE_SHELL_PREFIX: '' } }
    const plain: number[] = []
    const sandboxed: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      sandboxed.push(...(await timesOfCalls(worktree.root, settings)))
      plain.push(...(await timesOfCalls(worktree.root, without)))
    }
    const [before, after] = [median(plain), median(sandboxed)]
    return {
      name: 'a command of the real client, in the sandbox',
      median_ms: round(after),
      spread_ms: round(quantile(sandboxed, 0.75) - quantile(sandboxed, 0.25)),
      against: `${round(before)} ms without it, and 12 ms`,
      ratio: round(after / (before + 12)),
      limit: 1,
    }
  } finally {
    worktree.remove()
  }
}

async function timesOfCalls(cwd: string, settings: object): Promise<number[]> {
  const at: number[] = []
  const calls = 15
  const outcome = await runClaude({
    client: 'newest',
    cwd,
    settings,
    turns: (_asked, n) => {
      at.push(performance.now())
      return n > calls
        ? { text: 'done' }
        : { tools: [{ name: 'Bash', input: { command: `ls ${'.'.repeat(1 + (n % 2))}`, description: 'x' } }] }
    },
  })
  if (outcome.exitCode !== 0) throw new Error(outcome.stderr)
  // The first is slower: the client makes its snapshot of the shell.
  return at.slice(2).map((time, index) => time - (at[index + 1] ?? time))
}

const quantile = (values: readonly number[], part: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * part)] ?? Number.NaN
const median = (values: readonly number[]): number => quantile(values, 0.5)
