import { describe, expect, it } from 'vitest'
import { type ClassifiedEvent, classifyEvent, type PathFacts, type ToolEvent } from '../../../src/reflect/classify.ts'

const root = '/work/repo'
const paths: PathFacts = {
  isThePlan: (path) => path === `${root}/docs/plan.md`,
  isPlanFile: (path) => path.startsWith('/home/plans/'),
  pathInWork: (path) =>
    path === `${root}/link.txt` ? 'real/.env' : path.startsWith(`${root}/`) ? path.slice(root.length + 1) : null,
  sensitiveFiles: ['*.vault'],
}

const event = (tool: string, input: ToolEvent['input'] = {}, rest: Partial<ToolEvent> = {}): ToolEvent => ({
  event: 'PostToolUse',
  tool,
  input,
  response: null,
  error: '',
  interrupted: false,
  ...rest,
})
const failed = (tool: string, input: ToolEvent['input'], rest: Partial<ToolEvent> = {}): ToolEvent =>
  event(tool, input, { event: 'PostToolUseFailure', error: 'Exit code 7\nbad', ...rest })

const write = (file_path: string): ToolEvent => event('Write', { file_path, content: 'x' })
const file = `${root}/src/a.ts`

type Row = { what: string; of: ToolEvent; kind: ClassifiedEvent['kind'] }

const rows: Row[] = [
  { what: 'Write', of: write(file), kind: 'code-change' },
  { what: 'Edit', of: event('Edit', { file_path: file, old_string: 'a', new_string: 'b' }), kind: 'code-change' },
  { what: 'MultiEdit', of: event('MultiEdit', { file_path: file, edits: [] }), kind: 'code-change' },
  {
    what: 'NotebookEdit',
    of: event('NotebookEdit', { notebook_path: `${root}/a.ipynb`, new_source: 'x' }),
    kind: 'code-change',
  },
  { what: 'Write without a path', of: event('Write', { content: 'x' }), kind: 'skip' },
  { what: 'docs/plan.md', of: write(`${root}/docs/plan.md`), kind: 'skip' },
  { what: 'a file outside', of: write('/tmp/scratch.ts'), kind: 'skip' },
  { what: 'a file with secrets', of: write(`${root}/.env`), kind: 'skip' },
  { what: 'a file with secrets, far down', of: write(`${root}/${'folder/'.repeat(50)}.env`), kind: 'skip' },
  { what: 'a link to a file with secrets', of: write(`${root}/link.txt`), kind: 'skip' },
  { what: 'a file with secrets in a folder with a space', of: write(`${root}/my app/id_rsa`), kind: 'skip' },
  { what: 'a file that the config calls sensitive', of: write(`${root}/a.vault`), kind: 'skip' },
  { what: 'a plan-mode file', of: write('/home/plans/a.md'), kind: 'plan-review' },
  {
    what: 'ExitPlanMode, which is reviewed before it is shown',
    of: event('ExitPlanMode', {}, { response: { plan: '# P', filePath: '/etc/hosts' } }),
    kind: 'skip',
  },
  { what: 'a failed Bash', of: failed('Bash', { command: 'npm test' }), kind: 'bash-failure' },
  { what: 'a failed PowerShell', of: failed('PowerShell', { command: 'dir' }), kind: 'bash-failure' },
  { what: 'a Bash that the user stopped', of: failed('Bash', { command: 'x' }, { interrupted: true }), kind: 'skip' },
  { what: 'a failed Bash without a command', of: failed('Bash', {}), kind: 'skip' },
  { what: 'a failed Write', of: failed('Write', { file_path: file }), kind: 'skip' },
  { what: 'a failed MCP edit', of: failed('mcp__fs__write_file', { path: file }), kind: 'skip' },
  ...[
    'Bash',
    'Read',
    'Grep',
    'Glob',
    'LS',
    'TodoWrite',
    'Task',
    'Agent',
    'TaskCreate',
    'TaskUpdate',
    'TaskOutput',
    'WebFetch',
    'WebSearch',
    'Skill',
    'AskUserQuestion',
    'ToolSearch',
    'Monitor',
    'write',
    'Rewrite',
    'constructor',
    '__proto__',
    '',
    'mcp__',
    'mcp__fs',
    'mcp__fs__',
    'SomethingNew',
  ].map((tool) => ({
    what: tool || 'no name',
    of: event(tool, { file_path: file, command: 'ls' }),
    kind: 'skip' as const,
  })),
  ...['write_file', 'edit-file', 'createOrUpdateFile', 'replace_symbol_body', 'apply_patch', 'fs__insert_lines'].map(
    (name) => ({ what: `mcp ${name}`, of: event(`mcp__fs__${name}`, { path: file }), kind: 'code-change' as const }),
  ),
  {
    what: 'an MCP edit by its relative path field',
    of: event('mcp__s__write', { relative_path: file }),
    kind: 'code-change',
  },
  { what: 'an MCP edit of the plan', of: event('mcp__s__write', { path: `${root}/docs/plan.md` }), kind: 'skip' },
  { what: 'an MCP edit of no file', of: event('mcp__tracker__create_issue', { title: 'x' }), kind: 'skip' },
  ...['credit_check', 'rewritten', 'get_edit_history', 'list_writes', 'read_file', 'preview_edit', 'unwritten'].map(
    (name) => ({ what: `mcp ${name}`, of: event(`mcp__fs__${name}`, { path: file }), kind: 'skip' as const }),
  ),
  { what: 'an MCP edit of a thought', of: event('mcp__m__update_thought', { thought: 'x' }), kind: 'thinking' },
  { what: 'the word is in the name of the server', of: event('mcp__edit__run', { path: file }), kind: 'skip' },
  ...['sequentialthinking', 'shannonthinking', 'think', 'process_thought', 'deepThinking', 'reflect-on-work'].map(
    (name) => ({
      what: `mcp ${name}`,
      of: event(`mcp__sequential-thinking__${name}`, { thought: 'x' }),
      kind: 'thinking' as const,
    }),
  ),
  ...['rethinking_cap', 'get_thoughts', 'thoughtful', 'season'].map((name) => ({
    what: `mcp ${name}`,
    of: event(`mcp__m__${name}`, { thought: 'x' }),
    kind: 'skip' as const,
  })),
]

describe('classifyEvent', () => {
  it.each(rows)('$what → $kind', ({ of, kind }) => {
    expect(classifyEvent(of, paths).kind).toBe(kind)
  })

  it('carries what a review needs', () => {
    expect(classifyEvent(failed('Bash', { command: 'npm test' }), paths)).toEqual({
      kind: 'bash-failure',
      command: 'npm test',
      error: 'Exit code 7\nbad',
    })
    expect(classifyEvent(write('/home/plans/a.md'), paths)).toMatchObject({ path: '/home/plans/a.md' })
    expect(classifyEvent(event('mcp__m__think', { thought: 'so' }), paths)).toEqual({
      kind: 'thinking',
      tool: 'mcp__m__think',
      thought: '{\n "thought": "so"\n}',
    })
  })
})
