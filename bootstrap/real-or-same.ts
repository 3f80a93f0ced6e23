import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

/** With symbolic links followed as far as the path exists. */
export function realOrSame(path: string): string {
  const head = nearestFolder(resolve(path))
  return join(realpathSync(head), relative(head, resolve(path)))
}

export function nearestFolder(path: string): string {
  let head = path
  while (!existsSync(head) && dirname(head) !== head) head = dirname(head)
  return head
}
