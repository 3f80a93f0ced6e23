import { beforeAll, expect, it } from 'vitest'
import type { Fault, FaultKind, Operation } from './fault-kinds.ts'
import type { Cell } from './judge-cell.ts'
import { runTable } from './run-table.ts'
import { scenes } from './scenes.ts'
import { describeCell } from './show-table.ts'
import { faultTrial } from './trials.ts'

type Row = {
  /** What was wrong. */
  readonly was: string
  readonly scene: string
  readonly kind: FaultKind
  /** Of the operations that are these, the last one where it says so, else each. */
  readonly name: string
  readonly target: RegExp
  readonly only?: 'last'
}

/** Cells of the table that were wrong once. An operation is found by what it does, since its number moves. */
const rows: readonly Row[] = [
  {
    was: 'a skill that could not be read was taken for one without commands, and was allowed',
    ...{ scene: 'PreToolUse: a skill that runs a command', kind: 'EIO' },
    ...{ name: 'lstat', target: /\.claude\/skills\/tidy$/ },
  },
  {
    was: 'folders of skills that could not be listed were taken for empty, and the skill was allowed',
    ...{ scene: 'PreToolUse: a skill that runs a command', kind: 'EMFILE' },
    ...{ name: 'readdir', target: /\.claude\/skills$/ },
  },
  {
    was: 'where git keeps its configuration could not be read, so another place was looked at, and git was allowed',
    ...{ scene: 'PreToolUse: git, reconfigured', kind: 'EACCES' },
    ...{ name: 'stat', target: /worktrees\/work\/commondir$/ },
  },
  {
    was: 'a folder of git hooks that could not be listed was taken for empty, and git was allowed',
    ...{ scene: 'PreToolUse: git, reconfigured', kind: 'EIO' },
    ...{ name: 'readdir', target: /\.git\/hooks$/ },
  },
  {
    was: 'without the install record nobody missed our hooks, and the settings without them were taken over',
    ...{ scene: 'ConfigChange: our hooks taken out', kind: 'EACCES' },
    ...{ name: 'open for reading', target: /plan-gate\/install\.json$/ },
  },
  {
    was: 'killed after it had put the gate back, it left nothing that would have ended the approval',
    ...{ scene: 'PostToolUse: the gate tampered with', kind: 'SIGKILL' },
    ...{ name: 'rename', target: /SKILL\.md|settings\.local\.json|approval\.json/ },
  },
  {
    was: 'an approval that could not be looked at outlived its cycle',
    ...{ scene: 'PostToolUse: the gate tampered with', kind: 'EIO' },
    ...{ name: 'lstat', target: /\.claude\/review\/approval\.json$/ },
  },
  {
    was: 'a baseline that could not be read was replaced, and the drift with it',
    ...{ scene: 'PostToolUse: drift', kind: 'EMFILE' },
    ...{ name: 'open for reading', target: /plan-gate\/tree\.json$/ },
  },
  {
    was: 'killed before the record, drift was told once and never put on record',
    ...{ scene: 'PostToolUse: drift', kind: 'SIGKILL' },
    ...{ name: 'mkdir', target: /\.ledger\.lock$/ },
  },
  {
    was: 'a hook of ours that could not be read was called altered, and the approval ended for it',
    ...{ scene: 'PostToolUse: an approval by hand', kind: 'EIO' },
    ...{ name: 'lstat', target: /hooks\/plan-gate\/reviews\.mjs\.br$/ },
  },
  {
    was: 'a plan that could not be read was called gone, and its approval revoked',
    ...{ scene: 'PostToolUse: an approval by hand', kind: 'EIO' },
    ...{ name: 'lstat', target: /docs\/plan\.md$/ },
  },
  {
    was: 'what was done under an approval was called drift, where git could not be asked as it ended',
    ...{ scene: 'PostToolUseFailure: the approved plan changed', kind: 'EIO' },
    ...{ name: 'spawnSync', target: /^git / },
  },
  {
    was: 'a cycle whose archive could not be made was never archived',
    ...{ scene: 'Stop: the approved plan changed', kind: 'ENOSPC on' },
    ...{ name: 'mkdir', target: /cycle-0001\.partial$/ },
  },
  {
    was: 'a cycle that was interrupted was not archived before the next save of the plan',
    ...{ scene: 'Stop: the approved plan changed', kind: 'EIO' },
    ...{ name: 'rename', target: /\.claude\/review\/passes$/ },
  },
  {
    was: 'an install that was killed before its last line was never put on record',
    ...{ scene: 'plan-gate install --reviewer (bare)', kind: 'SIGKILL', only: 'last' },
    ...{ name: 'mkdir', target: /\.ledger\.lock$/ },
  },
  {
    was: 'half-written files in the git directory stayed for good',
    ...{ scene: 'PostToolUse: nothing new', kind: 'SIGKILL' },
    ...{ name: 'fchmod', target: /\.seen-own-files/ },
  },
  {
    was: 'a folder that could not be looked at was taken for an empty record, and `verify` found all in order',
    ...{ scene: 'plan-gate verify (approved)', kind: 'EIO' },
    ...{ name: 'lstat', target: /\.claude\/review$/ },
  },
  {
    was: 'killed between the two, `drift accept` had accepted what is not on record',
    ...{ scene: 'plan-gate drift accept (drifted)', kind: 'SIGKILL' },
    ...{ name: 'mkdir', target: /\.ledger\.lock$/ },
  },
  {
    was: 'with no descriptor left for a program, a stack was shown',
    ...{ scene: 'plan-gate bootstrap --no-launch (bare)', kind: 'EMFILE', only: 'last' },
    ...{ name: 'spawn', target: /^git / },
  },
  {
    was: 'a hook whose bundle could not be read showed a stack',
    ...{ scene: 'PreToolUse: a write', kind: 'EIO' },
    ...{ name: 'readFile', target: /^\/.*pre-tool-use\.mjs$/ },
  },
  {
    was: 'git that could not be asked was taken for no repository, and the configuration for the default one',
    ...{ scene: 'plan-gate routes (open)', kind: 'child killed' },
    ...{ name: 'spawn', target: /^git rev-parse/ },
  },
  {
    was: 'a folder of skills that may not be read was taken for empty, and the skill was allowed',
    ...{ scene: 'PreToolUse: a skill that runs a command', kind: 'EACCES' },
    ...{ name: 'readdir', target: /\.claude\/skills$/ },
  },
  {
    was: 'at the end of plan mode a plan that could not be read was written over, or passed over in silence',
    ...{ scene: 'PreToolUse: the end of plan mode', kind: 'EIO' },
    ...{ name: 'lstat', target: /docs\/plan\.md$/ },
  },
  {
    was: 'reviews that could not be looked at were not archived, and went with their worktree',
    ...{ scene: 'plan-gate finish <work> (approved)', kind: 'EIO', only: 'last' },
    ...{ name: 'lstat', target: /\.claude\/review$/ },
  },
  {
    was: 'an approval of another plan that could not be read was written over, and its cycle never archived',
    ...{ scene: 'plan-gate approve --force (outdated)', kind: 'EMFILE' },
    ...{ name: 'open for reading', target: /approval\.json$/ },
  },
  {
    was: 'with a configuration that could not be read, `continue` went by the default limit',
    ...{ scene: 'plan-gate continue (limit)', kind: 'EIO' },
    ...{ name: 'readFile', target: /plan-gate\.yaml$/ },
  },
  {
    was: 'with a full disk, nobody was told that the gate had been tampered with and its approval ended',
    ...{ scene: 'PostToolUse: the gate tampered with', kind: 'ENOSPC on' },
    ...{ name: 'mkdir', target: /history\/cycle-0001\.partial$|\/\.lock$/ },
  },
  {
    was: 'settings whose memory could not be read were not put back, without a word on why',
    ...{ scene: 'PostToolUse: the gate tampered with', kind: 'EIO', only: 'last' },
    ...{ name: 'lstat', target: /plan-gate\/settings\.json$/ },
  },
  {
    was: 'with an approval that could not be read, a gate that holds was said not to hold',
    ...{ scene: 'plan-gate install (approved)', kind: 'EIO', only: 'last' },
    ...{ name: 'readFile', target: /approval\.json$/ },
  },
  {
    was: 'a program that may not be started was said not to be there',
    ...{ scene: 'plan-gate install (approved)', kind: 'EACCES', only: 'last' },
    ...{ name: 'access', target: /bin\/git$/ },
  },
  {
    was: 'a git that could not be asked was taken for its no',
    ...{ scene: 'plan-gate finish <work> (approved)', kind: 'EIO', only: 'last' },
    ...{ name: 'spawn', target: /^git rev-parse,--verify,--quiet,refs\/heads\/main/ },
  },
  {
    was: 'an entry of git’s that could not be taken away stayed for good, and what hides our files with it',
    ...{ scene: 'plan-gate finish <work> (approved)', kind: 'EACCES' },
    ...{ name: 'spawn', target: /^git worktree,remove/ },
  },
  {
    was: 'half a record of what is taken away stayed in the git directory',
    ...{ scene: 'plan-gate finish <work> (approved)', kind: 'SIGKILL' },
    ...{ name: 'rename', target: /\.plan-gate-finishing-/ },
  },
  {
    was: 'where nothing could be read of it, plan-gate was said not to be installed',
    ...{ scene: 'plan-gate watch --no-tty (approved)', kind: 'EIO' },
    ...{ name: 'readFile', target: /plan-gate\/install\.json$/ },
  },
  {
    was: 'a record that could not be read was taken for empty, and a plan that was continued for one beyond its limit',
    ...{ scene: 'PostToolUse: a plan, continued', kind: 'EIO' },
    ...{ name: 'open for reading', target: /events\.jsonl$/ },
  },
  {
    was: 'git that could not be started was said not to be on PATH',
    ...{ scene: 'plan-gate doctor (open)', kind: 'EACCES', only: 'last' },
    ...{ name: 'spawn', target: /git --version$/ },
  },
  {
    was: 'a note of the plan that could not be read was taken for none, and an approval by hand passed over in silence',
    ...{ scene: 'PostToolUse: an approval by hand', kind: 'EIO' },
    ...{ name: 'lstat', target: /plan-gate\/seen-plan$/ },
  },
  {
    was: 'a baseline that was forgotten, for a file that could not be looked at, was said not to be recorded',
    ...{ scene: 'SessionStart: an outdated approval', kind: 'EIO', only: 'last' },
    ...{ name: 'lstat', target: /src\/app\.ts$/ },
  },
  {
    was: 'with an install record that could not be read our own hooks were listed as the repository’s, not trusted',
    ...{ scene: 'plan-gate doctor (open)', kind: 'EMFILE', only: 'last' },
    ...{ name: 'open for reading', target: /plan-gate\/install\.json$/ },
  },
  {
    was: 'an approved text that could not be read was taken for none, and the plan was reviewed as a new one',
    ...{ scene: 'PostToolUse: the approved plan changed', kind: 'EACCES' },
    ...{ name: 'lstat', target: /cycle-0001\/plan_v2\.snapshot\.md$/ },
  },
  {
    was: 'a folder of skills that may not be looked at was taken for none, and the skill was allowed',
    ...{ scene: 'PreToolUse: a skill that runs a command', kind: 'EACCES' },
    ...{ name: 'stat', target: /work\/\.claude\/skills$/ },
  },
  {
    was: 'a plan-gate.yaml that could not be looked at was said to have changed',
    ...{ scene: 'PostToolUseFailure: the approved plan changed', kind: 'EACCES' },
    ...{ name: 'lstat', target: /work\/plan-gate\.yaml$/ },
  },
  {
    was: 'a package that could not be looked at was said to be gone',
    ...{ scene: 'SessionStart: no approval', kind: 'EIO' },
    ...{ name: 'realpath', target: /dist\/cli\.mjs$/ },
  },
  {
    was: 'folders that could not be looked at were passed over by `uninstall`: empty ones, and one with files to rescue',
    ...{ scene: 'plan-gate uninstall (open)', kind: 'EIO' },
    ...{ name: 'lstat', target: /work\/\.claude(?:\/hooks|\/review\/replaced)?$/ },
  },
  {
    was: 'where git did not say whether an approval by hand was tracked, it never counted, and nobody was told why',
    ...{ scene: 'PostToolUse: an approval by hand', kind: 'EIO' },
    ...{ name: 'spawnSync', target: /ls-files,--error-unmatch/ },
  },
  {
    was: 'a plan-gate.yaml that could not be read for a moment closed the gate with the next install, and nobody was told',
    ...{ scene: 'plan-gate install (approved)', kind: 'EMFILE', only: 'last' },
    ...{ name: 'open for reading', target: /work\/plan-gate\.yaml$/ },
  },
  {
    was: 'a node and a wrapper that could not be looked at were said by `doctor` to be gone',
    ...{ scene: 'plan-gate doctor (open)', kind: 'EIO' },
    ...{ name: 'access', target: /\/bin\/node$|sandbox\/run$/ },
  },
  {
    was: 'a file that may not be read was told as one that had changed',
    ...{ scene: 'SessionStart: an outdated approval', kind: 'EACCES' },
    ...{ name: 'lstat', target: /work\/src\/app\.ts$/ },
  },
  {
    was: 'killed while it marked the session, it left a temporary file that nothing removed',
    ...{ scene: 'SessionStart: no approval', kind: 'SIGKILL', only: 'last' },
    ...{ name: 'writeFile', target: /plan-gate\/closed\/\..*\.tmp$/ },
  },
  {
    was: 'our .gitignore that could not be read was archived as a file of the user’s, without a word on why',
    ...{ scene: 'plan-gate finish <work> (approved)', kind: 'EIO', only: 'last' },
    ...{ name: 'readFile', target: /\.claude\/\.gitignore$/ },
  },
  {
    was: 'with an install record that could not be read our settings were archived as the user’s',
    ...{ scene: 'plan-gate finish <work> (approved)', kind: 'EMFILE' },
    ...{ name: 'open for reading', target: /worktrees\/work\/plan-gate\/install\.json$/ },
  },
  {
    was: 'a hook of ours that could not be read was said by `status` not to be as it was installed',
    ...{ scene: 'plan-gate status (open)', kind: 'EIO', only: 'last' },
    ...{ name: 'open for reading', target: /hooks\/plan-gate\/pre-tool-use\.mjs$/ },
  },
]

const isMeant =
  ({ name, target }: Row) =>
  (operation: Operation | undefined): boolean =>
    operation?.name === name && target.test(operation.target)

function faultsOf(row: Row, operations: readonly Operation[]): Fault[] {
  const of = { name: row.name, target: row.target.source }
  const found = operations.filter(isMeant(row)).map((_, index) => ({ kind: row.kind, at: index + 1, of }))
  return row.only === 'last' ? found.slice(-1) : found
}

const cells: Cell[] = []

beforeAll(async () => {
  const found = await runTable(
    scenes.filter(({ name }) => rows.some(({ scene }) => scene === name)),
    (_, { scene, operations }) =>
      rows.filter((row) => row.scene === scene.name).flatMap((row) => faultsOf(row, operations).map(faultTrial)),
  )
  cells.push(...found)
}, 600_000)

it.each(rows)('no more: $was', (row) => {
  const met = cells.filter(
    ({ scene, kind, hit }) => scene === row.scene && kind === row.kind && isMeant(row)(hit ?? undefined),
  )
  expect(met.length).toBeGreaterThan(0)
  expect(met.filter(({ problems }) => problems.length > 0).map(describeCell)).toEqual([])
})
