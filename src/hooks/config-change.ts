import { loadBundle } from '../system/load-bundle.ts'

const { configChange } = await loadBundle<typeof import('./session-events.ts')>('./session-events.mjs')
await configChange()
