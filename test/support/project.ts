import { join } from 'node:path'

/** The root of this project, and what `npm run build` makes in it. */
export const project = join(import.meta.dirname, '..', '..')
export const dist = join(project, 'dist')
export const cli = join(dist, 'cli.mjs')
