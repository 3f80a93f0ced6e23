import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pendingConfig, pendingNotice } from '../config/compiled-config.ts'
import { reflectSettings } from '../config/environment.ts'
import type { EffectiveConfig } from '../config/schema.ts'
import { sweepClaims } from '../gate/answer-claims.ts'
import { sweepCalls } from '../gate/call-notes.ts'
import { closeUnchecked, closeUntrusted, loadsBelow } from '../gate/closed-mark.ts'
import type { PlanState } from '../gate/plan-state.ts'
import { readPlanState } from '../gate/read-plan-state.ts'
import { closeApproved, describePlanted, takePlanted } from '../gate/sandbox/approved.ts'
import type { SandboxProof } from '../gate/sandbox/canary.ts'
import { oldClientProblem, parseVersion, startSandboxSession } from '../gate/sandbox/set-up.ts'
import { formatDrift, readWorkingTree, reportDrift } from '../gate/working-tree.ts'
import { recompileConfig, restoreConfig } from '../install/compile-config.ts'
import { rememberSettings, sweepLeftovers } from '../install/repair.ts'
import { missingReflection, readThreats } from '../install/settings.ts'
import { filesBelow, readTrust, type Trust } from '../install/trust.ts'
import { readHandled } from '../plan/plan-change.ts'
import { deferReview, syncApprovalBetweenTurns } from '../plan/sync-approval.ts'
import { decideAfterReview, noMessage, toHookAnswer } from '../reflect/messages.ts'
import { reflectionContext } from '../reflect/reflect.ts'
import { failureOf } from '../reviewers/failure.ts'
import { addContext, failClosed, failOpen, type HookAnswer, silence, vetoConfigChange } from '../schemas/hook-answer.ts'
import {
  configChangeSchema,
  type PreCompact,
  preCompactSchema,
  type Stop,
  sessionStartSchema,
  stopSchema,
} from '../schemas/hook-events.ts'
import { appendEvent } from '../state/ledger.ts'
import { ownSkills } from '../state/own-paths.ts'
import { readInstallRecord } from '../state/records.ts'
import { pruneSessions, readLaunch, recordSession } from '../state/sessions.ts'
import { readStartCommand, recordStartCommand } from '../state/start-command.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { loadBundle } from '../system/load-bundle.ts'
import { gitDirMissing, type Hook, parseEvent, runHook, worktreeRoot } from './runtime.ts'

/** Set to fail closed once it is known that the event is one that may block. */
let fail = failOpen

/**
 * Stop and PreCompact. Records a plan that was changed by hand meanwhile; while the plan is approved, the second
 * reviewer reviews the work (Stop) or says what is worth keeping (PreCompact).
 */
const stopOrCompactHook = (event: 'Stop' | 'PreCompact'): Hook => ({
  deadlineMs: 30_000,
  onFailure: (message) => fail(message),
  work: (input, extendDeadline) => answerStopOrCompact(event, input, extendDeadline),
})

async function answerStopOrCompact(
  asked: 'Stop' | 'PreCompact',
  input: string,
  extendDeadline: (ms: number) => void,
): Promise<HookAnswer> {
  const parsed = asked === 'PreCompact' ? parseEvent(preCompactSchema, input) : parseEvent(stopSchema, input)
  // It may be the second Stop, which must never block.
  if (parsed.kind === 'malformed') return toHookAnswer(asked, { ...noMessage, user: `plan-gate: ${parsed.why}` })
  const event: Stop | PreCompact = parsed.event
  const root = worktreeRoot()
  await syncApprovalBetweenTurns(root)
  if (readPlanState(root).kind !== 'approved') return silence
  const context = await reflectionContext(root, event, extendDeadline)
  if (context === null) return silence
  if (event.hook_event_name === 'Stop' && event.stop_hook_active !== true) fail = blockOnce
  const { reviews } = await loadBundle<typeof import('./reviews.ts')>('reviews')
  switch (event.hook_event_name) {
    case 'Stop':
      return reviews.reflectAtStop(context, event)
    case 'SubagentStop':
      return silence
    case 'PreCompact':
      return reviews.reflectBeforeCompaction(context, event)
  }
}

/** Fail closed: a review that crashed has not found nothing. */
function blockOnce(why: string): HookAnswer {
  const crash = failureOf('crashed', why, 'Run `plan-gate doctor`.')
  return toHookAnswer('Stop', decideAfterReview({ kind: 'failed', ...crash }, null))
}

/**
 * Claude Code applies changed settings at once, unless this hook vetoes. A veto counts for one event only: the next
 * allowed change makes it read every file again. So all files are checked each time, and nothing passes while any of
 * them would disable the gate.
 */
