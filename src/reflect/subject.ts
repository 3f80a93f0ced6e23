import { basename, dirname, resolve } from 'node:path'
import type { CompiledConfig } from '../config/schema.ts'
import { classifyPath, type ProtectedPaths } from '../gate/protected-paths.ts'
import { sensitiveFileTest } from '../redact/sensitive-files.ts'
import type { PostToolUse, PostToolUseFailure } from '../schemas/hook-events.ts'
import { readRegular } from '../state/files.ts'
import { planPath } from '../state/own-paths.ts'
import { loadBundle } from '../system/load-bundle.ts'
import { resolvePath } from '../system/paths.ts'
import { sha256 } from '../system/sha256.ts'
import { clipEnd, countLines, dedupText } from '../text/clean.ts'
import { asList, asRecord, countOf, textOf } from '../text/json.ts'
import type { ReflectionKind } from './prompts.ts'
import { nonEmptyText, type Subject } from './session-state.ts'

/** What of a tool event is reviewed. */

/** As it came: nothing of it is redacted yet. */
export type ReflectionSubject = Subject & {
  readonly kind: ReflectionKind
  readonly content: string
  /** What the reviewer is told that it is about: the path, the command line, the name of the tool or the task. */
  readonly context?: string
  readonly plan: string | null
  readonly changes?: string | null
  readonly size?: ChangeSize
}

/** Lines and characters that a change takes away and puts in their place. */
export type ChangeSize = {
  readonly linesBefore: number
  readonly linesAfter: number
  readonly charsBefore: number
  readonly charsAfter: number
}

/** `succeeded`: the key of a command that may have failed before. */
export async function selectSubject(
  root: string,
  event: PostToolUse | PostToolUseFailure,
  compiled: CompiledConfig,
): Promise<ReflectionSubject | { readonly succeeded: string } | null> {
  const { command } = event.tool_input
  if (event.hook_event_name === 'PostToolUse' && shells.has(event.tool_name) && typeof command === 'string')
    return { succeeded: commandKey(command) }
  const plan = readText(root, planPath)
  if (plan === null) return null
  const cwd = event.cwd ?? root
  const subject = subjectOf(event, plan, {
    planModePlan: (path) => planModePlan(resolve(cwd, path), compiled),
    pathInWork: (path) => pathInWork(root, resolve(cwd, path)),
    sensitiveFiles: compiled.config.review.sensitive_files,
  })
  return subject?.kind === 'failure' ? { ...subject, about: await redactedCommand(subject.about, compiled) } : subject
}

/** What only the file system knows about a path. */
export type PathFacts = {
  /** The text of a plan file of Claude Code's plan mode; null for any other file. */
  readonly planModePlan: (path: string) => string | null
  /** As seen from the worktree, with links followed; null outside of it and in what is not part of the work. */
  readonly pathInWork: (path: string) => string | null
  /** Name patterns beside the built-in ones. */
  readonly sensitiveFiles: readonly string[]
}

/** A tool without a row is skipped: most tools only read, and a new one is not reviewed by guess. */
export function subjectOf(
  event: PostToolUse | PostToolUseFailure,
  plan: string,
  paths: PathFacts,
): ReflectionSubject | null {
  const { tool_name: tool, tool_input: input } = event
  if (event.hook_event_name === 'PostToolUseFailure') return shells.has(tool) ? failureSubject(event, plan) : null
  if (editors.has(tool)) return changeSubject(event, plan, paths)
  if (agents.has(tool)) return agentSubject(event, plan)
  // What an MCP tool does can only be guessed from its name; one that changes a file also names the file.
  const words = wordsOf(/^mcp__.+?__(.+)$/s.exec(tool)?.[1] ?? '')
  if (readingWords.has(words[0] ?? '')) return null
  if (words.some((word) => editWords.has(word)) && pathIn(input) !== null) return changeSubject(event, plan, paths)
  if (!words.some((word) => thinkingWords.has(word))) return null
  const content = JSON.stringify(input, null, 1)
  return { kind: 'thinking', hash: null, key: null, about: clipEnd(tool, 200), context: tool, content, plan }
}

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '))

