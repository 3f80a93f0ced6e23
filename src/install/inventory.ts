import { type Dirent, readdirSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { commandsOnLoad, readLoadedFile, shownJson, textsIn, trimmedLines } from '../gate/loaded-text.ts'
import { errnoOf, type RegularRead } from '../state/files.ts'
import { marketplaceFolders, readThroughLinks } from '../state/linked-files.ts'
import { localSettings, sharedSettings } from '../state/own-paths.ts'
import { readInstallRecord } from '../state/records.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { claudeDir, resolvePath } from '../system/paths.ts'
import { sha256 } from '../system/sha256.ts'
import { printable } from '../text/clean.ts'
import { isRecord } from '../text/json.ts'
import {
  findPlaces,
  kindOf,
  type Place,
  type Program,
  pathExists,
  programsIn,
  shownPrograms,
  type Tracked,
  trackedIn,
} from './inventory-files.ts'
import { type Finding, inSettings, mcpServers, shown } from './inventory-settings.ts'
import { settingsAt, settingsFrom } from './settings.ts'

/** Something that would run programs, change the environment or rewrite calls once Claude Code loads it. */
export type InventoryItem = {
  /** What `plan-gate trust <item>` takes, the same while the thing keeps its name: `hook:PreToolUse:1`, `mcp:notes`. Unique. */
  readonly id: string
  /** Relative to the worktree, or absolute for another place. */
  readonly path: string
  readonly what: string
  /** What it would run, or the values that it would set, a line each. */
  readonly runs: readonly string[]
  /** Over all that it consists of, so that any changed byte asks again. */
  readonly digest: string
  readonly from: 'repository' | 'main checkout' | 'user'
  /** What `enabledPlugins` calls it: set for a plugin of the user. */
  readonly plugin?: string
}

/** In a stable order. What cannot be read is an item; lists say what is harmless, and never what is dangerous. */
export function readInventory(root: string, gitDirs: GitDirs): readonly InventoryItem[] {
  const places = findPlaces(root, gitDirs)
  const budget = { files: 20_000, bytes: 256 * 1024 * 1024, names: 100_000 }
  const context: Context = { root, mainRoot: gitDirs.mainRoot, tracked: trackedIn(places.lines), budget }
  const items = [
    ...places.problems.map((problem) => placeItem(root, problem)),
    ...settingsItems(context, gitDirs),
    ...committedLocalSettings(context),
    ...mcpFiles(root, gitDirs).flatMap((place) => mcpItems(context, place)),
    ...places.folders.flatMap((place) => folderItems(context, place)),
    ...userPlugins(context),
  ]
  return withUniqueIds(isSpent(context) ? [...items, tooMuch] : items)
}

/** What was not read can change; so nobody can consent to it. */
const tooMuch: InventoryItem = {
  id: 'file:.claude',
  path: '.claude',
  what: '.claude holds more than can be looked through, and cannot be trusted as it is',
  runs: [],
  get digest() {
    return sha256(`${process.hrtime.bigint()}`)
  },
  from: 'repository',
}

type Context = {
  readonly root: string
  readonly mainRoot: string | null
  readonly tracked: Tracked
  readonly budget: { files: number; bytes: number; names: number }
}

function withUniqueIds(items: readonly InventoryItem[]): InventoryItem[] {
  const seen = new Map<string, number>()
  return items.map((item) => {
    const id = printable(item.id, 200)
    const path = printable(item.path, 4_096)
    const count = (seen.get(id) ?? 0) + 1
    seen.set(id, count)
    return { ...item, path, id: count === 1 ? id : `${id}#${count}` }
  })
}

const absolute = ({ root }: Context, path: string): string => resolve(root, path)

/** In front of the name of what does not stand in the worktree's own `.claude`: the folder that it does stand in. */
const prefixOf = ({ path }: Place): string =>
  path.replace(/\.claude\/(?:skills|plugins|commands|agents|output-styles)(?:\/[^/]*)?$/i, '')

// ---- settings and servers

function settingsItems(context: Context, gitDirs: GitDirs): InventoryItem[] {
  const record = readInstallRecord(gitDirs.own)
  const place: Place = { path: sharedSettings, from: 'repository' }
  if (record.kind === 'refused') return [wholeFile(context, place, `cannot be told from ours: ${record.why}`)]
  const installed = settingsFrom(record.kind === 'read' ? record.value.settings.after : '')
  return itemsIn(context, place, (text) => inSettings(text, installed))
}

function itemsIn(context: Context, place: Place, find: (text: string) => Finding[]): InventoryItem[] {
  const read = readThroughLinks(absolute(context, place.path))
  if (read.kind === 'absent') return []
  if (read.kind === 'refused') return [wholeFile(context, place, `cannot be read: ${read.why}`)]
  return find(read.bytes.toString('utf8')).map((finding) => itemOf(context, place, finding, read.bytes))
}

/** Only sessions that are started by hand load them. Where they are the user's own, git does not know them. */
function committedLocalSettings(context: Context): InventoryItem[] {
  if (readThroughLinks(absolute(context, localSettings)).kind === 'absent') return []
  const place: Place = { path: localSettings, from: 'repository' }
  return context.tracked.has(localSettings) ? [wholeFile(context, place, 'is committed, and meant to be personal')] : []
}

function itemOf(context: Context, { path, from }: Place, finding: Finding, bytes: Buffer): InventoryItem {
  const { id, what, runs, value, words } = finding
  const programs = programsIn(context, words)
  return {
    id,
    path,
    what,
    runs: [...runs, ...shownPrograms(programs)],
    digest: digestOf(value === undefined ? sha256(bytes) : value, programs),
    from,
  }
}

const digestOf = (...parts: readonly unknown[]): string => sha256(JSON.stringify(parts))

/** Claude Code takes the servers of each folder above as well. */
function mcpFiles(root: string, { mainRoot }: GitDirs): Place[] {
  const files: Place[] = [{ path: '.mcp.json', from: 'repository' }]
  for (let folder = root; dirname(folder) !== folder; ) {
    folder = dirname(folder)
    const isMain = mainRoot !== null && `${folder}/`.startsWith(`${mainRoot}/`)
    files.push({ path: join(folder, '.mcp.json'), from: isMain ? 'main checkout' : 'user' })
  }
  return files
}

function mcpItems(context: Context, place: Place): InventoryItem[] {
  const prefix = place.from === 'repository' ? '' : `${dirname(place.path)}/`
  return itemsIn(context, place, (text) => mcpServers(text, prefix))
}

// ---- folders

/** `folders`: each folder in it is a thing of its own; the name of a kind: each Markdown file is. */
type Part = 'agent' | 'command' | 'output-style' | 'folders' | 'programs' | 'silent'

const silentParts =
  'rules hooks worktrees review agent-memory agent-memory-local plans docs doc scripts templates prompts references ' +
  'specs tasks notes context memory assets examples checklists bin lib tests'

const parts: ReadonlyMap<string, Part> = new Map([
  ['skills', 'folders'],
  ['plugins', 'folders'],
  ['commands', 'command'],
  ['agents', 'agent'],
  ['output-styles', 'output-style'],
  ['workflows', 'programs'],
  ['routines', 'programs'],
  ...silentParts.split(' ').map((name): [string, Part] => [name, 'silent']),
])

const harmlessFile = /^(?:[\w.-]+\.(?:md|txt|lock|png|svg)|LICENSE|\.gitignore|\.gitkeep|\.gitattributes|\.DS_Store)$/i
/** `settings.json` is read by itself, in the worktree only; the local one is not loaded in a launched session. */
const readElsewhere = /^settings(?:\.local)?\.json$/i

function folderItems(context: Context, place: Place): InventoryItem[] {
  const isElsewhere = place.from !== 'repository'
  return list(context, place.path).flatMap((entry): InventoryItem[] => {
    const inside: Place = { path: `${place.path}/${entry.name}`, from: place.from }
    const kind = kindOf(absolute(context, inside.path))
    const part = parts.get(entry.name.toLowerCase())
    // Of the main checkout, Claude Code loads these parts alone.
    if (isElsewhere && !['skills', 'commands', 'agents'].includes(entry.name.toLowerCase())) return []
    if (part !== undefined && (kind === 'folder' || (kind === 'none' && part === 'silent')))
      return partItems(context, inside, part)
    if (readElsewhere.test(entry.name) || ((kind === 'file' || kind === 'none') && harmlessFile.test(entry.name)))
      return []
    return [wholeFile(context, inside, 'is where Claude Code could load it, and plan-gate does not know what it is')]
  })
}

function partItems(context: Context, place: Place, part: Part): InventoryItem[] {
  switch (part) {
    case 'silent':
      return []
    case 'programs': {
      const files = readAll(context, place.path)
      return files.filter(({ name }) => !harmlessFile.test(name)).length === 0
        ? []
        : [wholeFile(context, place, 'holds programs that Claude Code runs by itself')]
    }
    case 'folders':
      return list(context, place.path)
        .filter(({ name }) => kindOf(absolute(context, `${place.path}/${name}`)) === 'folder')
        .flatMap(({ name }) => thingItems(context, { path: `${place.path}/${name}`, from: place.from }, name))
    case 'agent':
    case 'command':
    case 'output-style': {
      const files = readAll(context, place.path)
      if (files.some(({ name }) => isPluginPart.test(name))) return [pluginItem(context, place, files)]
      return files
        .filter(({ name }) => /\.md$/i.test(name))
        .flatMap((file) => {
          const id = `${part}:${prefixOf(place)}${file.name.replace(/\.md$/i, '')}`
          return loadedItems(context, part, id, { path: file.path, from: place.from }, [file], [file])
        })
    }
  }
}

type FoundFile = { readonly name: string; readonly path: string; readonly read: RegularRead }

/** By these Claude Code, today's or a later one, knows a plugin. */
const isPluginPart =
  /(?:^|\/)(?:\.claude-plugin(?:\/|$)|(?:plugin|hooks|\.mcp|\.lsp)\.json$|register\.[cm]?[jt]s$)|^(?:hooks|monitors)\/|^settings\.json$/i

function thingItems(context: Context, place: Place, name: string): InventoryItem[] {
  const files = readAll(context, place.path)
  if (files.some((file) => isPluginPart.test(file.name))) return [pluginItem(context, place, files)]
  const texts = files.filter((file) => /(?:^|\/)skill\.md$/i.test(file.name))
  return loadedItems(context, 'skill', `skill:${prefixOf(place)}${name}`, place, texts, files)
}

/** Claude Code takes `/plan-gate:open` from there, and not from our plugin. */
const ourPlace = /\.claude\/(?:commands|skills)\/plan-gate(?![\w-])/i
const ourName = /^plan-gate(?![\w-])/i

const kinds = { skill: 'a skill', agent: 'an agent', command: 'a command', 'output-style': 'an output style' } as const

/** `files`: all that it consists of. */
function loadedItems(
  context: Context,
  kind: keyof typeof kinds,
  id: string,
  { path, from }: Place,
  texts: readonly FoundFile[],
  files: readonly FoundFile[],
): InventoryItem[] {
  const loaded = texts.map((file) => readLoadedFile(absolute(context, file.path), textOf(file.read)))
  // Claude Code runs no commands in the body of an agent.
  const problems = loaded.flatMap((text) => (kind === 'agent' ? text.problems : commandsOnLoad(text)))
  const takesOurs = ourPlace.test(path) || loaded.some(({ label }) => ourName.test(label ?? ''))
  if (problems.length === 0 && !takesOurs) return []
  const programs = programsBeside(context, { path, from }, files, [
    ...(kind === 'agent' ? [] : loaded.flatMap(({ commands }) => commands)),
    ...loaded.flatMap(({ words }) => words),
  ])
  return [
    {
      id,
      path,
      what: `${kinds[kind]} that ${takesOurs ? 'takes the place of a command of plan-gate' : 'runs or starts something when it is loaded'}`,
      runs: [...lines([...problems, ...loaded.flatMap(({ details }) => details)]), ...shownPrograms(programs)],
      digest: digestOf(digestOfFiles(files), programs),
      from,
    },
  ]
}

const lines = (texts: readonly string[]): string[] => texts.flatMap(trimmedLines).map(shown)

/** What an item names outside of its own `files`. Of the main checkout, it can also mean a file there. */
function programsBeside(context: Context, place: Place, files: readonly FoundFile[], words: readonly string[]) {
  if (place.from === 'user') return []
  const own = new Set(files.map(({ path }) => relative(context.root, absolute(context, path))))
  const bases = new Set([place.path, ...files.filter(({ name }) => isJson(name)).map(({ path }) => dirname(path))])
  const inMain =
    place.from === 'repository' || context.mainRoot === null
      ? []
      : programsIn({ ...context, root: context.mainRoot, tracked: onlyScripts }, words, [...bases]).map(
          ([path, hash]): Program => [join(context.mainRoot ?? '', path), hash],
        )
  return [...programsIn(context, words, [...bases]), ...inMain].filter(
    ([path]) => !own.has(relative(context.root, absolute(context, path))),
  )
}

const onlyScripts: Tracked = { has: () => false, named: () => [] }

function pluginItem(context: Context, place: Place, files: readonly FoundFile[]): InventoryItem {
  const parts = files.filter(({ name }) => isPluginPart.test(name) || isJson(name))
  const read = parts.map((file) => ({ name: file.name, ...readJson(textOf(file.read) ?? '') }))
  const programs = programsBeside(
    context,
    place,
    files,
    read.flatMap(({ words }) => words),
  )
  return {
    id: `plugin:${place.path}`,
    path: place.path,
    what: 'a plugin: it can bring hooks, modules, servers and settings',
    runs: [
      ...read.flatMap(({ name, programs }) => [shown(name), ...programs.map((line) => `  ${shown(line)}`)]),
      ...shownPrograms(programs),
    ],
    digest: digestOf(digestOfFiles(files), programs),
    from: place.from,
  }
}

const isJson = (name: string): boolean => /\.json$/i.test(name)

/** For a person to look at; what is not JSON, or too deep, is shown by its name alone. */
function readJson(text: string): { words: readonly string[]; programs: readonly string[] } {
  try {
    const value: unknown = JSON.parse(text)
    return { words: textsIn(value), programs: programsInJson(value) }
  } catch {
    return { words: [text], programs: [] }
  }
}

function programsInJson(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) => [
    ...programsInJson(inner),
    ...(/^(?:command|args|url|prompt|modules|headersHelper)$/.test(key) ? [`${key}: ${shownJson(inner)}`] : []),
  ])
}

