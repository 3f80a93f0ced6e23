import { lstatSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { foldersDownTo } from './check-folder.ts'

/** Takes away whatever stands at a path below a root, and whatever stands in the way to it that is no real folder. */
export function removePath(root: string, path: string): void {
  const steps = foldersDownTo(path)
  const obstacle = steps.slice(0, -1).find((step) => {
    const found = lstatSync(join(root, step), { throwIfNoEntry: false })
    return found !== undefined && !found.isDirectory()
  })
  rmSync(join(root, obstacle ?? path), { recursive: true, force: true })
}