const shells = setOf('Bash PowerShell')
const editors = setOf('Write Edit MultiEdit NotebookEdit')
const agents = setOf('Agent Task')

const readingWords = setOf(
  'check describe diff fetch find get inspect list load open preview query read search show status validate view',
)
const editWords = setOf(
  'append apply create delete edit insert modify move overwrite patch prepend put refactor remove rename replace rewrite save set update write',
)
const thinkingWords = setOf(
  'brainstorm ponder reason reasoning reflect reflection sequentialthinking shannonthinking think thinking thought thoughts ultrathink',
)

/** `createOrUpdateFile`, `create_or_update-file` → create, or, update, file. */
const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')

/** One that the user has interrupted says nothing about the command. */
function failureSubject({ tool_input, error, is_interrupt }: PostToolUseFailure, plan: string) {
  const command = nonEmptyText(tool_input.command)
  if (is_interrupt === true || command === null) return null
  const of = { hash: null, key: commandKey(command), about: command, context: command }
  return { kind: 'failure' as const, ...of, content: error ?? '', plan }
}

/** A command has no path: it is known by the hash of its line, and cleared when that very line succeeds. */
const commandKey = (command: string): string => `command ${sha256(command)}`

/** One that runs in the background has not answered yet. */
function agentSubject({ tool_name, tool_input, tool_response }: PostToolUse, plan: string): ReflectionSubject | null {
  const content = asList(asRecord(tool_response).content)
    .flatMap((block) => nonEmptyText(asRecord(block).text) ?? [])
    .join('\n')
    .trim()
  if (content === '') return null
  const about = clipEnd(nonEmptyText(tool_input.subagent_type) ?? tool_name, 200)
  const context = nonEmptyText(tool_input.prompt) ?? nonEmptyText(tool_input.description) ?? ''
  return { kind: 'subagent', hash: null, key: null, about, context, content, plan }
}

function changeSubject(
  { tool_name: tool, tool_input, tool_response }: PostToolUse,
  plan: string,
  paths: PathFacts,
): ReflectionSubject | null {
  const change = readChange(tool, tool_input, tool_response)
  if (change === null) return null
  const path = paths.pathInWork(change.path)
  // The plan has reviews of its own.
  if (path === planPath) return null
  const modePlan = paths.planModePlan(change.path)
  if (modePlan !== null) return planSubject(change.path, modePlan, plan)
  if (path === null) return null
  // A sensitive file must not be sent, so there is nothing to review; a link to it has another name.
  const names = change.path.endsWith(`/${path}`) ? [change.path] : [change.path, `/${path}`]
  if (names.some(sensitiveFileTest(paths.sensitiveFiles))) return null
  const { content, oldString, newString, shown, size } = change
  return {
    kind: 'change',
    // The same change is reviewed again under another plan.
    hash: sha256(`${sha256(plan)} ${dedupText(tool, path, content, oldString, newString)}`),
    ...aboutFile(path),
    content: shown,
    plan,
    size,
  }
}

/** What of a plan file of plan mode has become docs/plan.md was reviewed as that. */
const planSubject = (path: string, content: string, plan: string): ReflectionSubject | null =>
  content.trim() === '' || content.trim() === plan.trim()
    ? null
    : { kind: 'plan', hash: null, ...aboutFile(path), content, plan }

const aboutFile = (path: string) => ({ key: `file ${path}`, about: path, context: path })

type Change = {
  readonly path: string
  readonly content: string | null
  readonly oldString: string | null
  readonly newString: string | null
  /** What a reviewer is shown: hunks with line numbers where the client gave them. */
  readonly shown: string
  readonly size: ChangeSize
}

type Input = { readonly [field: string]: unknown }

