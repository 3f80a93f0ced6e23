import { join, relative } from 'node:path'
import type { GitDirs } from '../system/git-dirs.ts'
import { gitSync } from '../system/hook-git.ts'
import { claudeDir, resolvePath } from '../system/paths.ts'
import { printable } from '../text/clean.ts'
import { isFolder, isOutside, pathExists, realOf, trackedEntry } from './inventory-programs.ts'

export type Place = { readonly path: string; readonly from: 'repository' | 'main checkout' | 'user' }

type Places = {
  folders: Place[]
  problems: { path: string; why: string }[]
  /** Of git, about the worktree; null: it failed. */
  lines: readonly string[] | null
}

/** Every `.claude` that counts: of the worktree, of the folders in it, and of the main checkout. */
export function findPlaces(root: string, { mainRoot }: GitDirs): Places {
  const { folders, problems, lines } = findNested(root, '')
  const isLinked = mainRoot !== null && resolvePath(mainRoot).path !== resolvePath(root).path
  return {
    folders: [
      { path: '.claude', from: 'repository' },
      // The user's own may be anywhere.
      ...folders
        .filter((path) => join(root, path) !== claudeDir())
        .map((path): Place => ({ path, from: 'repository' })),
      ...(isLinked ? [{ path: join(mainRoot, '.claude'), from: 'main checkout' } as const] : []),
    ],
    problems,
    lines,
  }
}

const gitTimeoutMs = 20_000

/**
 * The `.claude` folders below a folder: Claude Code finds them when it reads files beside them, also through links, and
 * leaves out only what stands in a folder that git ignores.
 */
function findNested(root: string, below: string): Omit<Places, 'folders'> & { folders: string[] } {
  const listed = listFiles(join(root, below))
  if (listed === null)
    return { folders: [], problems: [{ path: below || '.', why: 'cannot be listed by git' }], lines: null }
  const { lines, links, repositories, folders, unreadable } = listed
  const found = [...folders].map((folder) => `${below}${folder}/.claude`).filter((path) => isFolder(join(root, path)))
  const problems: Places['problems'] = unreadable.map((path) => ({
    path: below + path,
    why: 'has a name that is not UTF-8',
  }))
  problems.push(...linkedTexts(root, below, lines))
  for (const link of links) {
    const target = folderBehindLink(join(root, below, link))
    if (target === null || /(?:^|\/)\.claude(?:\/|$)/.test(link)) continue
    if (folders.has(relative(resolvePath(join(root, below)).path, target))) found.push(`${below}${link}/.claude`)
    else problems.push({ path: below + link, why: 'is a link to a folder that git does not list' })
  }
  for (const repository of repositories) {
    const path = below + repository
    if (!pathExists(join(root, path, '.git')) || path.startsWith('.claude/worktrees/')) continue
    const inner = findNested(root, `${path}/`)
    found.push(`${path}/.claude`, ...inner.folders)
    problems.push(...inner.problems)
  }
  return { folders: [...new Set(found)].filter((path) => isFolder(join(root, path))).sort(), problems, lines }
}

/** Committed links by which a text that Claude Code sends to the model stands outside of the worktree, as a key may. */
function linkedTexts(root: string, below: string, lines: readonly string[]): Places['problems'] {
  const links = lines.filter((line) => line.startsWith('120000')).map((line) => line.slice(line.indexOf('\t') + 1))
  return links
    .filter((link) => sentText.test(link))
    .flatMap((link) => {
      const target = resolvePath(join(root, below, link))
      if (target.kind !== 'resolved') return []
      const inside = relative(realOf(root), target.real)
      return isOutside(inside) || /^\.git(?:\/|$)/.test(inside)
        ? [{ path: below + link, why: `is a link out of the repository, to ${printable(target.real, 300)}` }]
        : []
    })
}

const sentText = /(?:^|\/)(?:(?:CLAUDE(?:\.local)?|AGENTS)\.md|\.claude|\.claude\/rules(?:\/.*)?)$/i

type Listed = { lines: string[]; links: string[]; repositories: string[]; folders: Set<string>; unreadable: string[] }

function listFiles(folder: string): Listed | null {
  const list = (...args: string[]): string[] | null => {
    const options = ['-c', 'core.fsmonitor=false', 'ls-files', '-z', '-o', '--exclude-standard']
    const run = gitSync(folder, [...options, ...args], gitTimeoutMs)
    return run.kind === 'ended' && run.exitCode === 0 ? run.stdout.toString('utf8').split('\0').slice(0, -1) : null
  }
  const [lines, ignored] = [list('-s'), list('-i', '--directory')]
  if (lines === null || ignored === null) return null
  const links: string[] = []
  const repositories: string[] = []
  const folders = new Set<string>()
  let last = ''
  const addFolders = (path: string): void => {
    const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')))
    // Git sorts them.
    if (folder === last) return
    last = folder
    for (let at = folder; at !== '' && !folders.has(at); at = at.slice(0, Math.max(0, at.lastIndexOf('/'))))
      folders.add(at)
  }
  for (const line of lines) {
    // Of what is not tracked there is only the path, with a slash behind it for a repository.
    const isTracked = trackedEntry.test(line)
    const path = (isTracked ? line.slice(line.indexOf('\t') + 1) : line).replace(/\/$/, '')
    addFolders(path)
    if (isTracked ? line.startsWith('160000') : line.endsWith('/')) repositories.push(path)
    else if (!isTracked || line.startsWith('120000')) links.push(path)
  }
  for (const path of ignored) addFolders(path.replace(/\/$/, ''))
  const unreadable = [...lines, ...ignored].filter((line) =>
    /\.claude(?:\/|$).*\ufffd|\ufffd.*\.claude(?:\/|$)/i.test(line),
  )
  return { lines, links, repositories, folders, unreadable }
}

function folderBehindLink(path: string): string | null {
  const target = resolvePath(path)
  return target.kind === 'resolved' && target.real !== target.path && isFolder(target.real) ? target.real : null
}
