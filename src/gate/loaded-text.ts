import { type Dirent, lstatSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Document, isAlias, isScalar, parseAllDocuments, visit } from 'yaml'
import { errnoOf } from '../state/files.ts'
import { readThroughLinks } from '../state/linked-files.ts'
import { ownSkills } from '../state/own-paths.ts'
import { isNotFound, systemErrorCode } from '../system/errors.ts'
import { resolvePath } from '../system/paths.ts'
import type { ProtectedPaths } from './protected-paths.ts'

type LoadedThing = { readonly kind: 'skill' | 'agent'; readonly name: string }

/**
 * Of all texts that the name could mean, and of what they take along. One in no folder is Claude Code's, or a plugin's of
 * the user, which is not looked for: in the sandbox it can change nothing, and the list knows no such command.
 */
export function inlineCommands(paths: ProtectedPaths, loaded: LoadedThing): readonly string[] {
  const budget = newReadBudget()
  const commands: string[] = []
  const waiting: LoadedThing[] = [loaded]
  const seen = new Set<string>()
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { kind, name } = next
    const key = `${kind} ${lastPart(name)}`
    if (seen.has(key)) continue
    seen.add(key)
    const texts = kind === 'skill' ? skillsFor(paths, name, budget) : readTexts(paths, ['agents'], budget)
    // Without a name Claude Code chooses the agent, so each of them counts.
    const meant = texts.filter((text) => (kind === 'agent' && name === '') || answersTo(text, name))
    commands.push(...meant.flatMap((text) => (kind === 'skill' ? commandsOnLoad(text) : text.problems)))
    if (kind === 'skill' && meant.length === 0 && isOfPlugin(name)) commands.push(`what the plugin of ${name} runs`)
    waiting.push(...meant.flatMap(({ takes }) => takes))
  }
  return budget.isCutShort ? [...commands, '(there are more files here than can be looked through)'] : commands
}

/** Our own skills are only in `.claude/skills`, so nested folders are not searched for them. */
function skillsFor(paths: ProtectedPaths, name: string, budget: ReadBudget): NamedText[] {
  const texts = readTexts(paths, ['skills', 'commands'], budget)
  const nested = ownSkills.some((own) => own === name) ? [] : findNestedSkills(paths.root.named, budget)
  return [...texts, ...nested.flatMap((folder) => readLoadedTexts(folder, budget))]
}

function readTexts(paths: ProtectedPaths, folders: readonly string[], budget: ReadBudget): NamedText[] {
  const roots = [paths.root.named, ...paths.mergedRoots].map((root) => join(root, '.claude'))
  return [...roots, ...paths.userDirs].flatMap((root) =>
    folders.flatMap((folder) => readLoadedTexts(join(root, folder), budget)),
  )
}

/** What a skill, a custom command, an agent or an output style brings along when Claude Code loads it. */
export type LoadedText = {
  /** `name` in its head; undefined where that is not known. */
  readonly label: string | null | undefined
  /** In brackets: what in its head may run programs, or why that is not known. */
  readonly problems: readonly string[]
  /** The same with the values, a line each. */
  readonly details: readonly string[]
  /** The texts in these values, which may name programs. */
  readonly words: readonly string[]
  /** In its body. */
  readonly commands: readonly string[]
  readonly takes: readonly LoadedThing[]
}

/** `names`: of its folders and its file, without regard to its head. */
type NamedText = LoadedText & { readonly names: readonly string[] }

export const commandsOnLoad = ({ problems, commands }: LoadedText): readonly string[] => [...problems, ...commands]

/** Whether Claude Code could load this one by that name. */
export const answersTo = ({ names, label }: NamedText, name: string): boolean =>
  label === undefined || [...names, label ?? ''].some((known) => known !== '' && lastPart(known) === lastPart(name))

const isOfPlugin = (name: string): boolean => name.includes(':') && !/^\s*plan-gate:/i.test(name)

/** The last part of `plugin:skill` or `folder/skill`. */
const lastPart = (name: string): string => (name.split(/[:/]/).at(-1) ?? '').trim().toLowerCase()