const textOf = (read: RegularRead): string | null => (read.kind === 'read' ? read.bytes.toString('utf8') : null)

const digestOfFiles = (files: readonly FoundFile[]): string =>
  digestOf(files.map(({ name, read }) => [name, read.kind === 'read' ? sha256(read.bytes) : read]))

function wholeFile(context: Context, { path, from }: Place, why: string): InventoryItem {
  const files = readAll(context, path)
  return {
    id: `file:${path}`,
    path,
    what: `${printable(path)} ${why}`,
    runs: files.slice(0, 20).map(({ name }) => printable(name)),
    digest: digestOf(why, digestOfFiles(files)),
    from,
  }
}

/** What is behind it is no part of the repository, so it is not read. */
function placeItem(root: string, { path, why }: { path: string; why: string }): InventoryItem {
  const target = resolvePath(join(root, path))
  const real = target.kind === 'resolved' ? target.real : target.why
  const what = `${printable(path)} ${why}`
  return {
    id: `file:${path}`,
    path,
    what,
    runs: what.includes(real) ? [] : [printable(real, 300)],
    digest: digestOf(why, real),
    from: 'repository',
  }
}

/** Sorted; empty where there is no such folder. */
function list(context: Context, path: string): Dirent[] {
  try {
    const entries = readdirSync(absolute(context, path), { withFileTypes: true })
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return []
  }
}

