import { sensitiveFileTest } from '../redact/is-sensitive-file.ts'
import { asList, asRecord } from '../text/json.ts'
import { nonEmptyText, wholeOrZero } from './session-state.ts'

/** What kind of event a tool call is, with what a review of it needs. */
export type ClassifiedEvent =
  | { readonly kind: 'code-change'; readonly change: Change }
  /** `text` is null where only a part of the plan was written: the file has to be read. */
  | { readonly kind: 'plan-review'; readonly path: string; readonly text: string | null }
  | { readonly kind: 'thinking'; readonly tool: string; readonly thought: string }
  | { readonly kind: 'subagent'; readonly agent: string; readonly task: string; readonly answer: string }
  | { readonly kind: 'bash-failure'; readonly command: string; readonly error: string }
  | { readonly kind: 'skip' }

export type ToolEvent = {
  readonly event: 'PostToolUse' | 'PostToolUseFailure'
  readonly tool: string
  readonly input: Input
  /** `tool_response`, as it came. */
  readonly response: unknown
  readonly error: string
  /** By the user; it says nothing about the command. */
  readonly interrupted: boolean
}

/** What only the file system knows about a path. */
export type PathFacts = {
  /** docs/plan.md has reviews of its own. */
  readonly isThePlan: (path: string) => boolean
  /** A plan file of Claude Code's plan mode. */
  readonly isPlanFile: (path: string) => boolean
  /** As seen from the worktree, with links followed; null outside of it. */
  readonly pathInWork: (path: string) => string | null
  /** Name patterns beside the built-in ones. */
  readonly sensitiveFiles: readonly string[]
}

const skip: ClassifiedEvent = { kind: 'skip' }

/** A tool without a row is skipped: most tools only read, and a new one is not reviewed by guess. */
const afterSuccess: { readonly [tool: string]: EventRoute } = {
  Write: 'change',
  Edit: 'change',
  MultiEdit: 'change',
  NotebookEdit: 'change',
  Agent: 'agent',
  Task: 'agent',
}

const afterFailure: { readonly [tool: string]: EventRoute } = { Bash: 'failure', PowerShell: 'failure' }

type EventRoute = 'change' | 'agent' | 'thinking' | 'failure' | 'none'

export function classifyEvent(event: ToolEvent, paths: PathFacts): ClassifiedEvent {
  switch (routeOf(event)) {
    case 'change':
      return classifyChange(event, paths)
    case 'agent':
      return classifyAgent(event)
    case 'thinking':
      return { kind: 'thinking', tool: event.tool, thought: JSON.stringify(event.input, null, 1) }
    case 'failure':
      return classifyFailure(event)
    case 'none':
      return skip
  }
}

function routeOf({ event, tool, input }: ToolEvent): EventRoute {
  const routes = event === 'PostToolUse' ? afterSuccess : afterFailure
  if (Object.hasOwn(routes, tool)) return routes[tool] ?? 'none'
  return event === 'PostToolUse' ? routeOfMcp(tool, input) : 'none'
}

/** What an MCP tool does can only be guessed from its name; one that changes a file also names the file. */
function routeOfMcp(tool: string, input: Input): EventRoute {
  const name = /^mcp__.+?__(.+)$/s.exec(tool)?.[1]
  if (name === undefined) return 'none'
  const words = wordsOf(name)
  if (readingWords.has(words[0] ?? '')) return 'none'
  if (words.some((word) => editWords.has(word)) && pathIn(input) !== null) return 'change'
  return words.some((word) => thinkingWords.has(word)) ? 'thinking' : 'none'
}

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '))

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
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase())

function classifyChange({ tool, input, response }: ToolEvent, paths: PathFacts): ClassifiedEvent {
  const change = readChange(tool, input, response)
  if (change === null || paths.isThePlan(change.path)) return skip
  if (paths.isPlanFile(change.path)) return { kind: 'plan-review', path: change.path, text: change.content }
  const inWork = paths.pathInWork(change.path)
  if (inWork === null) return skip
  // A sensitive file must not be sent, so there is nothing to review; a link to it has another name.
  const names = change.path.endsWith(`/${inWork}`) ? [change.path] : [change.path, `/${inWork}`]
  return names.some(sensitiveFileTest(paths.sensitiveFiles)) ? skip : { kind: 'code-change', change }
}

