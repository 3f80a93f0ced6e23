import { readPlanState } from '../gate/read-plan-state.ts'
import { type HookAnswer, silence } from '../schemas/hook-answer.ts'
import type { PostToolUse, PostToolUseFailure } from '../schemas/hook-events.ts'
import { debug } from '../system/debug.ts'
import { loadBundle } from '../system/load-bundle.ts'
import { formatReflection, noMessage, type ReflectionMessage, toHookAnswer } from './messages.ts'
import {
  afterAsking,
  beforeAsking,
  clearOpen,
  limitsOf,
  type ReflectionOutcome,
  type ReflectionSetup,
  readSessionState,
  reflectionSetup,
  updateSessionState,
} from './session-state.ts'
import { type ReflectionSubject, selectSubject } from './subject.ts'

/** In the background: what the failure of a command means. Claude reads it with one of its next requests. */
export async function reflectOnFailure(
  root: string,
  event: PostToolUseFailure,
  extendDeadline: (ms: number) => void,
): Promise<HookAnswer> {
  if (readPlanState(root).kind !== 'approved') return silence
  const setup = await reflectionSetup(root)
  if (setup === null) return silence
  return toHookAnswer('PostToolUseFailure', await reflectAfterTool(root, event, setup, extendDeadline))
}

/**
 * Reviews what a tool has just done under an approved plan. A cached verdict is answered here; only a question to the
 * reviewer loads the rest. A failure is reported and blocks nothing, because this is advice.
 */
export async function reflectAfterTool(
  root: string,
  event: PostToolUse | PostToolUseFailure,
  setup: ReflectionSetup,
  extendDeadline: (ms: number) => void,
): Promise<ReflectionMessage> {
  const selected = await selectSubject(root, event, setup.compiled)
  const session = event.session_id ?? 'unknown'
  switch (selected.kind) {
    case 'nothing':
      return noMessage
    case 'succeeded':
      return clearFailedCommand(root, session, selected.key)
    case 'subject': {
      const { subject } = selected
      return formatReflection(subject.kind, await reflectCached(root, session, setup, subject, extendDeadline))
    }
  }
}

async function clearFailedCommand(root: string, session: string, key: string): Promise<ReflectionMessage> {
  const open = readSessionState(root, session).fails.fails.find((fail) => fail.key === key)
  if (open === undefined) return noMessage
  await updateSessionState(root, session, (state) => ({ state: clearOpen(state, key) }))
  return formatReflection('failure', { kind: 'passed', about: open.about, cleared: true })
}

async function reflectCached(
  root: string,
  session: string,
  setup: ReflectionSetup,
  subject: ReflectionSubject,
  extendDeadline: (ms: number) => void,
): Promise<ReflectionOutcome> {
  const begin = (state: Parameters<typeof beforeAsking>[0]): ReturnType<typeof beforeAsking> =>
    beforeAsking(state, subject, limitsOf(setup.settings), Date.now())
  const state = readSessionState(root, session)
  const unlocked = begin(state)
  // Nothing to write: no lock, no question.
  if (unlocked.kind === 'known' && JSON.stringify(unlocked.state) === JSON.stringify(state)) return unlocked.outcome
  const before = await updateSessionState(root, session, begin)
  debug(`${subject.kind} ${subject.about}: ${before.kind === 'ask' ? 'asks' : `known, ${before.outcome.kind}`}`)
  if (before.kind === 'known') return before.outcome
  const { reviews } = await loadBundle<{ reviews: typeof import('./ask.ts') }>('reviews')
  const answer = await reviews.askReflection(root, session, setup, subject, extendDeadline)
  const after = await updateSessionState(root, session, (now) => afterAsking(now, subject, answer, Date.now()))
  return after.outcome
}