export function readChange(tool: string, input: Input, response: unknown): Change | null {
  const path = pathIn(input)
  if (path === null) return null
  const texts = textsOf(tool, input)
  const { content, oldString, newString } = texts
  const hunks = hunksIn(response)
  const shown =
    hunks ?? (oldString === null ? (content ?? '') : [...signed('-', oldString), ...signed('+', newString)].join('\n'))
  const removed =
    hunks === null ? (oldString ?? nonEmptyText(asRecord(response).originalFile) ?? '') : linesWith('-', hunks)
  const added = hunks === null ? (newString ?? content ?? '') : linesWith('+', hunks)
  const size = {
    linesBefore: countLines(removed),
    linesAfter: countLines(added),
    charsBefore: removed.length,
    charsAfter: added.length,
  }
  return { path, ...texts, shown, size }
}

function pathIn(input: Input): string | null {
  const paths = pathFields.map((field) => nonEmptyText(input[field]))
  return paths.find((path) => path !== null && !/[\0\r\n]/.test(path)) ?? null
}

const pathFields = 'file_path notebook_path filePath path relative_path relativePath target_file file filename'.split(
  ' ',
)

/** All that decides what the tool does: two calls with the same texts, tool and path make the same change. */
function textsOf(tool: string, input: Input): Pick<Change, 'content' | 'oldString' | 'newString'> {
  const whole = (content: string) => ({ content, oldString: null, newString: null })
  if (tool === 'Write') return whole(textOf(input.content))
  if (tool !== 'Edit') return whole(JSON.stringify(input, null, 1))
  return {
    content: input.replace_all === true ? 'replace all' : null,
    oldString: textOf(input.old_string),
    newString: textOf(input.new_string),
  }
}

function hunksIn(response: unknown): string | null {
  const hunks = asList(asRecord(response).structuredPatch).map(asRecord)
  if (hunks.length === 0) return null
  return hunks
    .flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
      `@@ -${lineOf(oldStart)},${lineOf(oldLines)} +${lineOf(newStart)},${lineOf(newLines)} @@`,
      ...asList(lines).map((line) => (typeof line === 'string' ? line : JSON.stringify(line))),
    ])
    .join('\n')
}

const lineOf = (value: unknown): number => countOf(value) ?? 0

const linesWith = (sign: string, hunks: string): string =>
  hunks
    .split('\n')
    .flatMap((line) => (line.startsWith(sign) ? [line.slice(1)] : []))
    .join('\n')

const signed = (sign: string, text: string | null): string[] =>
  (text ?? '') === '' ? [] : (text ?? '').split(/\r?\n/).map((line) => `${sign}${line}`)

function readText(folder: string, name: string): string | null {
  const read = readRegular(folder, name)
  return read.kind === 'read' ? read.bytes.toString('utf8') : null
}

function pathInWork(root: string, path: string): string | null {
  const [base, target] = [resolvePath(root), resolvePath(path)]
  if (target.kind !== 'resolved' || base.kind !== 'resolved') return null
  const inside = target.real.startsWith(`${base.real}/`) ? target.real.slice(base.real.length + 1) : null
  return inside === null || /^\.(?:git|claude\/(?:review|hooks))(?:\/|$)/.test(inside) ? null : inside
}

function planModePlan(path: string, { protected_paths: paths }: CompiledConfig): string | null {
  const isPlan = classifyPath(resolvePath(path), paths as ProtectedPaths).kind === 'plan-mode-plan'
  return isPlan ? readText(dirname(path), basename(path)) : null
}

/** Redacted first and truncated afterwards: half a secret would not be recognised. */
async function redactedCommand(command: string, { config }: CompiledConfig): Promise<string> {
  const { reviews } = await loadBundle<{ reviews: typeof import('../redact/redact.ts') }>('reviews')
  const clean = reviews.makeRedactor(config.review.redaction.patterns).text(command)
  return clean.kind === 'redacted' ? clipEnd(clean.text, 200) : 'a command that cannot be shown'
}
