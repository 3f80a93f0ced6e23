import { type Dirent, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { errnoOf, type RegularRead, readRegular } from '../state/files.ts'
import { ownSkills } from '../state/own-paths.ts'
import { isNotFound, systemErrorCode } from '../system/errors.ts'
import { resolvePath } from '../system/paths.ts'
import type { ProtectedPaths } from './protected-paths.ts'

type LoadedThing = { readonly kind: 'skill' | 'agent'; readonly name: string }

/**
 * Commands that run while a skill, a custom command or an agent is loaded: those in its text, and hooks in its head.
 * All texts that the name could mean are read. A name that is in none of the folders belongs to Claude Code or to a
 * plugin that the user installed.
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

/** Our own skills are only in `.claude/skills`, so nested folders are not searched for them. */
function skillsFor(paths: ProtectedPaths, name: string, looking: ReadBudget): LoadedText[] {
  const texts = readTexts(paths, ['skills', 'commands'], looking)
  const nested = ownSkills.some((own) => own === name) ? [] : findNestedSkills(paths.root.named, looking)
  return [...texts, ...nested.flatMap((folder) => readLoadedTexts(folder, looking))]
}

function agentCommands(paths: ProtectedPaths, name: string, looking: ReadBudget): string[] {
  // Without a name Claude Code chooses the agent, so each of them counts.
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

/** A skill, a custom command or an agent. `names`: by folder or file, without regard to its head. */
export type LoadedText = {
  readonly names: readonly string[]
  /** Null: not readable for this process; Claude Code may still be able to read it. */
  readonly text: string | null
}

/** Whether Claude Code could load this one by that name. */
export function answersTo(loaded: LoadedText, name: string): boolean {
  const { known, isClear } = namesOf(loaded)
  return !isClear || known.includes(lastPart(name))
}

/** Whether an agent's head preloads skills. */
export const usesSkills = ({ text }: LoadedText): boolean => text === null || hasKey(headOf(text), 'skills')

export function preloadsSkill(agent: LoadedText, skill: LoadedText): boolean {
  const head = headOf(agent.text ?? '').toLowerCase()
  const { known, isClear } = namesOf(skill)
  // YAML escapes, anchors and aliases can spell a name without containing it.
  return !isClear || agent.text === null || /[\\&*]/.test(head) || known.some((name) => head.includes(name))
}

/** In brackets: why the commands are not known. */
export const commandsOnLoad = ({ text }: LoadedText): readonly string[] =>
  text === null ? ['(its text cannot be read)'] : [...commandsIn(text), ...hooksIn(text)]

/** Hooks in the head run commands at later calls. */
const hooksOf = ({ text }: LoadedText): readonly string[] =>
  text === null ? ['(its text cannot be read)'] : hooksIn(text)

/** The last part of `plugin:skill` or `folder/skill`. */
const lastPart = (name: string): string => (name.split(/[:/]/).at(-1) ?? '').trim().toLowerCase()

/** Only the plain form of a YAML head is read; any other form could give any name. */
function namesOf({ names, text }: LoadedText): { known: readonly string[]; isClear: boolean } {
  if (text === null) return { known: [], isClear: false }
  const head = headOf(text)
  const [line = '', label = ''] = /^name:[ \t]*["']?([\w :./-]*?)["']?[ \t]*\r?$/m.exec(head) ?? []
  return {
    known: [...names, label].map(lastPart).filter((name) => name !== ''),
    isClear: !hasKey(head.replace(line, ''), 'name'),
  }
}

/** `!` before a code span or after the fence of a code block, anywhere in a line. */
const commandsIn = (text: string): readonly string[] =>
  [...text.matchAll(/!`([^`]+)`|```+[ \t]*!\s*([\s\S]*?)```/g)].map(([, span, block]) => (span ?? block ?? '').trim())

const hooksIn = (text: string): readonly string[] => (hasKey(headOf(text), 'hooks') ? ['(its head sets hooks)'] : [])

/** Slightly wider than what Claude Code takes for a head. */
const headOf = (text: string): string => /^[\s\ufeff]*---[^\n]*\n([\s\S]*?)(?:\n[ \t]*---|$)/.exec(text)?.[1] ?? ''

/** A backslash can spell the key in another way. */
const hasKey = (head: string, key: 'name' | 'skills' | 'hooks'): boolean =>
  head.includes('\\') || new RegExp(`(?<![\\w-])${key}["']?\\s*:`, 'i').test(head)

/**
 * The nested `.claude/skills` folders of a worktree: Claude Code finds them when it reads files beside them, and they
 * may be links. Claude Code leaves out what git ignores; here nothing is left out.
 */
function findNestedSkills(root: string, looking: ReadBudget): string[] {
  const found: string[] = []
  const waiting = [root]
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop())
    for (const { name, isLink } of foldersIn(folder, looking)) {
      const path = join(folder, name)
      if (name === '.claude' && folder !== root) found.push(...folderAt(join(path, 'skills')))
      // A link is not followed: its target is either inside the worktree, and searched anyway, or not part of the
      // repository.
      if (isLink) found.push(...folderAt(join(path, '.claude/skills')))
      else waiting.push(path)
    }
  return found
}

const foldersIn = (folder: string, looking: ReadBudget): { name: string; isLink: boolean }[] =>
  entriesIfOpen(folder, looking)
    .filter((entry) => entry.name !== '.git' && (entry.isDirectory() || entry.isSymbolicLink()))
    .map((entry) => ({ name: entry.name, isLink: entry.isSymbolicLink() }))

/** Null for a folder that this user may not read: Claude Code cannot read it either. */
function entriesIfOpen(folder: string, looking: ReadBudget): Dirent[] {
  try {
    return entriesOf(folder, looking)
  } catch (error) {
    if (systemErrorCode(error) === 'EACCES') return []
    throw error
  }
}

const folderAt = (path: string): string[] => (folderThroughLinks(path) === null ? [] : [path])

/** Identity of a folder (device and inode), whichever links lead to it; null where it cannot be entered. */
function folderThroughLinks(path: string): string | null {
  try {
    const stat = statSync(path, { bigint: true })
    return stat.isDirectory() ? `${stat.dev} ${stat.ino}` : null
  } catch (error) {
    if (noFolder.includes(errnoOf(error) ?? '')) return null
    throw error
  }
}

/** Errors of a link that leads nowhere, in a circle, through a file, or where this user may not go. */
const noFolder = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENAMETOOLONG']

/** Limits for one call: a repository can hold any number of such files, and the gate has seconds. */
type ReadBudget = { entries: number; bytes: number; until: number; isCutShort: boolean }

const newReadBudget = (): ReadBudget => ({
  entries: 300_000,
  bytes: 24 * 1024 * 1024,
  until: performance.now() + 2_500,
  isCutShort: false,
})

/**
 * Every Markdown file below a folder, links followed as Claude Code does. A skill is named by its folder, a command or
 * an agent by its file.
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

/** Empty where the folder does not exist; throws where it cannot be read (fail closed). */
function entriesOf(folder: string, looking: ReadBudget): Dirent[] {
  if (!spend(looking, 'entries', 0)) return []
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    spend(looking, 'entries', entries.length)
    return entries
  } catch (error) {
    if (isNotFound(systemErrorCode(error))) return []
    throw error
  }
}

function spend(looking: ReadBudget, what: 'entries' | 'bytes', count: number): boolean {
  looking[what] -= count
  if (looking[what] < 0 || performance.now() > looking.until) looking.isCutShort = true
  return !looking.isCutShort
}

/** For the user's own files, which may be links. */
export function readThroughLinks(file: string): RegularRead {
  const target = resolvePath(file)
  return target.kind === 'resolved'
    ? readRegular(dirname(target.real), basename(target.real))
    : { kind: 'refused', why: target.why, ...(target.errno === undefined ? {} : { errno: target.errno }) }
}
