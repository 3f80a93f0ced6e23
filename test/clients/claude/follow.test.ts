import { afterEach, describe, expect, it } from 'vitest'
import { readEvents } from '../../../src/state/ledger.ts'
import { planText, verdict } from '../../support/plan-texts.ts'
import { type ReviewedWorktree, reviewedWorktree } from '../../support/reviewed-worktree.ts'
import { type ClaudeRun, runClaude } from '../../support/run-claude.ts'
import type { ToolUse } from '../../support/servers/messages-api.ts'
import type { Turn } from '../../support/servers/responses-api.ts'

let worktree: ReviewedWorktree | undefined
afterEach(() => worktree?.remove())

const plan = planText(undefined, '- `src/hello.ts` (new): print hello.')
const judges = (text: string): Turn => ({ kind: 'model', text })
const approves = verdict({ verdict: 'APPROVED' })
const misspelt = judges('FAIL\n- src/hello.ts:1: hello is misspelt; say "hello".')

/** Both real clients, offline: a plan is approved, and then the reviewer follows what is done with it. */
describe.each(['newest', 'oldest'] as const)('%s Claude Code and the real Codex, after approval', (client) => {
  const run = async (reviewer: readonly Turn[], turns: (write: Writing) => ClaudeRun['turns'], more = {}) => {
    worktree = await reviewedWorktree(reviewer, undefined, 'codex', true)
    const { at, root, env, home } = worktree
    const write: Writing = (path, content) => ({ name: 'Write', input: { file_path: at(path), content } })
    const options = { client, cwd: root, env: { ...env, HOME: home }, home, timeoutMs: 90_000, ...more }
    return { ...worktree, outcome: await runClaude({ ...options, turns: turns(write) }) }
  }

  it('a wrong edit is told, the same one costs no call, the right one clears it, and Claude may stop', async () => {
    const { outcome, api, root } = await run([approves, misspelt, judges('PASS'), judges('PASS')], (write) => [
      { tools: [write('docs/plan.md', plan)] },
      { tools: [write('src/hello.ts', 'console.log("helo")\n')] },
      { tools: [write('src/hello.ts', 'console.log("helo")\n')] },
      { tools: [write('src/hello.ts', 'console.log("hello")\n')] },
      { text: 'It prints hello now.' },
    ])
    const heard = outcome.feedback.filter((text) => /second reviewer|is cleared/.test(text))
    expect(heard).toHaveLength(3)
    expect(heard).toEqual([
      expect.stringMatching(/the change to src\/hello\.ts: FAIL\.\n {2}- src\/hello\.ts:1: hello is misspelt/),
      expect.stringMatching(/This verdict is cached[\s\S]*hello is misspelt/),
      expect.stringMatching(/the open finding about the change to src\/hello\.ts is cleared/),
    ])
    expect(outcome.feedback.join('\n')).not.toMatch(/do not stop yet/)
    // The plan, the wrong edit, the right one, the final review.
    expect(api.requests).toHaveLength(4)
    expect(reflectionsIn(root)).toEqual([
      ['change', 'src/hello.ts', 'FAIL'],
      ['change', 'src/hello.ts', 'PASS'],
      ['stop', 'the work as a whole', 'PASS'],
    ])
  }, 120_000)

  it('with the finding left open Claude is kept from stopping once, without a call, and then let go', async () => {
    const { outcome, api } = await run([approves, misspelt], (write) => [
      { tools: [write('docs/plan.md', plan)] },
      { tools: [write('src/hello.ts', 'console.log("helo")\n')] },
      { text: 'It is done.' },
      { text: 'I leave it as it is.' },
    ])
    expect(outcome.exitCode).toBe(0)
    const held = outcome.feedback.filter((text) => text.includes('do not stop yet'))
    // The clients pass the reason of one block on twice, in different words of their own.
    expect(held).toHaveLength(2)
    for (const text of held) expect(text).toMatch(/src\/hello\.ts: FAIL\n {2}- src\/hello\.ts:1: hello is misspelt/)
    expect(api.requests).toHaveLength(2)
    expect(outcome.stdout).toContain('I leave it as it is.')
  }, 120_000)

  it('what a failed command means is found out in the background, and told with a later request', async () => {
    const bash = (command: string): ToolUse => ({ name: 'Bash', input: { command, description: 'try it' } })
    const means = judges('FAIL\n- src/hello.ts:1: it exports nothing; export greet.')
    const { outcome, root } = await run([approves, means, judges('PASS')], (write) => [
      { tools: [write('docs/plan.md', plan)] },
      { tools: [bash('echo "no export named greet"; exit 7')] },
      { tools: [bash('until grep -q reflected .claude/review/events.jsonl; do sleep 0.1; done; sleep 1')] },
      { tools: [bash('sleep 1')] },
      { text: 'It is done.' },
    ])
    const told = outcome.requests.map(({ messages }) => JSON.stringify(messages)).at(-1) ?? ''
    expect(/the failure of `echo[^`]*`: FAIL[\s\S]*it exports nothing/.test(told)).toBe(true)
    expect(reflectionsIn(root)[0]).toEqual(['failure', 'echo "no export named greet"; exit 7', 'FAIL'])
  }, 120_000)

  it('what a second reader would keep of the session goes into the request for its summary', async () => {
    const points = judges('- src/hello.ts: the test for an empty name is still missing.')
    const { outcome, home, root, env, api } = await run([approves, points], (write) => [
      { tools: [write('docs/plan.md', plan)] },
      { text: 'The plan is approved; the test for an empty name comes next.' },
    ])
    expect(outcome.exitCode).toBe(0)
    // Claude stops to ask whether to start; there is nothing to look at yet.
    expect(api.requests).toHaveLength(1)
    const compacted = await runClaude({
      ...{ client, cwd: root, env: { ...env, HOME: home }, home, timeoutMs: 60_000 },
      prompt: '/compact',
      args: ['--continue'],
      turns: [],
    })
    const asked = compacted.requests.map(({ messages }) => JSON.stringify(messages))
    expect(asked.some((text) => text.includes('the test for an empty name is still missing'))).toBe(true)
  }, 120_000)
})

type Writing = (path: string, content: string) => ToolUse

function reflectionsIn(root: string): unknown[][] {
  const read = readEvents(root)
  const events = read.kind === 'read' ? read.events : []
  return events.filter(({ type }) => type === 'reflected').map(({ kind, about, verdict }) => [kind, about, verdict])
}
