import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Every path below a folder with its kind, mode and content: two trees are the same when their snapshots are. */
export function snapshotTree(
  root: string,
  leftOut: (path: string) => boolean = () => false,
): { [path: string]: string } {
  const entries: { [path: string]: string } = {}
  const visit = (inside: string): void => {
    for (const name of readdirSync(join(root, inside)).sort()) {
      const path = inside === '' ? name : `${inside}/${name}`
      if (leftOut(path)) continue
      const stat = lstatSync(join(root, path))
      const mode = (stat.mode & 0o7777).toString(8)
      if (stat.isSymbolicLink()) entries[path] = `link ${readlinkSync(join(root, path))}`
      else if (stat.isDirectory()) {
        entries[path] = `folder ${mode}`
        visit(path)
      } else
        entries[path] = `file ${mode} ${createHash('sha256')
          .update(readFileSync(join(root, path)))
          .digest('hex')}`
    }
  }
  visit('')
  return entries
}
