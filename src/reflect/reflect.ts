import { gateConfig } from '../config/compiled-config.ts'
import { type ReflectSettings, reflectSettings } from '../config/environment.ts'
import type { CompiledConfig } from '../config/schema.ts'
import { readPlanState } from '../gate/read-plan-state.ts'
import { type HookAnswer, silence } from '../schemas/hook-answer.ts'
import type { PostToolUse, PostToolUseFailure } from '../schemas/hook-events.ts'
import { debug } from '../system/errors.ts'
import { loadBundle } from '../system/load-bundle.ts'
import { formatCleared, formatReflection, noMessage, type ReflectionMessage, toHookAnswer } from './messages.ts'
import {
  afterAsking,
  beforeAsking,
  clearOpen,
  isSame,
  type Reflection,
  readSessionState,
  type SessionState,
  updateSessionState,
} from './session-state.ts'
import { type ReflectionSubject, selectSubject } from './subject.ts'

/** Reflection on an approved plan's work: one subject, from the cached verdict to the reviewer's answer. */

export type ReflectionContext = {
  readonly root: string
  readonly session: string
  readonly compiled: CompiledConfig
  readonly settings: ReflectSettings
  readonly extendDeadline: (ms: number) => void
}

/** null: nothing is reflected on in this worktree. */
export async function reflectionContext(
  root: string,
  { session_id }: { readonly session_id?: string | undefined },
  extendDeadline: (ms: number) => void,
): Promise<ReflectionContext | null> {
  const compiled = await gateConfig(root)
  const settings = compiled.problems.length > 0 ? null : reflectSettings(compiled.config, process.env)
  return settings === null ? null : { root, session: session_id ?? 'unknown', compiled, settings, extendDeadline }
}

/** In the background: what the failure of a command means. Claude reads it with one of its next requests. */
export async function reflectOnFailure(
  root: string,
  event: PostToolUseFailure,
  extendDeadline: (ms: number) => void,
): Promise<HookAnswer> {
  if (readPlanState(root).kind !== 'approved') return silence
  return toHookAnswer('PostToolUseFailure', await reflectAfterTool(root, event, extendDeadline))
}

/** Reviews what a tool has just done under an approved plan. A failure is reported and blocks nothing: this is advice. */
export async function reflectAfterTool(
  root: string,
  event: PostToolUse | PostToolUseFailure,
  extendDeadline: (ms: number) => void,
): Promise<ReflectionMessage> {
  const context = await reflectionContext(root, event, extendDeadline)
  const selected = context === null ? null : await selectSubject(root, event, context.compiled)
  if (context === null || selected === null) return noMessage
  if ('succeeded' in selected) return clearFailedCommand(context, selected.succeeded)
  return formatReflection(selected, await reflect(context, selected))
}

async function clearFailedCommand({ root, session }: ReflectionContext, key: string): Promise<ReflectionMessage> {
  const open = readSessionState(root, session).fails.fails.find((fail) => fail.key === key)
  if (open === undefined) return noMessage
  await updateSessionState(root, session, (state) => ({ state: clearOpen(state, key) }))
  return formatCleared('failure', open.about)
}

/** A cached verdict is answered here; only a question to the reviewer loads the rest. */
export async function reflect(context: ReflectionContext, subject: ReflectionSubject): Promise<Reflection> {
  const { root, session, settings } = context
  const begin = (state: SessionState): ReturnType<typeof beforeAsking> => {
    const before = beforeAsking(state, subject, settings, Date.now())
    // Nobody is told why there is no reflection before a compaction, so the reason is still to be given.
    return subject.kind === 'compaction' && before.known !== null ? { ...before, state } : before
  }
  const state = readSessionState(root, session)
  const unlocked = begin(state)
  // Nothing to write: no lock, no question.
  if (unlocked.known !== null && isSame(unlocked.state, state)) return unlocked.known
  const { known } = await updateSessionState(root, session, begin)
  debug(`${subject.kind} ${subject.about}: ${known === null ? 'asks' : `known, ${known.kind}`}`)
  if (known !== null) return known
  const { reviews } = await loadBundle<{ reviews: typeof import('./ask.ts') }>('reviews')
  const answer = await reviews.askReflection(context, subject)
  return (await updateSessionState(root, session, (now) => afterAsking(now, subject, answer, Date.now()))).reflection
}
