import { loadBundle } from '../system/load-bundle.ts'

const { preCompact } = await loadBundle<typeof import('./session-events.ts')>('./session-events.mjs')
await preCompact()
