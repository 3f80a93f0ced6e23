import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { checkFolder } from './check-folder.ts'
import { reviewPaths } from './review-paths.ts'

/** `folder` is what `readApproval`, `listRevisions` and `readRevision` take. Partial: its archiving was interrupted. */
export type Cycle = { cycle: number; folder: string; kind: 'archived' | 'partial' }

/** In ascending order. */
export function listCycles(root: string): readonly Cycle[] {
  if (checkFolder(root, reviewPaths.history).kind !== 'folder') return []
  const cycles: Cycle[] = []
  for (const name of readdirSync(join(root, reviewPaths.history))) {
    const match = /^cycle-(\d{4,9})(\.partial)?$/.exec(name)
    const folder = `${reviewPaths.history}/${name}`
    if (!match || checkFolder(root, folder).kind !== 'folder') continue
    cycles.push({ cycle: Number(match[1]), folder, kind: match[2] ? 'partial' : 'archived' })
  }
  return cycles.sort((a, b) => a.cycle - b.cycle)
}
