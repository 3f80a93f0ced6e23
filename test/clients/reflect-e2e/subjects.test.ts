import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { planText } from '../../support/plan-texts.ts'
import { fails, question, type ReflectWorktree, reflectWorktree } from './reflect-worktree.ts'

type Call = { tool_name: string; tool_input: object; tool_response?: unknown; more?: object }

const silent = { exitCode: 0, user: null, model: null, blocks: false, stdout: '', stderr: '' }

type Row = {
  name: string
  call: (worktree: ReflectWorktree) => Call
  /** How it is called when it is told. */
  told: string
  /** What is open after a FAIL. */
  key: string | null
  shown: readonly string[]
}

const rows: readonly Row[] = [
  {
    name: 'a write',
    call: ({ at }) => ({
      tool_name: 'Write',
      tool_input: { file_path: at('src/app.ts'), content: 'print("hello")\n' },
    }),
    told: 'the change to src/app.ts',
    key: 'file src/app.ts',
    shown: ['print("hello")'],
  },
  {
    name: 'an edit, as the client shows it',
    call: ({ at }) => ({
      tool_name: 'Edit',
      tool_input: { file_path: at('src/app.ts'), old_string: 'export {}', new_string: 'print("hello")' },
      tool_response: {
        structuredPatch: [
          { oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: ['-export {}', '+print("hello")'] },
        ],
      },
    }),
    told: 'the change to src/app.ts',
    key: 'file src/app.ts',
    shown: ['@@ -1,1 +1,1 @@', '-export {}', '+print("hello")'],
  },
  {
    name: 'several edits',
    call: ({ at }) => ({
      tool_name: 'MultiEdit',
      tool_input: { file_path: at('src/app.ts'), edits: [{ old_string: 'a', new_string: 'print("hello")' }] },
    }),
    told: 'the change to src/app.ts',
    key: 'file src/app.ts',
    shown: ['hello'],
  },
  {
    name: 'a cell of a notebook',
    call: ({ at }) => ({
      tool_name: 'NotebookEdit',
      tool_input: { notebook_path: at('nb.ipynb'), cell_id: 'c1', new_source: 'print("hello")' },
      tool_response: { new_source: 'print("hello")', old_source: 'print(1)', edit_mode: 'replace' },
    }),
    told: 'the change to nb.ipynb',
    key: 'file nb.ipynb',
    shown: ['hello'],
  },
  {
    name: 'a tool of a server that edits',
    call: () => ({ tool_name: 'mcp__files__write_file', tool_input: { path: 'src/app.ts', text: 'print("hello")' } }),
    told: 'the change to src/app.ts',
    key: 'file src/app.ts',
    shown: ['hello'],
  },
  {
    name: 'an edit by a subagent',
    call: ({ at }) => ({
      tool_name: 'Write',
      tool_input: { file_path: at('src/sub.ts'), content: 'print("hello")\n' },
      more: { agent_id: 'a36833de1b55c0d6d', agent_type: 'general-purpose' },
    }),
    told: 'the change to src/sub.ts',
    key: 'file src/sub.ts',
    shown: ['print("hello")'],
  },
  {
    name: 'an edit while the session stands elsewhere',
    call: ({ at }) => ({
      tool_name: 'mcp__files__edit_file',
      tool_input: { file_path: 'app.ts', new_text: 'print("hello")' },
      more: { cwd: at('src') },
    }),
    told: 'the change to src/app.ts',
    key: 'file src/app.ts',
    shown: ['hello'],
  },
  {
    name: 'a thought',
    call: () => ({
      tool_name: 'mcp__mind__sequentialthinking',
      tool_input: { thought: 'It prints hello, so it is done.', thoughtNumber: 1 },
    }),
    told: 'the reasoning in mcp__mind__sequentialthinking',
    key: null,
    shown: ['It prints hello, so it is done.'],
  },
  {
    name: 'the answer of a subagent',
    call: () => ({
      tool_name: 'Agent',
      tool_input: { description: 'look', prompt: 'Who calls app.ts?', subagent_type: 'general-purpose' },
      tool_response: {
        status: 'completed',
        prompt: 'Who calls app.ts?',
        agentId: 'a36833de1b55c0d6d',
        content: [{ type: 'text', text: 'Nobody calls it.' }],
        usage: { output_tokens: 9 },
      },
    }),
    told: 'the answer of general-purpose',
    key: null,
    shown: ['Nobody calls it.', 'Who calls app.ts?'],
  },
  {
    name: 'the answer of a subagent, by its older name',
    call: () => ({
      tool_name: 'Task',
      tool_input: { prompt: 'Who calls app.ts?' },
      tool_response: { content: [{ type: 'text', text: 'Nobody calls it.' }] },
    }),
    told: 'the answer of Task',
    key: null,
    shown: ['Nobody calls it.'],
  },
  {
    name: 'a plan on the way',
    call: ({ home }) => {
      const file_path = join(home, '.claude', 'plans', 'on-the-way.md')
      mkdirSync(join(home, '.claude', 'plans'), { recursive: true })
      writeFileSync(file_path, '# On the way\n\nDo it in two steps.\n')
      return { tool_name: 'Write', tool_input: { file_path, content: '# On the way\n\nDo it in two steps.\n' } }
    },
    told: 'the plan ',
    key: 'plans/on-the-way.md',
    shown: ['Do it in two steps.', 'Change the line.'],
  },
]

