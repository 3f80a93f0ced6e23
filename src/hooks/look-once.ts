import type { StopReview } from '../reflect/decide-stop.ts'
import { afterAsking, type ReflectState, readReflectState, withMoreCalls } from '../reflect/follow-session.ts'
import { takeCall } from '../reflect/limit-cost.ts'
import { nothingWaits } from '../reflect/share-review.ts'
import { askReflection } from './ask-reflection.ts'
import type { Matter } from './find-matter.ts'
import { changeState } from './reflect-state.ts'
import { followSettings, type ReflectionSetup } from './reflection-setup.ts'

/** A look at what is never the same twice, and which no later look could find mended: nothing of it is remembered. */
export async function lookOnce(
  root: string,
  session: string,
  { compiled, settings }: ReflectionSetup,
  matter: Matter,
  extend: (ms: number) => void,
): Promise<StopReview> {
  const rules = followSettings(settings)
  const take = (state: ReflectState) => {
    const grant = takeCall(state.spending, rules.limits, Date.now())
    return { state: { ...state, spending: grant.spending }, result: grant }
  }
  const grant = await changeState(root, session, take, take(readReflectState(null)).result)
  if (grant.kind === 'refused') return { kind: 'refused', because: grant.because, why: grant.why }
  const job = { root, session, compiled, settings, matter, spending: grant.spending }
  const { reflected, moreCalls } = await askReflection(job, extend)
  const settle = (state: ReflectState) => {
    const after = afterAsking(withMoreCalls(state, moreCalls), matter.subject, reflected, rules, Date.now()).state
    const sawAll = matter.kind === 'stop' && reflected.kind === 'judged' && reflected.verdict === 'PASS'
    return { state: sawAll ? { ...after, sharing: nothingWaits(after.sharing) } : after, result: null }
  }
  await changeState(root, session, settle, null)
  return reflected
}
