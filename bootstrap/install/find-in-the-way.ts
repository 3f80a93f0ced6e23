import { ownSkills, planPath } from '../../src/gate/place-of.ts'
import { hooksDir } from '../../src/protocol/hook-entries.ts'
import { reviewDir } from '../../src/store/review-paths.ts'
import { foldersOf } from './own-folders.ts'

/** As `git ls-tree -r` lists it: a file, a symbolic link or a submodule, never a folder. */
export type Listed = { readonly mode: string; readonly path: string }

const files: readonly string[] = [
  'plan-gate.yaml',
  '.claude/settings.json',
  '.claude/settings.local.json',
  '.claude/.gitignore',
  planPath,
  ...ownSkills.map((name) => `.claude/skills/${name}/SKILL.md`),
]
const folders: readonly string[] = [...foldersOf(files), '.claude/hooks', hooksDir, reviewDir]

/** Why plan-gate could not write real files into real folders of such a commit; null where it can. */
export function findInTheWay(entries: readonly Listed[]): string | null {
  for (const { mode, path } of entries) {
    const inside = path.startsWith(`${hooksDir}/`) ? path.slice(hooksDir.length + 1) : null
    if (folders.includes(path)) return `${path} is ${kindOf(mode)}, not a folder`
    if ((files.includes(path) || inside !== null) && isNoFile(mode)) return `${path} is ${kindOf(mode)}, not a file`
    const file = files.find((name) => path.startsWith(`${name}/`))
    if (file !== undefined) return `${file} is a folder, not a file`
    if (inside?.includes('/')) return `${hooksDir} has a folder in it`
  }
  return null
}

const isNoFile = (mode: string): boolean => !mode.startsWith('100')

const kinds: { readonly [mode: string]: string } = {
  '040000': 'a folder',
  '120000': 'a symbolic link',
  '160000': 'a submodule',
}
const kindOf = (mode: string): string => kinds[mode] ?? 'a file'
