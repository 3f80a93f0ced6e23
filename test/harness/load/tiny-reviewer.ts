import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { mustBeWhole } from './must-be-whole.ts'
import { fireHook } from './run-measured.ts'
import { must } from './scenario.ts'

/** A `model-invoke` that answers at once, so that only plan-gate's own work is measured, and counts what it is sent. */
export type TinyReviewer = { config: string; asked: () => number; mostSent: () => number; remove: () => void }

/** In a worktree whose changes it looks at, once there is an approved plan. */
export async function withTinyReviewer<T>(
  work: (worktree: GatedWorktree, reviewer: TinyReviewer) => Promise<T>,
): Promise<T> {
  const reviewer = tinyReviewer()
  const files = { 'src/app.ts': 'export {}\n', 'plan-gate.yaml': reviewer.config }
  const worktree = await gatedWorktree(files, { reviewer: null, reflect: true })
  try {
    return await work(worktree, reviewer)
  } finally {
    worktree.remove()
    reviewer.remove()
  }
}

/** A plan is approved, and a session begins. */
export async function beginApproved({ root, write, approve }: GatedWorktree): Promise<void> {
  write('docs/plan.md', '# Plan\n')
  approve()
  await fireHook(root, 'session-start', { hook_event_name: 'SessionStart', source: 'startup' })
}

export async function mustHaveReflected(root: string): Promise<void> {
  const events = await mustBeWhole(root, { approved: true })
  const isOnRecord = events.some(({ type }) => type === 'reflected')
  must(isOnRecord, 'what the second reviewer was asked is not on record')
}

export function tinyReviewer(): TinyReviewer {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'load-reviewer-')))
  const [program, log, verdict] = ['model-invoke', 'asked', 'verdict.json'].map((name) => join(folder, name))
  if (program === undefined || log === undefined || verdict === undefined) throw new Error('no names')
  mkdirSync(folder, { recursive: true })
  writeFileSync(log, '')
  writeFileSync(
    verdict,
    JSON.stringify({
      context_summary: 'A long one.',
      complexity: { risk_area_count: 0, files_affected: 1, scope_category: 'low' },
      verdict: 'CHANGES_REQUIRED',
      is_optimal: false,
      summary: 'The reviewer wants to see more of it.',
      question: null,
      findings: [
        { id: null, severity: 'major', section: '## Approach', problem: 'Unclear.', evidence: 'All.', fix: 'Say it.' },
      ],
      previous_findings: [],
    }),
  )
  // A question for a verdict says so in its instructions; any other is answered by PASS.
  writeFileSync(
    program,
    `#!/bin/sh
while [ $# -gt 0 ]; do case "$1" in --input) input=$2 ;; --system) system=$2 ;; esac; shift; done
wc -c < "$input" >> ${log}
if grep -q is_optimal "$system" "$input"; then cat ${verdict}; else echo PASS; fi
`,
  )
  chmodSync(program, 0o755)
  const sent = (): number[] => readFileSync(log, 'utf8').split('\n').filter(Boolean).map(Number)
  return {
    config: JSON.stringify({
      hounfour: { flatline_routing: true, model_invoke: program },
      review: { routes: [{ backend: 'hounfour', when: ['always'], capabilities: ['basic'], fail_mode: 'hard_fail' }] },
    }),
    asked: () => sent().length,
    mostSent: () => Math.max(0, ...sent()),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
