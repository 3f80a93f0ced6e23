import { loadModule } from './load-module.ts'

/** The bundle that serves the events of a session knows by this word which one it is. */
process.argv[2] = 'settings'
await loadModule('session-events')