const use = ({ use: fire }: ReflectWorktree, { tool_name, tool_input, tool_response, more }: Call, session?: object) =>
  fire(tool_name, tool_input, { tool_response, ...more, ...session })

describe('what is reviewed', () => {
  let worktree: ReflectWorktree
  let remove = (): void => {}
  beforeAll(async () => {
    worktree = await reflectWorktree([fails('it is wrong.')], {}, (end) => {
      remove = end
    })
  })
  afterAll(() => remove())

  it.each(rows)('$name', async ({ name, call, told, key, shown }) => {
    const asked = worktree.api.requests.length
    const result = await use(worktree, call(worktree), { session_id: name })
    expect(result).toMatchObject({ exitCode: 0, blocks: false })
    expect(result.user).toContain(`plan-gate: ${told}`)
    expect(result.model).toContain('it is wrong.')
    expect(worktree.api.requests).toHaveLength(asked + 1)
    for (const part of shown) expect(question(worktree.api, asked + 1)).toContain(part)
    const open = worktree.state(name).fails.fails
    if (key === null) expect(open).toEqual([])
    else expect(open).toMatchObject([{ key: expect.stringContaining(key), verdict: 'FAIL' }])
  })
})

describe('what is not reviewed', () => {
  it('asks nobody, and says nothing', async () => {
    const worktree = await reflectWorktree([fails('it is wrong.')])
    const { at, home, root, write } = worktree
    const plans = join(home, '.claude', 'plans')
    mkdirSync(join(plans, 'below'), { recursive: true })
    for (const path of ['../outside.md', 'below/a.md', 'a.txt']) writeFileSync(join(plans, path), '# A plan\n')
    symlinkSync(join(home, '.claude', 'outside.md'), join(plans, 'link.md'))
    write('.env', 'KEY=1\n')
    symlinkSync(at('.env'), at('notes.txt'))
    symlinkSync(home, at('away'))
    const content = '# Something else\n'
    const wrote = (file_path: string): Call => ({ tool_name: 'Write', tool_input: { file_path, content } })
    const calls: readonly Call[] = [
      ...[`${plans}/../outside.md`, join(plans, 'below', 'a.md'), join(plans, 'a.txt'), join(plans, 'link.md')].map(
        wrote,
      ),
      ...[`${plans}/gone.md`, `${plans}/./../plans/../outside.md`, `${plans}/a.md\n.txt`].map(wrote),
      ...[at('.env'), at('notes.txt'), at('away/x.ts'), '/etc/x.ts', join(home, 'x.ts')].map(wrote),
      ...[at('.claude/review/x.json'), at('.git/x'), at('.claude/hooks/plan-gate/x.mjs'), root].map(wrote),
      { tool_name: 'Write', tool_input: { file_path: at('docs/plan.md'), content: planText() } },
      { tool_name: 'Write', tool_input: { content } },
      { tool_name: 'Edit', tool_input: { file_path: 7 } },
      { tool_name: 'Read', tool_input: { file_path: at('src/app.ts') } },
      { tool_name: 'mcp__files__read_file', tool_input: { path: 'src/app.ts' } },
      { tool_name: 'mcp__tracker__update_issue', tool_input: { id: 7 } },
      { tool_name: 'Agent', tool_input: { prompt: 'x' }, tool_response: { status: 'running', content: [] } },
      { tool_name: 'Agent', tool_input: { prompt: 'x' }, tool_response: 'async' },
      { tool_name: 'Bash', tool_input: { command: 'ls' } },
      { tool_name: 'SomethingNew', tool_input: { file_path: at('src/app.ts') } },
    ]
    for (const call of calls) expect({ call, result: await use(worktree, call) }).toEqual({ call, result: silent })
    expect(worktree.api.requests).toHaveLength(0)
    expect(worktree.state()).toMatchObject({ spending: { calls: 0 }, fails: { fails: [] } })
  })

  it('what ExitPlanMode presents: that was reviewed before it was shown, and its file may be any', async () => {
    const worktree = await reflectWorktree([fails('it is wrong.')])
    writeFileSync(join(worktree.home, 'outside.md'), '# Not for a reviewer\n')
    const presented = { plan: '# Another plan', isAgent: false }
    for (const response of [presented, { filePath: join(worktree.home, 'outside.md'), isAgent: false }])
      expect(await worktree.use('ExitPlanMode', {}, { tool_response: response })).toEqual(silent)
    expect(worktree.api.requests).toHaveLength(0)
  })
})