/** Claude Code puts the folder of a skill in front of its text, and searches both for commands. */
export function readLoadedFile(path: string, text: string | null): LoadedText {
  const loaded = readLoadedText(text)
  const target = resolvePath(path)
  const folders = [path, target.kind === 'resolved' ? target.real : '`'].map((file) => dirname(file))
  return folders.some((folder) => /`|!(?:\$|$)/.test(folder))
    ? { ...loaded, problems: [...loaded.problems, '(the name of its folder can be read as a command)'] }
    : loaded
}

/** `text`: null where this process cannot read it; Claude Code may still be able to. */
export function readLoadedText(text: string | null): LoadedText {
  // A zero byte: it may be in an encoding that Claude Code knows and this does not.
  if (text === null || text.includes('\0')) return unknownText('its text cannot be read')
  const head = readHead(text)
  const commands = commandsIn(text, head.kind === 'unclear' || head.keys.arguments !== undefined)
  const unclear = (why: string): LoadedText => ({
    ...unknownText(why),
    commands,
    details: beginningOf(text),
    // Of YAML that is not understood.
    words: [text.replace(/[[\]{}]/g, ' ')],
  })
  if (head.kind === 'unclear') return unclear(head.why)
  const { name, skills = [], agent, context } = head.keys
  const unknown = Object.entries(head.keys).filter(([key]) => !harmlessKeys.has(key))
  const taken = typeof skills === 'string' ? skills.split(/[\s,]+/) : skills
  if (!isTexts(taken) || !isTexts([name ?? '', agent ?? '', context ?? '']))
    return unclear('its head names a skill or an agent in a way that is not understood')
  const isFork = agent !== undefined || (context !== undefined && context !== 'inline')
  return {
    label: (name as string | undefined) ?? null,
    problems: unknown.map(([key]) => `(its head sets ${key})`),
    details: unknown.map(([key, value]) => `${key}: ${shownJson(value)}`),
    words: textsIn(unknown.map(([, value]) => value)),
    commands,
    takes: [
      ...taken.filter((skill) => skill !== '').map((skill): LoadedThing => ({ kind: 'skill', name: skill })),
      ...(isFork ? [{ kind: 'agent', name: (agent as string | undefined) ?? 'general-purpose' } as const] : []),
    ],
  }
}

const unknownText = (why: string): LoadedText => ({
  label: undefined,
  problems: [`(${why})`],
  details: [],
  words: [],
  commands: [],
  takes: [],
})

/** All texts in a value, however deep. */
export const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** Without the white space that moves a command out of sight. */
export const withoutGaps = (text: string): string =>
  text.replace(/[\s\u115f\u1160\u2800\u3164\uffa0]+/g, (gap) => (/[\r\n]/.test(gap) ? '\n' : ' '))

export const shownJson = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'string' ? withoutGaps(inner) : inner)) ?? ''

/** Not by a pattern with the blanks around a line end: it would take minutes over a megabyte of them. */
export const trimmedLines = (text: string): string[] =>
  text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line, at, all) => line !== '' || at === all.length - 1)

function beginningOf(text: string): string[] {
  const lines = trimmedLines(text)
  return lines.length <= 30 ? lines : [...lines.slice(0, 30), `(${lines.length - 30} more lines)`]
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

/** What these name is loaded as text or shown, decides which model and tools are used, or is followed (`takes`). */
const harmlessKeys = new Set(
  (
    'name description when_to_use version license author keywords homepage repository metadata compatibility ' +
    'displayName created_by improved_by type globs alwaysApply paths argument-hint arguments ' +
    'disable-model-invocation user-invocable hide-from-slash-command-tool model effort color maxTurns ' +
    'allowed-tools disallowed-tools tools disallowedTools keep-coding-instructions skills agent context'
  ).split(' '),
)

/** Each form by itself and overlapping, as Claude Code searches. Arguments come in first: a caller can run anything. */
function commandsIn(text: string, hasNames: boolean): string[] {
  const spans = [...text.matchAll(/!(?=`([^`]+)`)/g)].map(([, span = '']) => span)
  const blocks = startsOf(text, /```[ \t]*!/g).map((start) => text.slice(start, endOf(text, '```', start)))
  const commands = [...spans, ...blocks].map((command) => command.trim()).filter((command) => command !== '')
  const argument = hasNames ? /\$[\w{]/ : /\$(?:ARGUMENTS|\d)/
  const takesArguments = /!\$/.test(text) || commands.some((command) => argument.test(command))
  return takesArguments ? [...commands, '$ARGUMENTS'] : commands
}

const startsOf = (text: string, mark: RegExp): number[] =>
  [...text.matchAll(mark)].map((match) => match.index + match[0].length)

const endOf = (text: string, mark: string, from: number): number => {
  const at = text.indexOf(mark, from)
  return at === -1 ? from : at
}

type Head = { kind: 'read'; keys: { readonly [key: string]: unknown } } | { kind: 'unclear'; why: string }

/** Claude Code has another parser: a head that could be read in two ways, or ends at two places, is unclear. */
function readHead(text: string): Head {
  const start = /^[\s\ufeff]*---[^\S\n]*\n/.exec(text)
  if (start === null) return { kind: 'read', keys: {} }
  const rest = text.slice(start[0].length)
  const mark = rest.indexOf('---')
  const line = /(?:^|\n)---[ \t]*(?:\r?\n|$)/.exec(rest)
  if (mark === -1 || line === null || mark !== line.index + line[0].indexOf('-'))
    return { kind: 'unclear', why: 'where its head ends is not clear' }
  const head = rest.slice(0, mark)
  const why = formProblem(head)
  return why === null ? readKeys(head) : { kind: 'unclear', why }
}

/** Nothing but plain keys at the left edge, so that no parser finds other ones. */
function formProblem(head: string): string | null {
  if (head.length > maxHead || (head.match(/[[{]/g) ?? []).length > maxBrackets) return 'its head is too large'
  if (/[^\P{Cc}\t\n\r]|\r(?!\n)|[\u2028\u2029\ufeff]/u.test(head)) return 'its head has invisible characters'
  if ((head.match(/\n/g) ?? []).length > maxHeadLines) return 'its head is too large'
  const lines = head.split(/\r?\n/).filter((line) => !/^\s*(?:#|$)/.test(line))
  const isKey = (line: string): boolean => /^[A-Za-z_][\w-]*:(?:[ \t]|$)/.test(line)
  const isPlain = lines.every((line, at) => isKey(line) || (at > 0 && /^(?:[ \t]|- )/.test(line)))
  return isPlain ? null : 'its head is not a plain list of keys'
}

const maxHead = 32_768
/** The YAML parser takes a second for 8,000 keys. */
const maxHeadLines = 500
const maxBrackets = 200

/** Where it is not YAML, Claude Code puts values in quotes and tries again: many a description has a colon in it. */
function readKeys(head: string): Head {
  const keys =
    parsePlainYaml(head) ?? parsePlainYaml(head.replace(plainValue, (_, key, value) => key + JSON.stringify(value)))
  return keys === null ? { kind: 'unclear', why: 'its head is not plain YAML' } : { kind: 'read', keys }
}

const plainValue = /^([A-Za-z_][\w-]*:[ \t]+)([^\s"'[\]{}&*!|>%@`#?-](?:.*\S)?)[ \t\r]*$/gm

/** Null for what has anything but text, numbers, lists and tables of its own in it. */
function parsePlainYaml(text: string): { readonly [key: string]: unknown } | null {
  const [document, ...others] = parseAllDocuments(text, { resolveKnownTags: false }) as Document[]
  if (document === undefined) return {}
  let isPlain = others.length + document.errors.length + document.warnings.length === 0
  visit(document, {
    Node: (_, node) => {
      if (isAlias(node) || node.anchor !== undefined || node.tag !== undefined) isPlain = false
    },
    Pair: (_, { key }) => {
      if (!isScalar(key) || typeof key.value !== 'string' || key.value === '<<') isPlain = false
    },
  })
  const keys: unknown = isPlain ? (document.toJS() ?? {}) : null
  return typeof keys === 'object' && !Array.isArray(keys) ? (keys as { [key: string]: unknown } | null) : null
}

/** Claude Code finds them when it reads files beside them, also through links. Nothing is left out here. */
function findNestedSkills(root: string, budget: ReadBudget): string[] {
  const found: string[] = []
  const waiting = [root]
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop())
    for (const entry of entriesIfOpen(folder, budget)) {
      if (entry.name === '.git') continue
      const path = join(folder, entry.name)
      if (entry.name === '.claude' && folder !== root) found.push(join(path, 'skills'))
      // A link is not followed: its target is either inside the worktree, and searched anyway, or not part of the
      // repository.
      if (entry.isSymbolicLink()) found.push(join(path, '.claude/skills'))
      else if (entry.isDirectory()) waiting.push(path)
    }
  return found
}

/** Null for a folder that this user may not read: Claude Code cannot read it either. */
function entriesIfOpen(folder: string, budget: ReadBudget): Dirent[] {
  try {
    return entriesOf(folder, budget)
  } catch (error) {
    if (systemErrorCode(error) === 'EACCES') return []
    throw error
  }
}

/** Identity of a folder (device and inode), whichever links lead to it; null where it cannot be entered. */
function folderThroughLinks(path: string): string | null {
  try {
    const stat = statSync(path, { bigint: true })
    return stat.isDirectory() ? `${stat.dev} ${stat.ino}` : null
  } catch (error) {
    const errno = errnoOf(error) ?? ''
    if (noFolder.includes(errno) || (errno === 'EACCES' && isBehindLink(path))) return null
    throw error
  }
}

/** Errors of a link that leads nowhere, in a circle, or through a file. */
const noFolder = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG']

/** A link may lead where this user may not go, and then Claude Code may not either. */
function isBehindLink(path: string): boolean {
  try {
    if (lstatSync(path).isSymbolicLink()) return true
  } catch {
    // What is above it says more.
  }
  return dirname(path) !== path && isBehindLink(dirname(path))
}

/** Limits for one call: a repository can hold any number of such files, and the gate has seconds. */
type ReadBudget = { entries: number; bytes: number; until: number; isCutShort: boolean }

const newReadBudget = (): ReadBudget => ({
  entries: 300_000,
  bytes: 24 * 1024 * 1024,
  until: performance.now() + 2_500,
  isCutShort: false,
})

/** Every Markdown file below, links followed. A skill is named by its folder, a command or an agent by its file. */
function readLoadedTexts(folder: string, budget: ReadBudget): NamedText[] {
  const texts: NamedText[] = []
  const seen = new Set<string>()
  const waiting = [{ path: folder, names: [] as readonly string[] }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { path, names } = next
    const folderId = folderThroughLinks(path)
    if (folderId === null || seen.has(folderId)) continue
    seen.add(folderId)
    for (const entry of entriesOf(path, budget)) {
      const inside = { path: join(path, entry.name), names: [...names, entry.name] }
      if (entry.isDirectory() || entry.isSymbolicLink()) waiting.push(inside)
      if (!entry.isDirectory() && entry.name.toLowerCase().endsWith('.md')) texts.push(readText(inside, budget))
    }
  }
  return texts
}

function readText({ path, names }: { path: string; names: readonly string[] }, budget: ReadBudget): NamedText {
  const read = spend(budget, 'bytes', 0) ? readThroughLinks(path) : null
  if (read?.kind === 'read') spend(budget, 'bytes', read.bytes.length)
  return {
    names: names.flatMap((name) => [name, basename(name, '.md')]),
    ...readLoadedFile(path, read?.kind === 'read' ? read.bytes.toString('utf8') : null),
  }
}

/** Empty where the folder does not exist; throws where it cannot be read (fail closed). */
function entriesOf(folder: string, budget: ReadBudget): Dirent[] {
  if (!spend(budget, 'entries', 0)) return []
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    spend(budget, 'entries', entries.length)
    return entries
  } catch (error) {
    if (isNotFound(systemErrorCode(error))) return []
    throw error
  }
}

function spend(budget: ReadBudget, what: 'entries' | 'bytes', count: number): boolean {
  budget[what] -= count
  if (budget[what] < 0 || performance.now() > budget.until) budget.isCutShort = true
  return !budget.isCutShort
}