async function answerConfigChange(input: string): Promise<HookAnswer> {
  const parsed = parseEvent(configChangeSchema, input)
  if (parsed.kind === 'malformed')
    return vetoConfigChange(`plan-gate: a change of settings was refused: ${parsed.why}.`)
  const { source, file_path: path = null } = parsed.event
  const root = worktreeRoot()
  const why = (source === 'skills' ? skillThreat(root, path) : settingsThreat(root)) ?? (await newItems(root))
  if (why === null) {
    rememberSettings(root)
    return silence
  }
  await appendEvent(root, { type: 'config-change-vetoed', source, path })
  return vetoConfigChange(
    `plan-gate: the change of ${path ?? source} was refused: ${why}. ` +
      'The file on disk is unchanged; `plan-gate doctor` says what to do.',
  )
}

function settingsThreat(root: string): string | null {
  const threats = readThreats(root)
  const named = threats.map(({ file, what }) => `${relative(root, file)}: ${what}`)
  return threats.length === 0 ? null : `it would disable the gate: ${named.join('; ')}`
}

/** The command in our messages is repaired as far as it can be: PATH, node_modules or the package may have changed. */
function movedPackage(root: string, gitDir: string): string | null {
  const { packageRoot } = readStartCommand(gitDir) ?? {}
  if (packageRoot === undefined || recordStartCommand(root, gitDir, packageRoot) !== null) return null
  // It may be there, and could not be looked at.
  if (existsSync(join(packageRoot, 'dist/cli.mjs'))) return null
  return `the package that installed this gate is no longer in ${packageRoot}, so the commands in its messages may not run. Install it again, and run \`plan-gate open\` with it.`
}

/** What the session would load by the change and nobody has agreed to: below the root, or where plan-gate has started it. */
async function newItems(root: string): Promise<string | null> {
  const below = filesBelow(root)
  if (below.length > 0) return loadsBelow(below)
  const gitDirs = readGitDirs(root)
  if (gitDirs === null || readLaunch(gitDirs.own)?.loads_repository !== true) return null
  const ids = untrustedIds(await readTrust(root, gitDirs))
  return ids.length === 0 ? null : `it loads what nobody has agreed to (plan-gate trust): ${ids.slice(0, 5).join(', ')}`
}

function skillThreat(root: string, path: string | null): string | null {
  const inside = path === null ? '' : relative(root, path)
  return ownSkills.some((name) => inside.startsWith(`.claude/skills/${name}/`))
    ? 'it is one of plan-gate’s own skills'
    : null
}

/** SessionStart: records the session, and tells Claude in a few lines where the plan stands. */
async function answerSessionStart(input: string): Promise<HookAnswer> {
  const parsed = parseEvent(sessionStartSchema, input)
  if (parsed.kind === 'malformed') return failOpen(`plan-gate: ${parsed.why}`)
  const { session_id: id, source = 'startup', cwd } = parsed.event
  const root = worktreeRoot()
  const gitDirs = readGitDirs(root)
  if (gitDirs === null) return addContext('SessionStart', gitDirMissing)
  const { own } = gitDirs
  // A compaction can come while a subagent works.
  const isCompaction = source === 'compact'
  if (id !== undefined && !isCompaction) closeUnchecked(own, id)
  if (!isCompaction) {
    sweepCalls(own)
    sweepClaims(own)
  }
  const planted = takePlanted(own)
  const config = isCompaction || planted.length > 0 ? restoreConfig(root) : recompileConfig(root)
  const version = clientVersion()
  const launched = readLaunch(own) !== null
  const below = launched ? [] : filesBelow(root)
  const notices = [...config.notices, ...noticesFor(root, own, { version, launched, below, config: config.config })]
  if (id !== undefined) {
    const session = { session_id: id, client_version: version, source, cwd: cwd ?? root, launched }
    recordSession(root, session, new Date())
    const untrusted = launched || isCompaction ? [] : untrustedIds(await readTrust(root, gitDirs))
    if (!isCompaction) closeUntrusted(own, id, untrusted, below)
    const plugins = untrusted.filter((item) => item.startsWith('plugin:'))
    if (plugins.length > 0) notices.push(pluginNotice(plugins))
  }
  pruneSessions(root)
  sweepLeftovers(root, gitDirs)
  await syncApprovalBetweenTurns(root)
  // A plan that existed before the first session.
  if (readHandled(root) === null) deferReview(root)
  rememberSettings(root)
  const plan = readPlanState(root)
  const isApproved = plan.kind === 'approved'
  const drift = isApproved ? null : formatDrift(await reportDrift(root, own, readWorkingTree(root, gitDirs)))
  if (!isApproved) closeApproved(own)
  const sandbox = await startSandboxSession(root, gitDirs, config.config.gate.sandbox, { id, client: version })
  const pending = pendingConfig(root, own)
  if (pending !== null) notices.push(pendingNotice(pending))
  const lines = [
    formatSessionStart(plan, config.problems),
    describePlanted(planted),
    drift,
    formatSandbox(sandbox, plan),
  ]
  const told = notices.map((notice) => `plan-gate: ${notice}`).join('\n')
  return addContext('SessionStart', lines.filter((line) => line !== null).join('\n'), told || undefined)
}

