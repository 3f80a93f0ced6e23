import { gatedWorktree } from '../../../support/gated-worktree.ts'
import { planText } from '../../../support/plan-texts.ts'
import { mustBeWhole } from '../must-be-whole.ts'
import { fireHook, medianOf, type Ran, runCommand } from '../run-measured.ts'
import { must, type Scenario } from '../scenario.ts'
import { tinyReviewer } from '../tiny-reviewer.ts'

/** A plan up to about what `plan.max_tokens` lets through: reviewed twice, gated, shown. */
export const largePlan: Scenario = {
  name: 'a large plan',
  unit: 'kB',
  sizes: { full: [9, 30, 120], quick: [9, 90] },
  run: async (size) => {
    const reviewer = tinyReviewer()
    const worktree = await gatedWorktree(
      { 'src/app.ts': 'export {}\n', 'plan-gate.yaml': reviewer.config },
      { reviewer: null, reflect: false },
    )
    try {
      const { root, at, write } = worktree
      const save = async (text: string, revision: number): Promise<Ran> => {
        write('docs/plan.md', text)
        const ran = await fireHook(root, 'post-tool-use', {
          hook_event_name: 'PostToolUse',
          tool_name: 'Write',
          tool_input: { file_path: at('docs/plan.md'), content: text },
          tool_response: {},
        })
        must(ran.stdout.includes(`revision ${revision} of docs/plan.md is not approved`), ran.stdout.slice(0, 500))
        return ran
      }
      const text = planText(stepsOf(size))
      const first = await save(text, 1)
      const second = await save(text.replace(/Step 17:.*/, 'Step 17: this one is clear now.'), 2)
      must(worktree.read('.claude/review/plan_v1.snapshot.md') === text, 'the snapshot is not the plan')
      const events = await mustBeWhole(root, { approved: false })
      must(events.filter(({ type }) => type === 'reviewed').length === 2, 'a review is not on record')
      must(reviewer.mostSent() < 200_000, `the reviewer was sent ${reviewer.mostSent()} bytes`)
      const ask = () =>
        fireHook(
          root,
          'pre-tool-use',
          { hook_event_name: 'PreToolUse', tool_name: 'Write', tool_input: { file_path: at('src/a.ts') } },
          { exitCodes: [2] },
        )
      return [
        { what: 'the first review', ...first },
        { what: 'the review of a change', ...second },
        { what: 'the gate', ...(await medianOf(3, ask)) },
        { what: 'diff v1 v2', ...(await medianOf(1, () => runCommand(root, ['diff', 'v1', 'v2']))) },
        { what: 'status', ...(await medianOf(1, () => runCommand(root, ['status']))) },
      ]
    } finally {
      worktree.remove()
      reviewer.remove()
    }
  },
}

function stepsOf(kilobytes: number): string {
  const lines: string[] = []
  for (let length = 0, n = 1; length < kilobytes * 1000; n += 1) {
    const line = `Step ${n}: the function at line ${n * 7} of module ${n % 97} takes argument number ${n % 13} by value.`
    lines.push(line)
    length += line.length + 1
  }
  return lines.join('\n')
}
