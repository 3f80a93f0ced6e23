import { runHook } from './runtime.ts'
import { betweenTurns, guardSettings, startSession } from './session.ts'

/** The events of a session need much the same, so their entries share this bundle. */
export const sessionStart = (): Promise<never> => runHook(startSession)
export const configChange = (): Promise<never> => runHook(guardSettings)
export const stop = (): Promise<never> => runHook(betweenTurns('Stop'))
export const preCompact = (): Promise<never> => runHook(betweenTurns('PreCompact'))
