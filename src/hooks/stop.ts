import { loadModule } from './load-module.ts'

/** The bundle that serves both events between turns knows by this word which one it is. */
process.argv[2] = 'stop'
await loadModule('between-turns')
