import { type Dirent, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { errnoOf, type RegularRead, readRegular } from '../state/files.ts'
import { ownSkills } from '../state/own-paths.ts'
import { isAbsence, systemFailure } from '../system/errors.ts'
import { resolvePath } from '../system/paths.ts'
import type { ProtectedPaths } from './protected-paths.ts'

type LoadedThing = { readonly kind: 'skill' | 'agent'; readonly name: string }

/**
 * What runs as a skill, a custom command or an agent is loaded: commands in its text, and hooks that it sets. Every text
 * is looked at that could be meant. What is in none of the folders comes with Claude Code or with a plugin that the user
 * has installed.
 */
export function inlineCommands(paths: ProtectedPaths, loaded: LoadedThing): readonly string[] {
  const looking = newReadBudget()
  const commands =
    loaded.kind === 'skill' ? skillCommands(paths, loaded.name, looking) : agentCommands(paths, loaded.name, looking)
  return looking.isCutShort ? [...commands, '(there are more files here than can be looked through)'] : commands
}

const skillCommands = (paths: ProtectedPaths, name: string, looking: ReadBudget): string[] =>
  skillsFor(paths, name, looking)
    .filter((skill) => answersTo(skill, name))
    .flatMap(commandsOnLoad)

/** Ours stand where they are installed, so that nobody has to look further for them. */
function skillsFor(paths: ProtectedPaths, name: string, looking: ReadBudget): LoadedText[] {
  const texts = readTexts(paths, ['skills', 'commands'], looking)
  const nested = ownSkills.some((own) => own === name) ? [] : findNestedSkills(paths.root.named, looking)
  return [...texts, ...nested.flatMap((folder) => readLoadedTexts(folder, looking))]
}

function agentCommands(paths: ProtectedPaths, name: string, looking: ReadBudget): string[] {
  // Without a name it is Claude Code's choice.
  const agents = readTexts(paths, ['agents'], looking).filter((agent) => name === '' || answersTo(agent, name))
  const taking = agents.filter(usesSkills)
  const skills = taking.length === 0 ? [] : skillsFor(paths, '', looking)
  return [
    ...agents.flatMap(hooksOf),
    ...skills.filter((skill) => taking.some((agent) => preloadsSkill(agent, skill))).flatMap(commandsOnLoad),
  ]
}

function readTexts(paths: ProtectedPaths, folders: readonly string[], looking: ReadBudget): LoadedText[] {
  const roots = [paths.root.named, ...paths.mergedRoots].map((root) => join(root, '.claude'))
  return [...roots, ...paths.userDirs].flatMap((root) =>
    folders.flatMap((folder) => readLoadedTexts(join(root, folder), looking)),
  )
}

/** A skill, a custom command or an agent. `names`: what it goes by, whatever its head says. */
export type LoadedText = {
  readonly names: readonly string[]
  /** null: it cannot be read here, and perhaps there. */
  readonly text: string | null
}

/** Whether Claude Code could mean this one by such a name. */
export function answersTo(loaded: LoadedText, name: string): boolean {
  const { known, isClear } = namesOf(loaded)
  return !isClear || known.includes(lastPart(name))
}

/** Whether the skills that its head names, if it is an agent, are loaded with it. */
export const usesSkills = ({ text }: LoadedText): boolean => text === null || hasKey(headOf(text), 'skills')

/** Whether this agent, which takes skills along, could mean that one. */
export function preloadsSkill(agent: LoadedText, skill: LoadedText): boolean {
  const head = headOf(agent.text ?? '').toLowerCase()
  const { known, isClear } = namesOf(skill)
  // Escapes, anchors and aliases can spell a name without writing it.
  return !isClear || agent.text === null || /[\\&*]/.test(head) || known.some((name) => head.includes(name))
}

/** The commands that run as it is loaded, or in brackets why nobody can say which do. */
export const commandsOnLoad = ({ text }: LoadedText): readonly string[] =>
  text === null ? ['(its text cannot be read)'] : [...commandsIn(text), ...hooksIn(text)]

/** Hooks in the head run commands of their own, at later calls. */
const hooksOf = ({ text }: LoadedText): readonly string[] =>
  text === null ? ['(its text cannot be read)'] : hooksIn(text)

/** `plugin:skill` and `folder/skill` are that skill of several. */
const lastPart = (name: string): string => (name.split(/[:/]/).at(-1) ?? '').trim().toLowerCase()

/** A head is YAML, which says the same in many ways: only its plain form is read, and any other may name it anything. */
function namesOf({ names, text }: LoadedText): { known: readonly string[]; isClear: boolean } {
  if (text === null) return { known: [], isClear: false }
  const head = headOf(text)
  const [line = '', label = ''] = /^name:[ \t]*["']?([\w :./-]*?)["']?[ \t]*\r?$/m.exec(head) ?? []
  return {
    known: [...names, label].map(lastPart).filter((name) => name !== ''),
    isClear: !hasKey(head.replace(line, ''), 'name'),
  }
}

/** `!` before a code span, or after the fence of a code block, wherever in a line. */
const commandsIn = (text: string): readonly string[] =>
  [...text.matchAll(/!`([^`]+)`|```+[ \t]*!\s*([\s\S]*?)```/g)].map(([, span, block]) => (span ?? block ?? '').trim())

const hooksIn = (text: string): readonly string[] => (hasKey(headOf(text), 'hooks') ? ['(its head sets hooks)'] : [])

/** A little more than Claude Code takes for one. */
const headOf = (text: string): string => /^[\s\ufeff]*---[^\n]*\n([\s\S]*?)(?:\n[ \t]*---|$)/.exec(text)?.[1] ?? ''

/** With a backslash a key can be spelt in another way. */
const hasKey = (head: string, key: 'name' | 'skills' | 'hooks'): boolean =>
  head.includes('\\') || new RegExp(`(?<![\\w-])${key}["']?\\s*:`, 'i').test(head)

/**
 * The folders `.claude/skills` below a worktree but its own: Claude Code finds them as it reads files beside them, and
 * the folders themselves may be links. It leaves out what git ignores; nobody here asks git.
 */
function findNestedSkills(root: string, looking: ReadBudget): string[] {
  const found: string[] = []
  const waiting = [root]
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop())
    for (const { name, isLink } of foldersIn(folder, looking)) {
      const path = join(folder, name)
      if (name === '.claude' && folder !== root) found.push(...folderAt(join(path, 'skills')))
      // Where a link leads is not searched: within the worktree it is anyway, and beyond it is not the repository's.
      if (isLink) found.push(...folderAt(join(path, '.claude/skills')))
      else waiting.push(path)
    }
  return found
}

const foldersIn = (folder: string, looking: ReadBudget): { name: string; isLink: boolean }[] =>
  entriesIfOpen(folder, looking)
    .filter((entry) => entry.name !== '.git' && (entry.isDirectory() || entry.isSymbolicLink()))
    .map((entry) => ({ name: entry.name, isLink: entry.isSymbolicLink() }))

/** Data that a repository keeps from everybody is no reason to deny: Claude Code cannot look into it either. */
function entriesIfOpen(folder: string, looking: ReadBudget): Dirent[] {
  try {
    return entriesOf(folder, looking)
  } catch (error) {
    if (systemFailure(error) === 'EACCES') return []
    throw error
  }
}

const folderAt = (path: string): string[] => (folderThroughLinks(path) === null ? [] : [path])

/** What tells a folder from any other, by whatever links it is reached; null: no folder that anybody can enter. */
function folderThroughLinks(path: string): string | null {
  try {
    const stat = statSync(path, { bigint: true })
    return stat.isDirectory() ? `${stat.dev} ${stat.ino}` : null
  } catch (error) {
    if (noFolder.includes(errnoOf(error) ?? '')) return null
    throw error
  }
}

/** A link may lead nowhere, in circles, through a file, or to where this user may not go. */
const noFolder = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENAMETOOLONG']

/** What may still be looked at for one call: a repository can hold any number of such files, and the gate has seconds. */
type ReadBudget = { entries: number; bytes: number; until: number; isCutShort: boolean }

const newReadBudget = (): ReadBudget => ({
  entries: 300_000,
  bytes: 24 * 1024 * 1024,
  until: performance.now() + 2_500,
  isCutShort: false,
})

/**
 * Every Markdown file below a folder, links to other folders followed as Claude Code does. Skills go by the name of their
 * folder, commands and agents by that of their file.
 */
function readLoadedTexts(folder: string, looking: ReadBudget): LoadedText[] {
  const texts: LoadedText[] = []
  const seen = new Set<string>()
  const waiting = [{ path: folder, names: [] as readonly string[] }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { path, names } = next
    const folderId = folderThroughLinks(path)
    if (folderId === null || seen.has(folderId)) continue
    seen.add(folderId)
    for (const entry of entriesOf(path, looking)) {
      const inside = { path: join(path, entry.name), names: [...names, entry.name] }
      if (entry.isDirectory() || entry.isSymbolicLink()) waiting.push(inside)
      if (!entry.isDirectory() && entry.name.toLowerCase().endsWith('.md')) texts.push(readText(inside, looking))
    }
  }
  return texts
}

function readText({ path, names }: { path: string; names: readonly string[] }, looking: ReadBudget): LoadedText {
  const read = spend(looking, 'bytes', 0) ? readThroughLinks(path) : null
  if (read?.kind === 'read') spend(looking, 'bytes', read.bytes.length)
  return {
    names: names.flatMap((name) => [name, basename(name, '.md')]),
    text: read?.kind === 'read' ? read.bytes.toString('utf8') : null,
  }
}

/** None where nothing is there. A folder that cannot be looked into throws: who would say what is in it? */
function entriesOf(folder: string, looking: ReadBudget): Dirent[] {
  if (!spend(looking, 'entries', 0)) return []
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    spend(looking, 'entries', entries.length)
    return entries
  } catch (error) {
    if (isAbsence(systemFailure(error))) return []
    throw error
  }
}

function spend(looking: ReadBudget, what: 'entries' | 'bytes', count: number): boolean {
  looking[what] -= count
  if (looking[what] < 0 || performance.now() > looking.until) looking.isCutShort = true
  return !looking.isCutShort
}

/** For files of the user's own, which may well lie behind links. */
export function readThroughLinks(file: string): RegularRead {
  const target = resolvePath(file)
  return target.kind === 'resolved'
    ? readRegular(dirname(target.real), basename(target.real))
    : { kind: 'refused', why: target.why, ...(target.errno === undefined ? {} : { errno: target.errno }) }
}
