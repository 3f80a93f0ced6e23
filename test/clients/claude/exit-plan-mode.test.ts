import { afterEach, describe, expect, it } from 'vitest'
import { finding, planText, verdict } from '../../support/plan-texts.ts'
import { type ReviewedWorktree, reviewedWorktree } from '../../support/reviewed-worktree.ts'
import { type ClaudeOutcome, runClaude } from '../../support/run-claude.ts'

let worktree: ReviewedWorktree | undefined
afterEach(() => worktree?.remove())

/** The plan files that plan mode has Claude write; the end of plan mode is then asked for, again and again. */
async function planIn(
  client: 'newest' | 'oldest',
  place: ReviewedWorktree,
  plans: readonly string[],
): Promise<ClaudeOutcome> {
  let file = ''
  return runClaude({
    client,
    cwd: place.root,
    home: place.home,
    env: { ...place.env, HOME: place.home },
    permissionMode: 'plan',
    interactive: true,
    timeoutMs: 100_000,
    turns: (request, turn) => {
      file = /\/[^\s"`\\]*\.claude\/plans\/[^\s"`\\]+\.md/.exec(JSON.stringify(request))?.[0] ?? file
      const plan = plans[Math.floor((turn - 1) / 2)]
      if (plan === undefined) return { text: 'done' }
      const written = { name: 'Write', input: { file_path: file, content: plan } }
      return { tools: [turn % 2 === 1 ? written : { name: 'ExitPlanMode', input: {} }] }
    },
  })
}

const endings = ({ toolResults }: ClaudeOutcome): [refused: boolean, text: string][] =>
  toolResults.filter(({ tool }) => tool === 'ExitPlanMode').map(({ isError, text }) => [isError, text])

describe.each(['newest', 'oldest'] as const)('the end of plan mode in the %s Claude Code', (client) => {
  it('is reached only with a plan that the reviewer approved, and opens the gate', async () => {
    worktree = await reviewedWorktree([
      // Longer than the time-out of the ordinary gate: this entry has one of its own.
      {
        ...verdict({ verdict: 'CHANGES_REQUIRED', findings: [finding('What is printed is not said.')] }),
        afterMs: 11_000,
      },
      verdict({ verdict: 'APPROVED', previous: [{ id: 'F1', status: 'fixed', reason: 'It says hello now.' }] }),
    ])
    const revised = planText('Change the line so that it prints hello.')
    const outcome = await planIn(client, worktree, [planText(), revised])
    expect(endings(outcome)).toEqual([
      [true, expect.stringContaining('What is printed is not said.')],
      [false, expect.not.stringContaining('plan-gate')],
    ])
    expect(worktree.read('docs/plan.md')).toBe(revised)
    expect(JSON.parse(worktree.read('.claude/review/approval.json'))).toMatchObject({
      is_optimal: true,
      review_version: 2,
    })
    expect(worktree.api.requests).toHaveLength(2)
  }, 120_000)

  it('is what it always was where plan.exit_plan_mode is off', async () => {
    worktree = await reviewedWorktree([verdict({ verdict: 'APPROVED' })], {
      'src/app.ts': 'export {}\n',
      'plan-gate.yaml': 'plan:\n  exit_plan_mode: "off"\n',
    })
    const outcome = await planIn(client, worktree, ['# Anything\n'])
    expect([endings(outcome).map(([refused]) => refused), worktree.api.requests.length]).toEqual([[false], 0])
  }, 60_000)
})
