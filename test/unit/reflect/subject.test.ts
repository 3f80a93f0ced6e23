import { describe, expect, it } from 'vitest'
import type { ReflectionKind } from '../../../src/reflect/prompts.ts'
import { type PathFacts, subjectOf } from '../../../src/reflect/subject.ts'
import type { PostToolUse, PostToolUseFailure } from '../../../src/schemas/hook-events.ts'

const root = '/work/repo'
const paths: PathFacts = {
  planModePlan: (path) => (path.startsWith('/home/plans/') ? '# Another' : null),
  pathInWork: (path) =>
    path === `${root}/link.txt` ? 'real/.env' : path.startsWith(`${root}/`) ? path.slice(root.length + 1) : null,
  sensitiveFiles: ['*.vault'],
}

type Event = PostToolUse | PostToolUseFailure
type Input = { [field: string]: unknown }

const event = (tool_name: string, tool_input: Input = {}, tool_response: unknown = null): Event => ({
  hook_event_name: 'PostToolUse',
  tool_name,
  tool_input,
  tool_response,
})
const failed = (tool_name: string, tool_input: Input, is_interrupt = false): Event => ({
  hook_event_name: 'PostToolUseFailure',
  tool_name,
  tool_input,
  error: 'Exit code 7\nbad',
  is_interrupt,
})
const look = (of: Event) => subjectOf(of, '# Plan\n', paths)

const write = (file_path: string): Event => event('Write', { file_path, content: 'x' })
const file = `${root}/src/a.ts`

type Row = { what: string; of: Event; kind: ReflectionKind | 'skip' }

const rows: Row[] = [
  { what: 'Write', of: write(file), kind: 'change' },
  { what: 'Edit', of: event('Edit', { file_path: file, old_string: 'a', new_string: 'b' }), kind: 'change' },
  { what: 'MultiEdit', of: event('MultiEdit', { file_path: file, edits: [] }), kind: 'change' },
  {
    what: 'NotebookEdit',
    of: event('NotebookEdit', { notebook_path: `${root}/a.ipynb`, new_source: 'x' }),
    kind: 'change',
  },
  { what: 'Write without a path', of: event('Write', { content: 'x' }), kind: 'skip' },
  { what: 'docs/plan.md', of: write(`${root}/docs/plan.md`), kind: 'skip' },
  { what: 'a file outside', of: write('/tmp/scratch.ts'), kind: 'skip' },
  { what: 'a file with secrets', of: write(`${root}/.env`), kind: 'skip' },
  { what: 'a file with secrets, far down', of: write(`${root}/${'folder/'.repeat(50)}.env`), kind: 'skip' },
  { what: 'a link to a file with secrets', of: write(`${root}/link.txt`), kind: 'skip' },
  { what: 'a file with secrets in a folder with a space', of: write(`${root}/my app/id_rsa`), kind: 'skip' },
  { what: 'a file that the config calls sensitive', of: write(`${root}/a.vault`), kind: 'skip' },
  { what: 'a plan-mode file', of: write('/home/plans/a.md'), kind: 'plan' },
  {
    what: 'ExitPlanMode, which is reviewed before it is shown',
    of: event('ExitPlanMode', {}, { plan: '# P', filePath: '/etc/hosts' }),
    kind: 'skip',
  },
  { what: 'a failed Bash', of: failed('Bash', { command: 'npm test' }), kind: 'failure' },
  { what: 'a failed PowerShell', of: failed('PowerShell', { command: 'dir' }), kind: 'failure' },
  { what: 'a Bash that the user stopped', of: failed('Bash', { command: 'x' }, true), kind: 'skip' },
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
    (name) => ({ what: `mcp ${name}`, of: event(`mcp__fs__${name}`, { path: file }), kind: 'change' as const }),
  ),
  {
    what: 'an MCP edit by its relative path field',
    of: event('mcp__s__write', { relative_path: file }),
    kind: 'change',
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

describe('subjectOf', () => {
  it.each(rows)('$what → $kind', ({ of, kind }) => {
    expect(look(of)?.kind ?? 'skip').toBe(kind)
  })

  it('carries what a review needs', () => {
    expect(look(failed('Bash', { command: 'npm test' }))).toMatchObject({
      hash: null,
      key: expect.stringMatching(/^command [0-9a-f]{64}$/),
      about: 'npm test',
      content: 'Exit code 7\nbad',
    })
    const content = '# Another'
    expect(look(write('/home/plans/a.md'))).toMatchObject({ hash: null, about: '/home/plans/a.md', content })
    expect(look(event('mcp__m__think', { thought: 'so' }))).toMatchObject({
      ...{ hash: null, key: null, about: 'mcp__m__think', content: '{\n "thought": "so"\n}' },
    })
    const agent = event('Task', { subagent_type: 'scout', prompt: 'Look.' }, { content: [{ text: 'Seen.' }] })
    expect(look(agent)).toMatchObject({ kind: 'subagent', about: 'scout', context: 'Look.', content: 'Seen.' })
  })

  it('knows a change by its bytes and the plan', () => {
    const hashOf = (of: Event, plan = '# Plan') => subjectOf(of, plan, paths)?.hash
    const edit = (new_string: string) => event('Edit', { file_path: file, old_string: 'a', new_string })
    expect(look(write(file))).toMatchObject({ key: 'file src/a.ts', about: 'src/a.ts' })
    expect(hashOf(edit('b'))).toMatch(/^[0-9a-f]{64}$/)
    expect(hashOf(edit('b'))).toBe(hashOf(edit('b')))
    expect(hashOf(edit('c'))).not.toBe(hashOf(edit('b')))
    expect(hashOf(edit('b'), '# Other')).not.toBe(hashOf(edit('b')))
  })

  it('leaves a plan-mode plan that has become the plan', () => {
    expect(subjectOf(write('/home/plans/a.md'), '# Another\n', paths)).toBeNull()
  })
})
