import { lstatSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { CompiledConfig } from '../config/schema.ts'
import { relativeEntries } from '../system/environment.ts'
import { type GitDirs, readGitDirs } from '../system/git-dirs.ts'
import { loadBundle } from '../system/load-bundle.ts'
import { homeDir, resolvePath } from '../system/paths.ts'
import type { BashPolicy, Location } from './bash/check-command.ts'
import type { Disk, Found } from './bash/row.ts'
import type { CheckedCommand } from './decide.ts'
import { readGitKeys } from './working-tree.ts'

type BashConfig = { allow?: readonly string[]; compound?: boolean }

/**
 * The list is loaded only for a command, and the parser only for more than plain words; git's configuration is read only
 * where git is named.
 */
export async function checkCommands(
  root: string,
  config: CompiledConfig,
  commands: readonly string[],
  cwd = root,
): Promise<readonly CheckedCommand[]> {
  if (commands.length === 0) return []
  const [relative] = relativeEntries(process.env.PATH)
  if (relative !== undefined) return commands.map((command) => ({ command, refusal: refuseRelativePath(relative) }))
  const bash = (config.config.gate as { bash?: BashConfig } | undefined)?.bash
  const gitDirs = commands.some((command) => /\bgit\b/.test(command.slice(0, 10_000))) ? readGitDirs(root) : null
  const policy = {
    compound: bash?.compound ?? true,
    allowed: bash?.allow ?? [],
    ...gitKeys(root, gitDirs),
    ...surroundings(root, cwd),
  }
  const { checkPlainCommand, checkCommand } = await loadList()
  const checked: CheckedCommand[] = []
  for (const command of commands) {
    const verdict = checkPlainCommand(command, policy) ?? checkCommand(command, policy, (await loadParser()).readLine)
    checked.push({ command, refusal: verdict.kind === 'allow' ? null : verdict })
  }
  return checked
}

const loadList = (): Promise<typeof import('./bash/check-command.ts')> => loadBundle('check-commands')
const loadParser = (): Promise<typeof import('./bash/parse.ts')> => loadBundle('parse-command')

const refuseRelativePath = (entry: string): CheckedCommand['refusal'] => ({
  rule: 'path',
  reason: `PATH has an entry that is not absolute, ${JSON.stringify(entry)}, so any command could be a program of this repository. The user has to remove it and start Claude Code again.`,
})

/** Null: git is not named, or this is no repository. */
export function gitKeys(root: string, gitDirs: GitDirs | null): Pick<BashPolicy, 'untrustedGitKeys' | 'promisorKeys'> {
  const { changed, promisor } = gitDirs === null ? { changed: [], promisor: [] } : readGitKeys(root, gitDirs)
  return { untrustedGitKeys: changed, promisorKeys: promisor }
}

/** What a command finds when it starts. Claude Code keeps the folder that a `cd` led to. */
export const surroundings = (root: string, cwd: string): Pick<BashPolicy, 'start' | 'enter' | 'shell'> & Disk => ({
  ...locate(root, cwd),
  look,
  oddNames,
  shell: { home: homeDir(), environment: Object.keys(process.env) },
})

/** The folder in which a command starts, and those that a `cd` reaches from there. */
function locate(root: string, directory: string): { start: Location; enter: BashPolicy['enter'] } {
  const at = (path: string, physical: string, written: string): Location => {
    const real = realPath(path)
    const isRoot = written === root
    return {
      directories: [...new Set([path, realPath(physical) ?? physical, real ?? path])],
      isRoot,
      gitProblem: () => (isRoot ? null : problemWithGit(root, real, written)),
    }
  }
  const first = resolve(root, directory)
  return {
    start: at(first, first, first),
    // A shell takes `..` from the name of the folder, or where that leads nowhere, from the folder itself.
    enter: ({ directories: [from = root, real = from] }, path) =>
      at(resolve(from, path), resolve(real, path), path.startsWith('/') ? path : `${from}/${path}`),
  }
}

function look(path: string): Found | null {
  try {
    const real = realpathSync.native(path)
    const stat = lstatSync(real)
    const isFolder = stat.isDirectory()
    return { real, isOrdinary: isFolder || stat.isFile(), isFolder }
  } catch {
    return null
  }
}

function oddNames(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.filter((entry) => !entry.isFile() && !entry.isDirectory()).map(({ name }) => name)
  } catch {
    return []
  }
}

function realPath(path: string): string | null {
  const target = resolvePath(path)
  return target.kind === 'resolved' ? target.real : null
}

/** `written` still has its `..`, which a shell and the kernel may follow to different places. */
function problemWithGit(root: string, real: string | null, written: string): string | null {
  const base = realPath(root)
  try {
    if (real === null || base === null || realpathSync.native(written) !== real) return 'which cannot be resolved'
    for (let at = real; at !== base; at = dirname(at)) {
      if (exists(join(at, '.git')) || exists(join(at, 'HEAD'))) return `which belongs to another repository (${at})`
      if (at === dirname(at)) return 'which is not in this worktree'
    }
    return null
  } catch {
    return 'which cannot be read'
  }
}

const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined
