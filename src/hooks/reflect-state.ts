import { type ReflectState, readReflectState } from '../reflect/follow-session.ts'
import { type Grant, type Limits, takeCall } from '../reflect/limit-cost.ts'
import { changeReflectFile, readReflectFile } from '../store/reflect-file.ts'
import { StoreError } from '../store/store-error.ts'
import { debug } from './debug.ts'

/** Where the state of a session cannot be kept, what there is to say is said all the same: `otherwise`. */
export async function changeState<T>(
  root: string,
  session: string,
  change: (state: ReflectState) => { readonly state: ReflectState; readonly result: T },
  otherwise: T,
): Promise<T> {
  try {
    const held = await changeReflectFile(root, session, (value) => {
      const { state, result } = change(readReflectState(value))
      return { value: state, result }
    })
    if (held.kind === 'done') return held.value
    debug(`the state of the session was locked for ${held.waitedMs} ms`)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    debug(error.message)
  }
  return otherwise
}

/** A call that nothing is known about without, counted before it is made. Who is refused says so itself. */
export function takeOneCall(root: string, session: string, limits: Limits): Promise<Grant> {
  const take = (state: ReflectState): { state: ReflectState; result: Grant } => {
    const grant = takeCall(state.spending, limits, Date.now())
    return { state: grant.kind === 'granted' ? { ...state, spending: grant.spending } : state, result: grant }
  }
  return changeState(root, session, take, take(readReflectState(readReflectFile(root, session))).result)
}