type Started = {
  readonly version: string | null
  readonly launched: boolean
  readonly below: readonly string[]
  readonly config: EffectiveConfig
}

/** What the user has to know of how the session was started. */
function noticesFor(root: string, gitDir: string, { version, launched, below, config }: Started): string[] {
  const old = oldClientProblem(parseVersion(version ?? '') ?? [Infinity])
  const record = readInstallRecord(gitDir)
  const isReflecting = reflectSettings(config, process.env) !== null
  return [
    old === null ? null : `Claude Code ${old}. Update it: claude update`,
    launched ? null : startedByHand,
    below.length === 0 ? null : `the gate stays closed: ${loadsBelow(below)}`,
    movedPackage(root, gitDir),
    record.kind === 'read' ? missingReflection(isReflecting, record.value.settings) : null,
  ].filter((notice) => notice !== null)
}

const hooks = {
  SessionStart: { deadlineMs: 15_000, onFailure: failOpen, work: answerSessionStart },
  ConfigChange: { deadlineMs: 5_000, onFailure: failClosed, work: answerConfigChange },
  Stop: stopOrCompactHook('Stop'),
  PreCompact: stopOrCompactHook('PreCompact'),
} satisfies { [event: string]: Hook }

export type SessionEvent = keyof typeof hooks

export const runSessionHook = (event: SessionEvent): Promise<never> => runHook(hooks[event])

const untrustedIds = ({ untrusted }: Trust): string[] => untrusted.map(({ id }) => id)

const startedByHand =
  'this session was not started by plan-gate, so settings files can switch its hooks off, and it loads whatever the repository brings. `plan-gate open` starts one where neither holds.'

const pluginNotice = (ids: readonly string[]): string =>
  `a plugin that nobody has agreed to can take every hook away in this session: ${ids.slice(0, 5).join(', ')}. End it and run \`plan-gate open\`, or first switch it off in .claude/settings.local.json of this folder: {"enabledPlugins": {"<its name>@skills-dir": false}}.`

/** From `AI_AGENT=claude-code_2-1-326_harness`. */
function clientVersion(env: NodeJS.ProcessEnv = process.env): string | null {
  const match = /^claude-code_(\d+)-(\d+)-(\d+)/.exec(env.AI_AGENT ?? '')
  return match === null ? null : match.slice(1, 4).join('.')
}

/** For Claude at the start of a session. Short, because it stays in the context. */
function formatSessionStart(plan: PlanState, configProblems: readonly string[]): string {
  const lines = [`plan-gate guards this worktree. ${formatPlanState(plan)}`]
  if (configProblems.length > 0)
    lines.push(
      'plan-gate.yaml is invalid, so every change is refused until the user fixes it and runs `plan-gate config --apply`:',
      ...configProblems.slice(0, 5),
    )
  return lines.join('\n')
}

function formatSandbox(proof: SandboxProof, plan: PlanState): string {
  if (proof.kind === 'fails')
    return plan.kind === 'approved'
      ? `Commands run without a sandbox: ${proof.why}.`
      : `Until then only commands that the gate can prove to read are allowed (no sandbox: ${proof.why}).`
  const tests = proof.rehearsal
    ? ' Test, build, lint and type-check runners may write there, and what they write is thrown away: run them while you plan.'
    : ''
  return `Commands run in a sandbox: until the plan is approved they see everything and change nothing, without a network.${tests} Their /tmp is their own and is kept during the session.`
}

function formatPlanState(plan: PlanState): string {
  switch (plan.kind) {
    case 'missing':
      return 'There is no plan yet: read and search freely, and write docs/plan.md (the skill plan-with-review says how). Other changes are refused until it is approved.'
    case 'open':
      return `No approved plan: ${plan.because}. Read and search freely, and revise docs/plan.md; other changes are refused until it is approved.`
    case 'approved':
      return 'docs/plan.md is approved. When the user wants it carried out, use the skill implement-approved-plan. Editing docs/plan.md, but for ticking its boxes, ends the approval.'
  }
}