/** Every file below, links followed, but not in circles. Names are relative to `path`. */
function readAll(context: Context, path: string): FoundFile[] {
  const found: FoundFile[] = []
  const open = new Set<string>()
  const walk = (inside: string): void => {
    if (isSpent(context)) return
    const name = relative(path, inside)
    const full = absolute(context, inside)
    if (kindOf(full) !== 'folder') {
      context.budget.files -= 1
      found.push(readLater(context, { name, path: inside }))
      return
    }
    try {
      const { dev, ino } = statSync(full, { bigint: true })
      const folder = `${dev} ${ino}`
      if (open.has(folder)) return
      open.add(folder)
      for (const entry of readdirSync(full).sort()) if (entry !== '.git') walk(`${inside}/${entry}`)
      open.delete(folder)
    } catch (error) {
      found.push({ name, path: inside, read: { kind: 'refused', why: errnoOf(error) } })
    }
  }
  walk(path)
  return found
}

/** The bytes are only needed of what is judged or becomes an item. */
function readLater(context: Context, file: Pick<FoundFile, 'name' | 'path'>): FoundFile {
  let read: RegularRead | undefined
  return {
    ...file,
    get read() {
      read ??= take(context, absolute(context, file.path))
      return read
    },
  }
}

const isSpent = ({ budget }: Context): boolean => budget.files < 0 || budget.bytes < 0 || budget.names < 0

