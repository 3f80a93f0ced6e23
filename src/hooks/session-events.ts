import { betweenTurns } from './between-turns.ts'
import { runHook } from './run-hook.ts'
import { startSession } from './start-session.ts'

/** SessionStart, Stop and PreCompact need much the same, so they share a bundle; a word says which it is. */
await runHook(process.argv[2] === 'start' ? startSession : betweenTurns)
