import { type ReflectState, readReflectState } from '../reflect/follow-session.ts'
import { changeReflectFile } from '../store/reflect-file.ts'
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
