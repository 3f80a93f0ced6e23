import { runHook } from './runtime.ts'
import { configChangeHook, sessionStartHook, stopOrCompactHook } from './session.ts'

/** The events of a session need much the same, so their entries share this bundle. */
export const sessionStart = (): Promise<never> => runHook(sessionStartHook)
export const configChange = (): Promise<never> => runHook(configChangeHook)
export const stop = (): Promise<never> => runHook(stopOrCompactHook('Stop'))
export const preCompact = (): Promise<never> => runHook(stopOrCompactHook('PreCompact'))
