import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { claudeBinary } from '../../support/claude-clients.ts'
import pins from '../../support/clients/package.json' with { type: 'json' }
import { runClaude } from '../../support/run-claude.ts'
import type { ToolUse } from '../../support/servers/messages-api.ts'

/**
 * The control group. A later test says "the hook refused it" because a file was not written: that proves something
 * only if the same call does write it where there is no hook.
 */
describe.each(['newest', 'oldest'] as const)('%s Claude Code without hooks', (client) => {
  let cwd: string
  beforeAll(async () => {
    cwd = await realpath(await mkdtemp(join(tmpdir(), 'harness-')))
  })
  afterAll(() => rm(cwd, { recursive: true, force: true }))

  const at = (name: string) => join(cwd, name)
  const write = (name: string): ToolUse => ({ name: 'Write', input: { file_path: at(name), content: 'written' } })

  it('is the version that test/clients pins', async () => {
    const { stdout } = await execa(await claudeBinary(client), ['--version'])
    expect(pins.dependencies[`claude-${client}`]).toBe(`npm:@anthropic-ai/claude-code@${stdout.split(' ')[0]}`)
  })

  it('runs a Write, a Bash, an MCP and a NotebookEdit call', async () => {
    await writeFile(at('book.ipynb'), JSON.stringify(notebook('before')))
    const run = await runClaude({
      client,
      cwd,
      noteServer: true,
      turns: [
        { text: 'Some files.', tools: [write('write.txt'), bash('printf written > bash.txt')] },
        { tools: [{ name: 'mcp__note__write_note', input: { path: at('mcp.txt'), text: 'written' } }] },
        { tools: [{ name: 'Read', input: { file_path: at('book.ipynb') } }] },
        { tools: [editCell(at('book.ipynb'), 'after')] },
      ],
    })

    expect(run).toMatchObject({ exitCode: 0, stderr: '', feedback: [] })
    expect(run.toolResults.map(({ id, tool, isError }) => ({ id, tool, isError }))).toEqual([
      { id: 'toolu_1_0', tool: 'Write', isError: false },
      { id: 'toolu_1_1', tool: 'Bash', isError: false },
      { id: 'toolu_2_0', tool: 'mcp__note__write_note', isError: false },
      { id: 'toolu_3_0', tool: 'Read', isError: false },
      { id: 'toolu_4_0', tool: 'NotebookEdit', isError: false },
    ])
    for (const name of ['write.txt', 'bash.txt', 'mcp.txt']) expect(await readFile(at(name), 'utf8')).toBe('written')
    const { cells } = JSON.parse(await readFile(at('book.ipynb'), 'utf8')) as ReturnType<typeof notebook>
    expect(cells.map(({ source }) => [source].flat().join(''))).toEqual(['after'])
  })

  it.each(['Agent', 'Task'])('runs what a subagent of the tool %s calls', async (name) => {
    const prompt = `Write the file of ${name}.`
    const input = { description: 'a file', prompt, subagent_type: 'general-purpose', run_in_background: false }
    const run = await runClaude({
      client,
      cwd,
      turns: [{ tools: [{ name, input }] }],
      subagents: [{ prompt, turns: [{ tools: [write(`${name}.txt`)] }] }],
    })

    expect(run).toMatchObject({ exitCode: 0, stderr: '' })
    expect(run.toolResults.filter(({ isError }) => isError)).toEqual([])
    expect(await readFile(at(`${name}.txt`), 'utf8')).toBe('written')
  })

  it('leaves plan mode when somebody is there to say yes', async () => {
    const plan: ToolUse = { name: 'ExitPlanMode', input: { plan: 'Write a file.' } }
    const turns = [{ tools: [plan] }, { tools: [write('planned.txt')] }]
    const run = await runClaude({ client, cwd, turns, permissionMode: 'plan', interactive: true })

    expect(run).toMatchObject({ exitCode: 0, stderr: '' })
    expect(run.toolResults.map(({ isError }) => isError)).toEqual([false, false])
    expect(await readFile(at('planned.txt'), 'utf8')).toBe('written')
  })

  it('ends a run that outlives its deadline', async () => {
    const run = await runClaude({ client, cwd, turns: [{ tools: [bash('tail -f /dev/null')] }], timeoutMs: 2_000 })
    expect(run.exitCode).not.toBe(0)
  })
})

const bash = (command: string): ToolUse => ({ name: 'Bash', input: { command, description: 'a file' } })

const editCell = (notebook_path: string, new_source: string): ToolUse => ({
  name: 'NotebookEdit',
  input: { notebook_path, cell_id: 'one', new_source },
})

const notebook = (source: string) => ({
  cells: [{ cell_type: 'code', id: 'one', source: [source], metadata: {}, outputs: [], execution_count: null }],
  metadata: {},
  nbformat: 4,
  nbformat_minor: 5,
})
