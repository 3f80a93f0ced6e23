import { createHash } from 'node:crypto'
import { type GatedWorktree, gatedWorktree } from '../../../support/gated-worktree.ts'
import { fillLedger } from '../fill-ledger.ts'
import { mustBeWhole } from '../must-be-whole.ts'
import { fireHook, medianOf, type Ran, runCommand } from '../run-measured.ts'
import { must, type Scenario } from '../scenario.ts'

/** A record as long as years of work make it; each hook and command that has to do with it. */
export const longLedger: Scenario = {
  name: 'a long ledger',
  unit: 'lines',
  sizes: { full: [1_000, 10_000, 100_000], quick: [300, 3_000] },
  run: async (size) => {
    const worktree = await gatedWorktree()
    try {
      const { root } = worktree
      worktree.write('docs/plan.md', '# Plan\n')
      worktree.approve()
      await fireHook(root, 'session-start', { hook_event_name: 'SessionStart', source: 'startup' })
      const noted = linesIn(worktree)
      fillLedger(root, size - noted, (i) => ({
        type: 'reflected',
        session: 's',
        kind: 'change',
        about: `src/file-${i}.ts`,
        duration_ms: i,
        verdict: 'PASS',
        tokens: 1000,
      }))
      const rows = [
        { what: 'after a command, approved by hand', ...(await medianOf(3, () => afterCommand(worktree))) },
        { what: 'status', ...(await medianOf(3, () => runCommand(root, ['status']))) },
        { what: 'log -n 5', ...(await medianOf(3, () => lastOfLog(root))) },
        { what: 'verify', ...(await medianOf(1, () => runCommand(root, ['verify'], { exitCodes: [0, 1] }))) },
      ]
      const before = linesIn(worktree)
      const refused = await runCommand(root, ['approve', '--force', '--reason', 'again'], { exitCodes: [2] })
      must(refused.stderr.includes('approved already'), 'the approval was lost')
      worktree.write('docs/plan.md', '# Another plan\n')
      const append = await fireHook(root, 'session-start', { hook_event_name: 'SessionStart', source: 'startup' })
      const events = await mustBeWhole(root, { approved: false })
      must(events.length > before, 'the end of the cycle was not appended')
      const kept = events.filter(({ type }) => type === 'reflected').length
      must(kept === size - noted, `of ${size - noted} events ${kept} are left`)
      return [...rows, { what: 'the end of a cycle appended', ...append }]
    } finally {
      worktree.remove()
    }
  },
}

const linesIn = (worktree: GatedWorktree): number => worktree.read('.claude/review/events.jsonl').split('\n').length - 1

async function afterCommand({ root, read }: GatedWorktree): Promise<Ran> {
  const ran = await fireHook(root, 'post-tool-use', {
    hook_event_name: 'PostToolUse',
    tool_name: 'Write',
    tool_input: { file_path: `${root}/src/a.ts`, content: '' },
    tool_response: {},
  })
  must(ran.stdout === '', `the hook said ${ran.stdout}`)
  const hash = createHash('sha256').update('# Plan\n').digest('hex')
  must(read('.claude/review/approval.json').includes(hash), 'the approval was lost')
  return ran
}

async function lastOfLog(root: string): Promise<Ran> {
  const ran = await runCommand(root, ['log', '-n', '5'])
  must(ran.stdout.trim().split('\n').length === 5, 'log -n 5 shows another number of lines')
  return ran
}
