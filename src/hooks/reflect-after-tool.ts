import { type EventText, saysNothing } from '../reflect/event-text.ts'
import {
  afterAsking,
  beforeAsking,
  clearOpen,
  type Followed,
  type ReflectState,
  readReflectState,
} from '../reflect/follow-session.ts'
import { tellReflection } from '../reflect/tell-reflection.ts'
import { neutralise } from '../safety/neutralise.ts'
import type { PostToolUse, PostToolUseFailure } from '../schemas/hook-events.ts'
import { readReflectFile } from '../store/reflect-file.ts'
import { debug } from './debug.ts'
import { type ReflectionSubject, selectSubject } from './find-matter.ts'
import { loadReviews } from './load-reviews.ts'
import { changeState } from './reflect-state.ts'
import { followSettings, type ReflectionSetup } from './reflection-setup.ts'

/**
 * The second pair of eyes, on what a tool has just done under an approved plan. What is known of the same change
 * already is answered here; only a question to the reviewer loads the rest. Whatever goes wrong is said and blocks
 * nothing: this is advice.
 */
export async function reflectAfterTool(
  root: string,
  event: PostToolUse | PostToolUseFailure,
  setup: ReflectionSetup,
  extend: (ms: number) => void,
): Promise<EventText> {
  const found = await selectSubject(root, event, setup.compiled)
  const session = event.session_id ?? 'unknown'
  switch (found.kind) {
    case 'nothing':
      return saysNothing
    case 'succeeded':
      return settleCommand(root, session, found.key)
    case 'matter':
      return tellReflection(found.matter.kind, await follow(root, session, found.matter, setup, extend), neutralise)
  }
}

async function settleCommand(root: string, session: string, key: string): Promise<EventText> {
  const open = readReflectState(readReflectFile(root, session)).fails.fails.find((fail) => fail.key === key)
  if (open === undefined) return saysNothing
  await changeState(root, session, (state) => ({ state: clearOpen(state, key), result: null }), null)
  return tellReflection('failure', { kind: 'passed', about: open.about, settled: true }, neutralise)
}

async function follow(
  root: string,
  session: string,
  matter: ReflectionSubject,
  { compiled, settings }: ReflectionSetup,
  extend: (ms: number) => void,
): Promise<Followed['tell']> {
  const rules = followSettings(settings)
  const begin = (state: ReflectState): ReturnType<typeof beforeAsking> =>
    beforeAsking(state, matter.subject, rules, Date.now())
  const seen = readReflectState(readReflectFile(root, session))
  const glance = begin(seen)
  // Nothing to write down: no lock, no question.
  if (glance.kind === 'known' && JSON.stringify(glance.state) === JSON.stringify(seen)) return glance.tell
  const before = await changeState(root, session, (state) => asChange(begin(state)), glance)
  debug(`${matter.kind} ${matter.subject.about}: ${before.kind === 'ask' ? 'asks' : `known, ${before.tell.kind}`}`)
  if (before.kind === 'known') return before.tell
  const { askReflection } = await loadReviews()
  const reflected = await askReflection({ root, session, compiled, settings, matter }, extend)
  const end = (state: ReflectState): Followed => afterAsking(state, matter.subject, reflected, rules, Date.now())
  return (await changeState(root, session, (state) => asChange(end(state)), end(before.state))).tell
}

const asChange = <T extends { readonly state: ReflectState }>(result: T): { state: ReflectState; result: T } => ({
  state: result.state,
  result,
})
