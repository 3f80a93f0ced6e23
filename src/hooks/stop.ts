import { loadBundle } from '../system/load-bundle.ts'

const { stop } = await loadBundle<typeof import('./session-events.ts')>('./session-events.mjs')
await stop()
