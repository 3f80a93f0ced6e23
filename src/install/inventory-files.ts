import { statSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { readThroughLinks } from '../state/linked-files.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { gitSyncOrThrow } from '../system/hook-git.ts'
import { claudeDir, resolvePath } from '../system/paths.ts'
import { sha256 } from '../system/sha256.ts'
import { printable } from '../text/clean.ts'
import { settingsAt } from './settings.ts'

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

/** Claude Code finds them when it reads files beside them, through links too, but not in what git ignores. */
function findNested(root: string, below: string): Omit<Places, 'folders'> & { folders: string[] } {
  const listed = listFiles(join(root, below))
  if (typeof listed === 'string')
    return { folders: [], problems: [{ path: below || '.', why: `cannot be listed by git: ${listed}` }], lines: null }
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

/** A text: why they cannot be listed. */
function listFiles(folder: string): Listed | string {
  const list = (...args: string[]): string[] => {
    const options = ['-c', 'core.fsmonitor=false', 'ls-files', '-z', '-o', '--exclude-standard']
    return gitSyncOrThrow(folder, [...options, ...args], gitTimeoutMs)
      .split('\0')
      .slice(0, -1)
  }
  let listed: readonly [string[], string[]]
  try {
    listed = [list('-s'), list('-i', '--directory')]
  } catch (error) {
    return (error as Error).message
  }
  const [lines, ignored] = listed
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

/** What looking for programs needs; `names` is used up by it. */
type ProgramContext = { readonly root: string; readonly tracked: Tracked; readonly budget: { names: number } }

/** The path of a file and what stands for its bytes. */
export type Program = readonly [path: string, hash: string]

export const shownPrograms = (programs: readonly Program[]): string[] =>
  programs.map(([path]) => `(runs ${printable(path)} of the repository)`)

/** What command lines name, also from a folder that they name or from `bases`. What that loads is not followed. */
export function programsIn(context: ProgramContext, texts: readonly string[], bases: readonly string[] = []) {
  const { root, tracked, budget } = context
  const lines = texts.map((line) => line.replace(ownFolder, '.'))
  const named = [...new Set(lines.flatMap((line) => line.split(/[\s"'`;|&()<>=,]+/)))].filter((word) => word !== '')
  const runBy = named.flatMap((word) => runnerFiles.get(word) ?? [])
  const folders = named.filter((word) => /^[\w./-]+$/.test(word) && isFolder(resolve(root, word)))
  const completes = named.some((word) => completingRunner.test(basename(word)))
  const found = new Map<string, Program>()
  const look = (full: string): void => {
    budget.names -= 1
    if (budget.names < 0) return
    const path = relative(root, full)
    if (isOutside(path) || found.has(path) || kindOf(full) !== 'file') return
    const read = readThroughLinks(full)
    const isProgram = tracked.has(path) || tracked.has(relative(realOf(root), realOf(full))) || isScript.test(path)
    // A log that the command itself writes must not ask again after each session.
    if (read.kind === 'read' && isProgram) found.set(path, [path, sha256(read.bytes)])
  }
  const lookCompleted = (full: string, word: string): void => {
    look(full)
    if (completes || word.includes('/')) for (const ending of endings) look(full + ending)
    if (!completes || !isFolder(full)) return
    for (const name of startedInFolder) look(join(full, name))
    const { main } = settingsAt(join(full, 'package.json'))
    if (typeof main === 'string') for (const ending of ['', ...endings]) look(resolve(full, main) + ending)
  }
  for (const word of [...named, ...runBy]) {
    const isModule = completes && /^\w+(?:\.\w+)+$/.test(word)
    // From the other folders of an item, only these lead out of it.
    const from = ['.', ...folders.slice(0, 9), ...(word.includes('..') ? bases : [])]
    for (const folder of new Set(from)) {
      lookCompleted(resolve(root, folder, word), word)
      if (isModule) lookCompleted(resolve(root, folder, word.replaceAll('.', '/')), word)
    }
  }
  // The folder is only known when it runs.
  const unknown = lines.filter((line) => /[$`]/.test(line)).flatMap((line) => line.split(/[\s"'`;|&()<>=,/${}]+/))
  const names = completes ? unknown.flatMap((name) => ['', ...endings].map((ending) => name + ending)) : unknown
  const alike = [...new Set(names)].flatMap((name) => tracked.named(name)).filter(({ path }) => !found.has(path))
  for (const { path } of alike.slice(0, 50)) look(resolve(root, path))
  return [...found.values(), ...alike.slice(50).map(({ path, hash }): Program => [path, hash])]
}

const ownFolder = /["']?\$\{?CLAUDE_(?:PROJECT_DIR|PLUGIN_ROOT|SKILL_DIR)(?::-[^}]*)?\}?["']?/g

/** Programs that find a file by a part of its path. */
const completingRunner = /^(?:node|nodejs|bunx?|deno|tsx|ts-node|npx|electron|python|pypy|uvx?)[\d.]*(?:\.exe)?$/i

const endings = ['.js', '.mjs', '.cjs', '.ts', '.py']

const startedInFolder = 'package.json index.js index.mjs index.cjs index.ts __main__.py __init__.py'.split(' ')

const isOutside = (path: string): boolean => /^(?:\.\.(?:\/|$)|\/)/.test(path)

function realOf(path: string): string {
  const target = resolvePath(path)
  return target.kind === 'resolved' ? target.real : path
}

export type Tracked = {
  readonly has: (path: string) => boolean
  readonly named: (name: string) => readonly { readonly path: string; readonly hash: string }[]
}

/** By the lines of `git ls-files -s`. Null: git cannot say, so every file counts as tracked. */
export function trackedIn(lines: readonly string[] | null): Tracked {
  let byName: Map<string, string[]> | undefined
  const linesOf = (name: string): readonly string[] => {
    byName ??= groupedByName(lines ?? [])
    return byName.get(name)?.filter((line) => trackedEntry.test(line)) ?? []
  }
  const pathOf = (line: string): string => line.slice(line.indexOf('\t') + 1)
  return {
    has: (path) => lines === null || linesOf(basename(path)).some((line) => pathOf(line) === path),
    named: (name) => linesOf(name).map((line) => ({ path: pathOf(line), hash: line.slice(0, line.indexOf('\t')) })),
  }
}

function groupedByName(lines: readonly string[]): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const line of lines) {
    const name = line.slice(Math.max(line.lastIndexOf('/'), line.indexOf('\t')) + 1)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [line])
    else group.push(line)
  }
  return groups
}

const isScript = /\.(?:bash|bat|c?js|cmd|lua|m?[jt]s|php|pl|ps1|py|rb|sh|zsh)$/i

/** What a program runs that is only named by its key. */
const runnerFiles: ReadonlyMap<string, readonly string[]> = new Map([
  ...['npm', 'npx', 'pnpm', 'yarn', 'bun', 'bunx'].map((name): [string, string[]] => [name, ['package.json']]),
  ['make', ['Makefile', 'makefile', 'GNUmakefile']],
  ['just', ['justfile']],
])

const trackedEntry = /^[0-7]{6} [0-9a-f]{40,64} [0-3]\t/

export const pathExists = (path: string): boolean => kindOf(path) !== 'none'

const isFolder = (path: string): boolean => kindOf(path) === 'folder'

/** Through links. */
export function kindOf(path: string): 'folder' | 'file' | 'other' | 'none' {
  try {
    const stat = statSync(path, { throwIfNoEntry: false })
    return stat === undefined ? 'none' : stat.isDirectory() ? 'folder' : stat.isFile() ? 'file' : 'other'
  } catch {
    return 'none'
  }
}
