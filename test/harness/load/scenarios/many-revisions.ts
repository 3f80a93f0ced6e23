import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { reviewDir, revisionPath } from '../../../../src/state/own-paths.ts'
import { listRevisions } from '../../../../src/state/revisions.ts'
import { type GatedWorktree, gatedWorktree } from '../../../support/gated-worktree.ts'
import { planText } from '../../../support/plan-texts.ts'
import { fillLedger } from '../fill-ledger.ts'
import { mustBeWhole } from '../must-be-whole.ts'
import { fireHook, medianOf, type Ran, runCommand } from '../run-measured.ts'
import { must, type Scenario } from '../scenario.ts'

/** So many revisions in one cycle, each with a finding, as no limit would let them come about; then one more. */
export const manyRevisions: Scenario = {
  name: 'revisions in one store',
  unit: 'revisions',
  sizes: { full: [10, 100, 1_000], quick: [10, 60] },
  run: async (size) => {
    const worktree = await gatedWorktree({ 'plan-gate.yaml': 'plan: {max_revisions: 100}\n', 'src/app.ts': '' })
    try {
      const { root } = worktree
      fill(worktree, size)
      const rows = [
        { what: 'status', ...(await medianOf(3, () => runCommand(root, ['status']))) },
        { what: 'log -n 5', ...(await medianOf(3, () => runCommand(root, ['log', '-n', '5']))) },
        { what: 'diff v1', ...(await medianOf(3, () => runCommand(root, ['diff', 'v1', `v${size}`]))) },
        { what: 'verify', ...(await medianOf(1, () => verify(root, size))) },
      ]
      worktree.write('docs/plan.md', planOf(size + 1))
      const written = await fireHook(root, 'post-tool-use', {
        hook_event_name: 'PostToolUse',
        tool_name: 'Write',
        tool_input: { file_path: worktree.at('docs/plan.md'), content: '' },
        tool_response: {},
      })
      must(written.stdout.includes(`revision ${size + 1} of docs/plan.md is approved`), written.stdout.slice(0, 300))
      must(listRevisions(root).length === size + 1, 'a revision was lost')
      for (let revision = 1; revision <= size; revision += 1)
        must(worktree.read(revisionPath(revision, 'snapshot.md')) === planOf(revision), `v${revision} is another`)
      const events = await mustBeWhole(root, { approved: true })
      const types = ['revision-submitted', 'reviewed']
      const kept = events.filter(({ type, revision }) => types.includes(type) && Number(revision) <= size).length
      must(kept === 2 * size, `of ${2 * size} events ${kept} are left`)
      return [...rows, { what: 'a review of one more', ...written }]
    } finally {
      worktree.remove()
    }
  },
}

const planOf = (revision: number): string =>
  planText(`Change the line, as revision ${revision} says.\n\n${'A sentence of the plan.\n'.repeat(60)}`)

function fill({ root, at, write }: GatedWorktree, count: number): void {
  mkdirSync(at(reviewDir), { recursive: true })
  const findings = [finding(1)]
  for (let revision = 1; revision <= count; revision += 1) {
    writeFileSync(at(revisionPath(revision, 'snapshot.md')), planOf(revision))
    writeFileSync(at(revisionPath(revision, 'codex.json')), JSON.stringify(resultOf(revision, findings)))
  }
  write('.claude/review/version_counter', `${count}\n`)
  fillLedger(root, count * 2 + Math.ceil(count / 100), (i) => {
    const revision = Math.floor(i / 2) + 1
    if (revision > count) return { type: 'continued', revision: count }
    const plan_hash = createHash('sha256').update(planOf(revision)).digest('hex')
    return i % 2 === 0
      ? { type: 'revision-submitted', revision, plan_hash }
      : { type: 'reviewed', revision, plan_hash, verdict: 'CHANGES_REQUIRED', backend: 'codex', findings: 1 }
  })
}

const finding = (n: number) => ({
  id: `F${n}`,
  severity: 'minor',
  section: '## Approach',
  problem: 'What is printed is not said.',
  evidence: 'Change the line.',
  fix: 'Say it.',
})

const resultOf = (revision: number, findings: readonly object[]) => ({
  verdict: 'CHANGES_REQUIRED',
  is_optimal: false,
  summary: `Revision ${revision} is not clear enough yet.`,
  question: null,
  findings,
  previous_findings: [],
  plan_hash: createHash('sha256').update(planOf(revision)).digest('hex'),
  last_id: 1,
})

async function verify(root: string, count: number): Promise<Ran> {
  const ran = await runCommand(root, ['verify', '--json'], { exitCodes: [0, 1] })
  const held = [...ran.stdout.matchAll(/"name":"(ledger|revision \d+)","holds":true/g)].length
  must(held === count + 1, `${held} of ${count + 1} checks hold: ${ran.stdout.slice(0, 500)}`)
  return ran
}
