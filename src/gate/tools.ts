import { printable } from '../text/clean.ts'
import { globAlternatives, globNames } from '../text/glob.ts'

/** Whether one of the patterns of `gate.tools.allow` names the tool. The API allows no longer tool name. */
export const matchesTool = (patterns: readonly string[], tool: string): boolean =>
  tool.length <= maxToolNameLength &&
  patterns.some((pattern) => globAlternatives(pattern).some((glob) => globNames(glob, tool, false)))

const maxToolNameLength = 128

/** A tool that is in no table is `other`, and denied before the approval: new tools appear with every release. */
export type ToolCall =
  | { kind: 'harmless'; tool: string }
  | { kind: 'write'; tool: string; path: string }
  | { kind: 'shell'; tool: string; command: string }
  | { kind: 'agent'; tool: string; name: string; isolation: string | null }
  | { kind: 'skill'; tool: string; name: string }
  | { kind: 'leaving'; tool: string }
  | { kind: 'other'; tool: string }
  | { kind: 'malformed'; tool: string; why: string }

/** Calls of tools whose input does not name all that they can change. */
export const couldChangeAnything = ({ kind }: ToolCall): boolean =>
  kind === 'shell' || kind === 'other' || kind === 'leaving' || kind === 'skill'

/** What a call is about, in one line: a path or a command. */
export function targetOf({ file_path, notebook_path, command }: Input): string {
  const named = file_path ?? notebook_path ?? command ?? ''
  return printable(typeof named === 'string' ? named : JSON.stringify(named), 400)
}

type Input = { readonly [key: string]: unknown }

/** Tools that only read, plan or talk. They are left out of the hook's matcher, so they cost nothing. */
export const harmlessTools: readonly string[] = [
  'AskUserQuestion BashOutput EnterPlanMode ExitPlanMode Glob Grep KillBash KillShell LS LSP ListAgents',
  'ListMcpResources ListMcpResourcesTool NotebookRead Read ReadMcpResource ReadMcpResourceTool',
  'ReportFindings StructuredOutput TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate TodoRead',
  'TodoWrite ToolSearch WebFetch WebSearch',
].flatMap((names) => names.split(' '))

const pathFields: { readonly [tool: string]: string } = {
  Write: 'file_path',
  Edit: 'file_path',
  MultiEdit: 'file_path',
  NotebookEdit: 'notebook_path',
}

const shellTools = ['Bash', 'Monitor', 'PowerShell'] as const
const agentTools = ['Agent', 'Task'] as const
/** Their texts may contain commands, which run while the text is loaded. */
const skillTools = ['Skill', 'SlashCommand'] as const

/** They leave the worktree, reach other sessions, or act unattended. */
const leavingTools =
  'CronCreate CronDelete CronList EnterWorktree ExitWorktree RemoteTrigger ScheduleWakeup SendMessage'.split(' ')

export function toolCallOf(tool: string, input: Input): ToolCall {
  const pathField = Object.hasOwn(pathFields, tool) ? pathFields[tool] : undefined
  if (pathField !== undefined) return writeOf(tool, pathField, input)
  if (includes(shellTools, tool)) return shellOf(tool, input)
  if (includes(agentTools, tool))
    return { kind: 'agent', tool, name: textOf(input.subagent_type ?? ''), isolation: isolationOf(input) }
  if (includes(skillTools, tool)) return { kind: 'skill', tool, name: skillName(input) }
  if (includes(harmlessTools, tool)) return { kind: 'harmless', tool }
  if (includes(leavingTools, tool)) return { kind: 'leaving', tool }
  return { kind: 'other', tool }
}

function writeOf(tool: string, field: string, input: Input): ToolCall {
  const path = input[field]
  if (typeof path !== 'string' || path === '') return { kind: 'malformed', tool, why: `its ${field} is not a path` }
  if (path.includes('\0')) return { kind: 'malformed', tool, why: `its ${field} contains a NUL byte` }
  return { kind: 'write', tool, path }
}

function shellOf(tool: string, input: Input): ToolCall {
  const command = input.command
  if (typeof command !== 'string') return { kind: 'malformed', tool, why: 'its command is not a text' }
  return { kind: 'shell', tool, command }
}

/** `Skill` has a name, which may be a label of several words; `SlashCommand` has the command line. */
const skillName = ({ skill, name, command }: Input): string =>
  typeof command === 'string'
    ? (command.trim().replace(/^\//, '').split(/\s/, 1)[0] ?? '')
    : textOf(skill ?? name ?? '').replace(/^\//, '')

const isolationOf = ({ isolation }: Input): string | null =>
  isolation === undefined || isolation === null ? null : textOf(isolation)

/** Not `String(value)`, which can throw for an object. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
const includes = (names: readonly string[], name: string): boolean => names.includes(name)
