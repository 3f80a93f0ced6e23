import { relative } from 'node:path'
import { loadCompiler } from '../config/compiled-config.ts'
import type { PlanState } from '../gate/plan-state.ts'
import { readPlanFile, readPlanState } from '../gate/read-plan-state.ts'
import { readWorkingTree, rebaseline } from '../gate/working-tree.ts'
import { rememberSettings, sweepLeftovers } from '../install/repair.ts'
import { readThreats } from '../install/settings-audit.ts'
import { readHandled, writeHandled } from '../plan/plan-change.ts'
import { syncApprovalBetweenTurns } from '../plan/sync-approval.ts'
import { escapeUntrusted } from '../redact/untrusted-text.ts'
import { reflectionSetup } from '../reflect/session-state.ts'
import { decideAfterReview, formatStop } from '../reflect/stop.ts'
import { noMessage, toHookAnswer } from '../reflect/values.ts'
import validate from '../schemas/generated/config-change.js'
import validateCompact from '../schemas/generated/pre-compact.js'
import validateSessionStart from '../schemas/generated/session-start.js'
import validateStop from '../schemas/generated/stop.js'
import { addContext, failClosed, failOpen, type HookAnswer, silence, vetoConfigChange } from '../schemas/hook-answer.ts'
import type { PreCompact, Stop } from '../schemas/hook-events.ts'
import { appendEvent } from '../state/ledger.ts'
import { ownSkills } from '../state/own-paths.ts'
import { pruneSessions, recordSession } from '../state/sessions.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { loadBundle } from '../system/load-bundle.ts'
import { type Hook, parseEvent, worktreeRoot } from './runtime.ts'

/** What a failure of this hook comes to, as far as is known what it was asked. */
let fail = failOpen

/**
 * Claude is done for now, or its context is about to shrink. A plan that was changed by hand meanwhile ends its cycle
 * here too; while it is approved, the second reviewer takes a last look, or says what is worth keeping.
 */
export const stopOrCompactHook = (event: 'Stop' | 'PreCompact'): Hook => ({
  deadlineMs: 30_000,
  onFailure: (message) => fail(message),
  work: (input, extend) => answerStopOrCompact(event, input, extend),
})

async function answerStopOrCompact(
  asked: 'Stop' | 'PreCompact',
  input: string,
  extend: (ms: number) => void,
): Promise<HookAnswer> {
  const isCompaction = asked === 'PreCompact'
  const parsed = isCompaction ? parseEvent(validateCompact, input) : parseEvent(validateStop, input)
  // It may be the second stop, so it is let go.
  if (parsed.kind === 'malformed') return toHookAnswer(asked, { ...noMessage, user: `plan-gate: ${parsed.why}` })
  const event: Stop | PreCompact = parsed.event
  const root = worktreeRoot()
  await syncApprovalBetweenTurns(root)
  if (readPlanState(root).kind !== 'approved') return silence
  const setup = await reflectionSetup(root)
  if (setup === null) return silence
  if (event.hook_event_name === 'Stop' && event.stop_hook_active !== true) fail = blockOnce
  const { reflectAtStop, reflectBeforeCompaction } = (await loadBundle<typeof import('./reviews.ts')>('reviews'))
    .reviews
  switch (event.hook_event_name) {
    case 'Stop':
      return reflectAtStop(root, event, setup, extend)
    case 'SubagentStop':
      return silence
    case 'PreCompact':
      return reflectBeforeCompaction(root, event, setup, extend)
  }
}

/** A look that could not be taken is not one that found nothing. */
function blockOnce(why: string): HookAnswer {
  const review = { kind: 'failed', failure: 'crashed', why, nextStep: 'Run `plan-gate doctor`.' } as const
  return toHookAnswer(
    'Stop',
    formatStop(decideAfterReview(review, { trace: null, traceability: 'off' }), escapeUntrusted),
  )
}

/**
 * Settings changed while a session runs; Claude Code takes them over at once, unless this hook objects. A veto counts
 * for one event only: the next change that is allowed makes Claude Code read every file again, the refused one too. So
 * all files are looked at each time, and nothing passes while any of them would switch the gate off.
 */
export const configChangeHook: Hook = { deadlineMs: 5_000, onFailure: failClosed, work: answerConfigChange }

