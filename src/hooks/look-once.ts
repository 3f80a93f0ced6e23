import type { StopReview } from '../reflect/decide-stop.ts'
import { afterAsking, type ReflectState } from '../reflect/follow-session.ts'
import { nothingWaits } from '../reflect/share-review.ts'
import { askReflection } from './ask-reflection.ts'
import type { ReflectionSubject } from './find-matter.ts'
import { changeState, takeOneCall } from './reflect-state.ts'
import { followSettings, type ReflectionSetup } from './reflection-setup.ts'

/** A look at what is never the same twice, and which no later look could find mended: nothing of it is remembered. */
export async function reflectUncached(
  root: string,
  session: string,
  { compiled, settings }: ReflectionSetup,
  matter: ReflectionSubject,
  extend: (ms: number) => void,
): Promise<StopReview> {
  const rules = followSettings(settings)
  const grant = await takeOneCall(root, session, rules.limits)
  if (grant.kind === 'refused') return { kind: 'refused', because: grant.because, why: grant.why }
  const reflected = await askReflection({ root, session, compiled, settings, matter }, extend)
  const settle = (state: ReflectState) => {
    const after = afterAsking(state, matter.subject, reflected, rules, Date.now()).state
    const sawAll = matter.kind === 'stop' && reflected.kind === 'judged' && reflected.verdict === 'PASS'
    return { state: sawAll ? { ...after, sharing: nothingWaits(after.sharing) } : after, result: null }
  }
  await changeState(root, session, settle, null)
  return reflected
}
