import { type Hook, runHook } from './runtime.ts'
import { configChangeHook, sessionStartHook, stopOrCompactHook } from './session.ts'

/** The events of a session need much the same, so they share this bundle. */
const hooks = {
  SessionStart: sessionStartHook,
  ConfigChange: configChangeHook,
  Stop: stopOrCompactHook('Stop'),
  PreCompact: stopOrCompactHook('PreCompact'),
} satisfies { [event: string]: Hook }

export const start = (event: keyof typeof hooks): Promise<never> => runHook(hooks[event])