function take({ budget }: Context, file: string): RegularRead {
  const read = readThroughLinks(file, Math.max(0, budget.bytes))
  if (read.kind === 'read') budget.bytes -= read.bytes.length
  // Larger than what is left.
  else if (read.kind === 'refused' && read.errno === undefined && kindOf(file) === 'file') budget.bytes = -1
  return read
}

// ---- the user's plugins

/** Those with modules, which can take any hook away, and those with hooks in the folder of skills, where any program could put one. */
function userPlugins(context: Context): InventoryItem[] {
  const folder = join(claudeDir(), 'skills')
  const adopted = list(context, folder)
    .map(({ name }) => ({ name, path: join(folder, name) }))
    .filter(({ path }) => pathExists(join(path, '.claude-plugin/plugin.json')))
    .map(({ name, path }) => ({
      id: `${nameIn(join(path, '.claude-plugin/plugin.json')) ?? name}@skills-dir`,
      folders: [path],
      brings: /"(?:modules|hooks)"/,
    }))
  return [...adopted, ...installedPlugins()].flatMap(({ id, folders, brings }): InventoryItem[] => {
    const [path] = folders
    const files = folders.flatMap((each) => readAll(context, each))
    const has = files.some(
      ({ name, read }) =>
        (isJson(name) && brings.test(textOf(read) ?? '"modules"')) ||
        (brings.test('"hooks"') && /(?:^|\/)hooks\//.test(name)),
    )
    return has && path !== undefined
      ? [{ ...pluginItem(context, { path, from: 'user' }, files), id: `plugin:${id}`, plugin: id }]
      : []
  })
}

type UserPlugin = { readonly id: string; readonly folders: readonly string[]; readonly brings: RegExp }

/** Of a marketplace that is a folder, Claude Code reads the plugin from there. */
function installedPlugins(): UserPlugin[] {
  const dir = join(claudeDir(), 'plugins')
  const { plugins } = settingsAt(join(dir, 'installed_plugins.json'))
  const { enabledPlugins } = settingsAt(join(claudeDir(), 'settings.json'))
  const markets = marketplaceFolders()
  if (!isRecord(plugins)) return []
  return Object.entries(plugins).flatMap(([id, installs]): UserPlugin[] => {
    if (isRecord(enabledPlugins) && enabledPlugins[id] === false) return []
    const folders = [
      ...(Array.isArray(installs) ? installs : [installs]).map((install: unknown) =>
        isRecord(install) ? install.installPath : null,
      ),
      markets.get(id.slice(id.lastIndexOf('@') + 1)),
    ]
    return [{ id, folders: folders.filter((path) => typeof path === 'string'), brings: /"modules"/ }]
  })
}

function nameIn(manifest: string): string | null {
  const { name } = settingsAt(manifest)
  return typeof name === 'string' ? name : null
}
