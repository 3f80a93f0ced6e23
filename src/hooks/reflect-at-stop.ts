import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { planPath } from '../gate/place-of.ts'
import { answerEvent, type EventAnswer } from '../reflect/answer-event.ts'
import { decideStop, type StopFacts, settleStop } from '../reflect/decide-stop.ts'
import { saysNothing } from '../reflect/event-text.ts'
import { clearOpen, type ReflectState, readReflectState } from '../reflect/follow-session.ts'
import { waitingFiles } from '../reflect/share-review.ts'
import { tellStop } from '../reflect/tell-stop.ts'
import { neutralise } from '../safety/neutralise.ts'
import type { Stop } from '../schemas/hook-events.ts'
import { readRegular } from '../store/read-regular.ts'
import { readReflectFile } from '../store/reflect-file.ts'
import { sha256 } from '../store/sha256.ts'
import { debug } from './debug.ts'
import type { ReflectionSubject } from './find-matter.ts'
import { reflectUncached } from './look-once.ts'
import { readTranscript } from './read-transcript.ts'
import { readWork } from './read-work.ts'
import { changeState } from './reflect-state.ts'
import type { ReflectionSetup } from './reflection-setup.ts'

/**
 * Claude wants to stop. What was found wrong and not seen right since keeps it once, without a call; else one look at
 * the whole does, unless it is a PASS. A second stop is always let go.
 */
export async function reflectAtStop(
  root: string,
  event: Stop,
  setup: ReflectionSetup,
  extend: (ms: number) => void,
): Promise<EventAnswer> {
  const { compiled, settings } = setup
  const session = event.session_id ?? 'unknown'
  const read = readRegular(root, planPath)
  if (read.kind !== 'read') return answerEvent('Stop', saysNothing)
  const plan = read.bytes.toString('utf8')
  const isActive = event.stop_hook_active === true
  const state = await withoutGoneFiles(root, session)
  extend(lookingMs)
  const work = isActive ? null : await readWork(root, plan)
  if (work?.isBegun === false && (await mayAskToStart(root, session, plan, state)))
    return answerEvent('Stop', saysNothing)
  // Before anything is changed, Claude may still be asking: it must not be sent to begin.
  const traceability = work?.isBegun || settings.traceability === 'off' ? settings.traceability : 'advisory'
  const facts: StopFacts = {
    isActive,
    fails: state.fails,
    lastMessage: event.last_assistant_message ?? null,
    transcript: () => readTranscript(event.transcript_path, mostOfTail, compiled),
    trace: work?.trace ?? null,
    traceability,
  }
  const decision = decideStop(facts)
  debug(`stop: ${decision.kind}`)
  if (decision.kind !== 'ask') return answerEvent('Stop', tellStop(decision, neutralise))
  const matter: ReflectionSubject = {
    kind: 'stop',
    subject: { hash: null, key: null, about: 'the work as a whole' },
    material: {
      content: decision.content,
      about: null,
      result: null,
      plan,
      changes: work?.diff ?? null,
      waiting: waitingFiles(state.sharing),
    },
    weigh: () => ({ model: 'review', effort: 'high', hints: [] }),
  }
  const review = await reflectUncached(root, session, setup, matter, extend)
  return answerEvent('Stop', tellStop(settleStop(review, facts), neutralise))
}

const mostOfTail = 60_000
/** For the state of the session and for git, before anybody is asked. */
const lookingMs = 90_000

/** The first stop after an approval, with nothing done yet, is the question whether to start. */
async function mayAskToStart(root: string, session: string, plan: string, state: ReflectState): Promise<boolean> {
  const askedToStart = sha256(plan)
  if (state.askedToStart === askedToStart || state.fails.fails.length > 0) return false
  await changeState(root, session, (from) => ({ state: { ...from, askedToStart }, result: null }), null)
  return true
}

/** What was found wrong in a file that is no more cannot be mended, and never be seen right. */
async function withoutGoneFiles(root: string, session: string): Promise<ReflectState> {
  const state = readReflectState(readReflectFile(root, session))
  const gone = state.fails.fails.filter(({ key }) => isGone(root, key)).map(({ key }) => key)
  if (gone.length === 0) return state
  const without = (from: ReflectState): ReflectState => gone.reduce(clearOpen, from)
  return changeState(root, session, (from) => ({ state: without(from), result: without(from) }), without(state))
}

function isGone(root: string, key: string): boolean {
  const path = /^file ([^/].*)$/s.exec(key)?.[1]
  return path !== undefined && !existsSync(join(root, path))
}