/** One that runs in the background has not answered yet. */
function classifyAgent({ tool, input, response }: ToolEvent): ClassifiedEvent {
  const answer = asList(asRecord(response).content)
    .flatMap((block) => nonEmptyText(asRecord(block).text) ?? [])
    .join('\n')
    .trim()
  if (answer === '') return skip
  const agent = nonEmptyText(input.subagent_type) ?? tool
  return { kind: 'subagent', agent, task: nonEmptyText(input.prompt) ?? nonEmptyText(input.description) ?? '', answer }
}

function classifyFailure({ input, error, interrupted }: ToolEvent): ClassifiedEvent {
  const command = nonEmptyText(input.command)
  return interrupted || command === null ? skip : { kind: 'bash-failure', command, error }
}

type Input = { readonly [field: string]: unknown }

/** One change of a file, as a tool was told to make it. */
export type Change = {
  readonly tool: string
  readonly path: string
  readonly content: string | null
  readonly oldString: string | null
  readonly newString: string | null
  /** What a reviewer is shown: hunks with line numbers where the client gave them. */
  readonly shown: string
  readonly size: ChangeSize
}

/** Lines and characters that the change takes away and puts in their place. */
export type ChangeSize = {
  readonly linesBefore: number
  readonly linesAfter: number
  readonly charsBefore: number
  readonly charsAfter: number
}

/** null when no file is named. */
export function readChange(tool: string, input: Input, response: unknown): Change | null {
  const path = pathIn(input)
  if (path === null) return null
  const told = { tool, path, ...textsOf(tool, input) }
  const hunks = hunksIn(response)
  const removed = hunks === null ? (told.oldString ?? originalIn(response)) : linesWith('-', hunks)
  const added = hunks === null ? (told.newString ?? told.content ?? '') : linesWith('+', hunks)
  return { ...told, shown: hunks ?? shownWithout(told), size: sizeOf(removed, added) }
}

function pathIn(input: Input): string | null {
  for (const field of pathFields) {
    const path = nonEmptyText(input[field])
    if (path !== null && !/[\0\r\n]/.test(path)) return path
  }
  return null
}

const pathFields = [
  'file_path',
  'notebook_path',
  'filePath',
  'path',
  'relative_path',
  'relativePath',
  'target_file',
  'file',
  'filename',
] as const

type Texts = Pick<Change, 'content' | 'oldString' | 'newString'>

/** All that decides what the tool does: two calls with the same texts, tool and path make the same change. */
function textsOf(tool: string, input: Input): Texts {
  if (tool === 'Write') return { content: asText(input.content), oldString: null, newString: null }
  if (tool === 'Edit')
    return {
      content: input.replace_all === true ? 'replace all' : null,
      oldString: asText(input.old_string),
      newString: asText(input.new_string),
    }
  return { content: JSON.stringify(input, null, 1), oldString: null, newString: null }
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : '')

function hunksIn(response: unknown): string | null {
  const hunks = asList(asRecord(response).structuredPatch).map(asRecord)
  if (hunks.length === 0) return null
  return hunks
    .map(({ oldStart, oldLines, newStart, newLines, lines }) =>
      [
        `@@ -${wholeOrZero(oldStart)},${wholeOrZero(oldLines)} +${wholeOrZero(newStart)},${wholeOrZero(newLines)} @@`,
        ...asList(lines).map((line) => (typeof line === 'string' ? line : JSON.stringify(line))),
      ].join('\n'),
    )
    .join('\n')
}

const originalIn = (response: unknown): string => {
  const { originalFile, original_file } = asRecord(response)
  return nonEmptyText(originalFile) ?? nonEmptyText(original_file) ?? ''
}

const linesWith = (sign: string, hunks: string): string =>
  hunks
    .split('\n')
    .filter((line) => line.startsWith(sign))
    .map((line) => line.slice(1))
    .join('\n')

const shownWithout = ({ content, oldString, newString }: Texts): string =>
  oldString === null && newString === null
    ? (content ?? '')
    : [...signed('-', oldString ?? ''), ...signed('+', newString ?? '')].join('\n')

const signed = (sign: string, text: string): string[] =>
  text === '' ? [] : text.split(/\r?\n/).map((line) => `${sign}${line}`)

const sizeOf = (before: string, after: string): ChangeSize => ({
  linesBefore: linesIn(before),
  linesAfter: linesIn(after),
  charsBefore: before.length,
  charsAfter: after.length,
})

const linesIn = (text: string): number => (text === '' ? 0 : text.replace(/\n$/, '').split('\n').length)
