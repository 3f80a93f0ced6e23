import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'

/** The folder of this package, whether the code runs from `src/` or from the bundle in `dist/`. */
export function packageRoot(): string {
  let dir = dirname(fileURLToPath(import.meta.url))
  while (!isPackageRoot(dir)) {
    const parent = dirname(dir)
    if (parent === dir) throw new Error('plan-gate cannot find its own files')
    dir = parent
  }
  return dir
}

export const packageVersion = (): string =>
  (JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string }).version

function isPackageRoot(dir: string): boolean {
  const file = join(dir, 'package.json')
  return existsSync(file) && (JSON.parse(readFileSync(file, 'utf8')) as { name?: string }).name === 'plan-gate'
}
