/**
 * Every path that is plan-gate's own. Paths in a worktree are relative to its root, those below `gitDirFolder` to its git
 * directory; all use `/`.
 */
export const planPath = 'docs/plan.md'

/** Longer plans are refused wherever one is read whole. */
export const maxPlanBytes = 64 * 1024 * 1024
export const configFile = 'plan-gate.yaml'

/** Skills that plan-gate installs; an edited skill could tell Claude to bypass the gate. */
export const ownSkills = ['plan-with-review', 'implement-approved-plan'] as const
export const ownSkillDirs: readonly string[] = ownSkills.map((name) => `.claude/skills/${name}`)
export const ownSkillFiles: readonly string[] = /* @__PURE__ */ ownSkillDirs.map((dir) => `${dir}/SKILL.md`)
export const sharedSettings = '.claude/settings.json'
export const localSettings = '.claude/settings.local.json'

/** Claude Code's settings in a worktree: hooks of plan-gate are registered in one of them. */
export const settingsFiles = [sharedSettings, localSettings] as const

/** Keeps installed files out of `git status`. */
export const ignorePath = '.claude/.gitignore'

export const hooksDir = '.claude/hooks/plan-gate'

/** Hooks that run on nearly every call, with the bundles that have a V8 code cache beside them for such calls. */
export const cachedWith: { readonly [hook: string]: readonly string[] } = {
  'pre-tool-use': ['pre-tool-use', 'check-commands', 'parse-command'],
  'post-tool-use': ['post-tool-use'],
}
export const cachedFiles: readonly string[] = Object.values(cachedWith).flat()

/** The bundles that the entries in the settings start. */
export const hookFiles: readonly string[] = ['pre-tool-use', 'post-tool-use', 'session-events']

/** Loaded by the hooks on demand, each perhaps by those behind it. */
export const lazyFiles: readonly string[] = ['parse-command', 'check-commands', 'reviews']
export const statusLineFile = 'status-line'

export const bundleNames: readonly string[] = [...cachedFiles, 'session-events', 'reviews', statusLineFile]

/** In `hooksDir`. What runs rarely is compressed, 580 kB of 1.5 MB in a worktree: a review takes minutes, and this 3 ms. */
export const bundleFile = (name: string): string =>
  name === statusLineFile || cachedFiles.includes(name) ? `${name}.mjs` : `${name}.mjs.br`
export const bundlePath = (name: string): string => `${hooksDir}/${bundleFile(name)}`

export const compiledConfigPath = `${hooksDir}/config.json`
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

/** Inside a git directory: outside every working tree, and removed with the worktree. */
export const gitDirFolder = 'plan-gate'
/** The command sandbox: the wrapper, its engine and what the profiles are made of. */
export const sandboxDir = `${gitDirFolder}/sandbox`
export const launchesDir = `${gitDirFolder}/launches`
/** The environment variable that names a launch. No settings file can forge it: the nonce is new for each. */
export const launchVariable = 'PLAN_GATE_LAUNCH'
/** In Claude Code's own folder of the user. */
export const gatesDir = 'plan-gate/gates'
export const installRecordPath = `${gitDirFolder}/install.json`
/** In the git directory that all worktrees share: what `plan-gate calibrate` has paid for. */
export const calibrationDir = `${gitDirFolder}/calibration`
export const passTimesPath = `${gitDirFolder}/pass-times.json`

/** Neither the plan nor what is compared with the install counts as drift. */
export const isOwnPath = (path: string): boolean =>
  [planPath, ...settingsFiles, ignorePath].includes(path) ||
  [reviewDir, hooksDir, ...ownSkillDirs].some((folder) => path.startsWith(`${folder}/`))
