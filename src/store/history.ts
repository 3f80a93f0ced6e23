import { checkFolder } from './check-folder.ts'
import { listNames } from './list-names.ts'
import { reviewPaths } from './review-paths.ts'

/** `folder` is what `readApproval`, `listRevisions` and `readRevision` take. Partial: its archiving was interrupted. */
export type Cycle = { cycle: number; folder: string; kind: 'archived' | 'partial' }

/** In ascending order. */
export function listCycles(root: string): readonly Cycle[] {
  const cycles: Cycle[] = []
  for (const name of listNames(root, reviewPaths.history)) {
    const match = /^cycle-(\d{4,9})(\.partial)?$/.exec(name)
    const folder = `${reviewPaths.history}/${name}`
    if (!match || checkFolder(root, folder).kind !== 'folder') continue
    cycles.push({ cycle: Number(match[1]), folder, kind: match[2] ? 'partial' : 'archived' })
  }
  return cycles.sort((a, b) => a.cycle - b.cycle)
}
