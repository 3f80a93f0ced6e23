import { betweenTurns } from './between-turns.ts'
import { guardSettings } from './guard-settings.ts'
import { type Hook, runHook } from './run-hook.ts'
import { startSession } from './start-session.ts'

/** The events of a session need much the same, so they share a bundle; a word says which it is. */
const hooks: { readonly [word: string]: Hook } = { start: startSession, settings: guardSettings }

await runHook(hooks[process.argv[2] ?? ''] ?? betweenTurns)
