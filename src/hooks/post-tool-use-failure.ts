import { loadBundle } from '../system/load-bundle.ts'

/** The background entry passes a word of its own. */
await loadBundle(`./post-tool-use.mjs?as=${process.argv[2] ?? 'failure'}`)
