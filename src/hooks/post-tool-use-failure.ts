import { loadModule } from './load-module.ts'

/** The bundle of the tool calls that succeed serves these, too; it knows by this word, or by the entry's own, which it is. */
process.argv[2] ??= 'failure'
await loadModule('post-tool-use')