async function answerConfigChange(input: string): Promise<HookAnswer> {
  const parsed = parseEvent(validate, input)
  if (parsed.kind === 'malformed')
    return vetoConfigChange(`plan-gate: a change of settings was refused: ${parsed.why}.`)
  const { source, file_path: path = null } = parsed.event
  const root = worktreeRoot()
  const why = source === 'skills' ? skillThreat(root, path) : settingsThreat(root)
  if (why === null) {
    rememberSettings(root)
    return silence
  }
  await appendEvent(root, { type: 'config-change-vetoed', source, path })
  return vetoConfigChange(
    `plan-gate: the change of ${path ?? source} was not taken over, because the gate would be switched off: ${why}. ` +
      'The files themselves are as they were written; `plan-gate doctor` says what to mend.',
  )
}

function settingsThreat(root: string): string | null {
  const threats = readThreats(root)
  return threats.length === 0 ? null : threats.map(({ file, what }) => `${relative(root, file)}: ${what}`).join('; ')
}

function skillThreat(root: string, path: string | null): string | null {
  const inside = path === null ? '' : relative(root, path)
  return ownSkills.some((name) => inside.startsWith(`.claude/skills/${name}/`))
    ? 'it is one of plan-gate’s own skills'
    : null
}

/** A session begins (or resumes, or was compacted): say so on disk, and tell Claude in a few lines where the plan stands. */
export const sessionStartHook: Hook = {
  deadlineMs: 15_000,
  onFailure: failOpen,
  work: async (input) => {
    const parsed = parseEvent(validateSessionStart, input)
    if (parsed.kind === 'malformed') return failOpen(`plan-gate: ${parsed.why}`)
    const { event } = parsed
    const root = worktreeRoot()
    const { recompileConfig } = await loadCompiler()
    const config = recompileConfig(root)
    if (event.session_id !== undefined)
      recordSession(
        root,
        {
          session_id: event.session_id,
          client_version: clientVersion(),
          source: event.source ?? 'startup',
          cwd: event.cwd ?? root,
        },
        new Date(),
      )
    pruneSessions(root)
    const gitDirs = readGitDirs(root)
    if (gitDirs !== null) sweepLeftovers(root, gitDirs)
    const change = await syncApprovalBetweenTurns(root)
    recordExistingPlan(root)
    rememberSettings(root)
    const plan = readPlanState(root)
    // A compaction is the same session: what it has done is not forgiven by it. And while a plan is carried out, the
    // worktree is held against what it was when that began.
    const isUnderWay = plan.kind === 'approved' && change.kind !== 'approved-by-hand'
    if (event.source !== 'compact' && !isUnderWay && gitDirs !== null)
      rebaseline(gitDirs.own, readWorkingTree(root, gitDirs))
    return addContext('SessionStart', formatSessionStart(plan, config.problems))
  },
}

/** The version of the Claude Code that started this hook: `AI_AGENT=claude-code_2-1-326_harness`. */
function clientVersion(env: NodeJS.ProcessEnv = process.env): string | null {
  const match = /^claude-code_(\d+)-(\d+)-(\d+)/.exec(env.AI_AGENT ?? '')
  return match === null ? null : match.slice(1, 4).join('.')
}

/** Where the plan stands, for Claude at the start of a session. Short: it stays in the context. */
function formatSessionStart(plan: PlanState, configProblems: readonly string[]): string {
  const lines = [`plan-gate guards this worktree. ${formatPlanState(plan)}`]
  if (configProblems.length > 0)
    lines.push(
      'plan-gate.yaml is invalid, so every change is refused until the user mends it:',
      ...configProblems.slice(0, 5),
    )
  return lines.join('\n')
}

function formatPlanState(plan: PlanState): string {
  switch (plan.kind) {
    case 'missing':
      return 'There is no plan yet: read and search freely, and write docs/plan.md (/plan-with-review says how). Other changes are refused until it is approved.'
    case 'open':
      return `No approved plan: ${plan.because}. Read and search freely, and revise docs/plan.md; other changes are refused until it is approved.`
    case 'approved':
      return 'docs/plan.md is approved. When the user wants it carried out, use /implement-approved-plan. Editing docs/plan.md ends the approval.'
  }
}

/** A plan that was there before the first session is reviewed when somebody writes it, and not because a command ran. */
function recordExistingPlan(root: string): void {
  if (readHandled(root) !== null) return
  const plan = readPlanFile(root)
  if (plan.kind === 'read')
    writeHandled(root, { plan_hash: plan.hash(), again: true, kind: 'silence', text: '', user: null })
}
