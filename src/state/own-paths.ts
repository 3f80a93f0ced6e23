export const planPath = 'docs/plan.md'

/** Our skills; whoever can rewrite them can tell Claude to go round the gate. */
export const ownSkills = ['plan-with-review', 'implement-approved-plan'] as const

const files = [planPath, '.claude/settings.json', '.claude/settings.local.json', '.claude/.gitignore']

const folders = ['.claude/review/', '.claude/hooks/plan-gate/', ...ownSkills.map((name) => `.claude/skills/${name}/`)]

/** The plan may change, and what is ours (or Claude Code's own) is compared with the install: neither is drift. */
export const isOwnPath = (path: string): boolean =>
  files.includes(path) || folders.some((folder) => path.startsWith(folder))

/** Where the bundles stand in a worktree. */
export const hooksDir = '.claude/hooks/plan-gate'

/** What plan-gate keeps in a worktree. Every path is relative to the worktree's root and uses `/`. */
export const reviewDir = '.claude/review'

export const reviewPaths = {
  ignore: `${reviewDir}/.gitignore`,
  lock: `${reviewDir}/.lock`,
  ledgerLock: `${reviewDir}/.ledger.lock`,
  approval: `${reviewDir}/approval.json`,
  /** An approval that ended while its cycle could not be archived. */
  revoked: `${reviewDir}/approval.revoked.json`,
  thread: `${reviewDir}/codex_thread_id`,
  threadUse: `${reviewDir}/codex_thread_use.json`,
  counter: `${reviewDir}/version_counter`,
  handled: `${reviewDir}/handled.json`,
  replacedPlan: `${reviewDir}/plan_replaced.md`,
  progress: `${reviewDir}/progress.json`,
  ledger: `${reviewDir}/events.jsonl`,
  passes: `${reviewDir}/passes`,
  sessions: `${reviewDir}/sessions`,
  history: `${reviewDir}/history`,
} as const

export const revisionPath = (revision: number, part: RevisionPart, folder: string = reviewDir): string =>
  `${folder}/plan_v${revision}.${part}`

export type RevisionPart = 'snapshot.md' | 'codex.json' | 'annotated.md'

export const passPath = (revision: number, pass: number): string =>
  `${reviewPaths.passes}/plan_v${revision}.pass-${pass}.json`

/** Where a finished cycle lies. `readApproval`, `listRevisions` and `readRevision` read there as well. */
export const cyclePath = (cycle: number): string => `${reviewPaths.history}/cycle-${String(cycle).padStart(4, '0')}`

/** Our folder inside a git directory: out of every working tree, and gone with the worktree. */
export const gitDirFolder = 'plan-gate'
