import { loadBundle } from '../system/load-bundle.ts'

const { sessionStart } = await loadBundle<typeof import('./session-events.ts')>('./session-events.mjs')
await sessionStart()
