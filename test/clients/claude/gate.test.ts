import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { launchSettings } from '../../../bootstrap/launch.ts'
import { readEvents } from '../../../src/state/ledger.ts'
import { listSessions } from '../../../src/state/sessions.ts'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { type ClaudeOutcome, type ClaudeRun, runClaude } from '../../support/run-claude.ts'
import type { ToolUse } from '../../support/servers/messages-api.ts'

/** The real Claude Code in a worktree that install has gated, allowed everything by its own permissions. */
describe.each(['newest', 'oldest'] as const)('%s Claude Code behind the gate', (client) => {
  let worktree: GatedWorktree
  beforeEach(async () => {
    worktree = await gatedWorktree({ 'book.ipynb': notebook, 'src/app.ts': 'export {}\n' })
  })
  afterEach(() => worktree.remove())

  const run = (more: Omit<ClaudeRun, 'client' | 'cwd'>): Promise<ClaudeOutcome> =>
    runClaude({ client, cwd: worktree.root, ...more })
  const write = (path: string): ToolUse => ({
    name: 'Write',
    input: { file_path: worktree.at(path), content: 'written' },
  })
  const results = (outcome: ClaudeOutcome): [tool: string, refused: boolean][] =>
    outcome.toolResults.map(({ tool, isError }) => [tool, isError])
  const untouched = (): string => worktree.git('status', '--porcelain', '-uall')

  it('writes the plan and nothing else, and is told why', async () => {
    const outcome = await run({
      turns: [
        { tools: [write('src/app.js')] },
        { tools: [{ name: 'Bash', input: { command: 'touch made-by-bash', description: 'a file' } }] },
        { tools: [{ name: 'Read', input: { file_path: worktree.at('book.ipynb') } }] },
        {
          tools: [
            {
              name: 'NotebookEdit',
              input: { notebook_path: worktree.at('book.ipynb'), cell_id: 'one', new_source: 'x' },
            },
          ],
        },
        { tools: [{ name: 'mcp__note__write_note', input: { path: worktree.at('made-by-mcp'), text: 'x' } }] },
        { tools: [write('docs/plan.md')] },
      ],
      noteServer: true,
    })
    expect(results(outcome)).toEqual([
      ['Write', true],
      ['Bash', true],
      ['Read', false],
      ['NotebookEdit', true],
      ['mcp__note__write_note', true],
      ['Write', false],
    ])
    const [refusedWrite, refusedBash] = outcome.toolResults
    expect(refusedWrite?.text).toMatch(
      /^(PreToolUse:Write hook error: )?plan-gate: writing .*src\/app.js is not allowed before there is an approved plan/,
    )
    expect(refusedBash?.text).toMatch(/plan-gate: docs\/plan.md does not exist yet; .*\n`touch` is not on the list/)
    expect(untouched()).toBe('?? docs/plan.md\n')
  })

  it('cannot write what decides whether the gate holds, by any name', async () => {
    const paths = [
      '.claude/settings.json',
      '.claude/settings.local.json',
      '.claude/review/approval.json',
      '.claude/hooks/plan-gate/pre-tool-use.mjs',
      'plan-gate.yaml',
      '.git/config',
      'docs/../.claude/settings.local.json',
    ]
    const before = paths.map((path) => (existsSync(worktree.at(path)) ? worktree.read(path) : null))
    const outcome = await run({ turns: paths.map((path) => ({ tools: [write(path)] })) })
    expect(results(outcome)).toEqual(paths.map(() => ['Write', true]))
    expect(paths.map((path) => (existsSync(worktree.at(path)) ? worktree.read(path) : null))).toEqual(before)
  })

  it('refuses a subagent’s write too', async () => {
    const prompt = 'Write the file for me.'
    const outcome = await run({
      turns: [
        {
          tools: [
            {
              name: 'Agent',
              input: { description: 'a file', prompt, subagent_type: 'general-purpose', run_in_background: false },
            },
          ],
        },
      ],
      subagents: [{ prompt, turns: [{ tools: [write('by-subagent.txt')] }] }],
    })
    expect(outcome.toolResults.find(({ tool }) => tool === 'Write')).toMatchObject({
      isError: true,
      text: expect.stringContaining('plan-gate:'),
    })
    expect(untouched()).toBe('')
  })

  it('opens with an approval by hand, and closes with the next edit of the plan', async () => {
    worktree.write('docs/plan.md', '# Plan\n')
    const outcome = await run({
      turns: (_, turn) => {
        if (turn === 1) worktree.approve()
        return [
          { tools: [write('one.txt')] },
          { tools: [{ name: 'Bash', input: { command: 'echo x >> docs/plan.md', description: 'edit' } }] },
          { tools: [write('two.txt')] },
        ][turn - 1]
      },
    })
    expect(results(outcome)).toEqual([
      ['Write', false],
      ['Bash', false],
      ['Write', true],
    ])
    expect(outcome.feedback.join('\n')).toMatch(/changed after its approval, so the approval is revoked/)
    expect([existsSync(worktree.at('one.txt')), existsSync(worktree.at('two.txt'))]).toEqual([true, false])
    const events = readEvents(worktree.root)
    expect(events.kind === 'read' && events.events.map(({ type }) => type)).toEqual([
      'installed',
      'approved-manually',
      'approval-revoked',
      'cycle-archived',
    ])
  })

  it.each([
    ['as the settings file names them', false],
    ['as the launcher passes them', true],
  ])('keeps its hooks %s when settings written during the run switch them off', async (_, launched) => {
    const outcome = await run({
      turns: (_, turn) => {
        if (turn === 2) {
          writeFileSync(worktree.at('.claude/settings.local.json'), '{"disableAllHooks":true}')
          pause(2_000)
        }
        if (turn === 3) {
          // A change that hurts nobody: taking it over makes Claude Code read the other file again as well.
          writeFileSync(worktree.at('.claude/settings.local.json'), '{"disableAllHooks":true,"env":{"A":"1"}}')
          pause(2_000)
        }
        return turn <= 3 ? { tools: [write(`file-${turn}.txt`)] } : undefined
      },
      ...(launched ? { settings: launchSettings(worktree.root, worktree.gitDirs) } : {}),
    })
    expect(results(outcome)).toEqual([
      ['Write', true],
      ['Write', true],
      ['Write', true],
    ])
    expect(untouched()).toBe('?? .claude/settings.local.json\n')
  })

  it('puts back what a command did to the gate, ends the approval, and tells the model', async () => {
    worktree.write('docs/plan.md', '# Plan\n')
    worktree.approve()
    const before = worktree.read('.claude/hooks/plan-gate/pre-tool-use.mjs')
    const wreck = `node -e "require('fs').writeFileSync('.claude/hooks/plan-gate/pre-tool-use.mjs','')"`
    const outcome = await run({
      turns: [
        { tools: [{ name: 'Bash', input: { command: wreck, description: 'x' } }] },
        { tools: [write('after.txt')] },
      ],
    })
    expect(results(outcome)).toEqual([
      ['Bash', false],
      ['Write', true],
    ])
    expect(outcome.feedback.join('\n')).toMatch(
      /changed the control plane of the gate:\s+.claude\/hooks\/plan-gate\/pre-tool-use.mjs: restored/,
    )
    expect(worktree.read('.claude/hooks/plan-gate/pre-tool-use.mjs')).toBe(before)
    expect(existsSync(worktree.at('after.txt'))).toBe(false)
  })

  it('is told of files that changed although no plan is approved, after a command that failed too', async () => {
    const look = { name: 'Bash', input: { command: 'cat missing.txt', description: 'x' } }
    const outcome = await run({
      turns: (_, turn) => {
        // Somebody else's doing: what the gate lets pass cannot do it.
        if (turn === 2) worktree.write('src/app.ts', 'changed\n')
        return turn <= 2 ? { tools: [look] } : undefined
      },
    })
    expect(outcome.feedback.filter((text) => /although no plan is approved/.test(text))).toHaveLength(1)
    expect(outcome.feedback.join('\n')).toContain('src/app.ts: changed')
  })

  it('starts with a heartbeat, and tells the model where the plan stands', async () => {
    const outcome = await run({ turns: [] })
    expect(outcome.feedback.join('\n')).toMatch(/SessionStart.*plan-gate guards this worktree. There is no plan yet/)
    const version = { newest: '2.1.328', oldest: '2.1.295' }[client]
    expect(listSessions(worktree.root).map(({ session }) => session?.client_version)).toEqual([version])
  })

  it('lets plan mode write the plan file that Claude Code names, and no other', async () => {
    const home = worktree.at('home')
    mkdirSync(home)
    let plan = ''
    const outcome = await run({
      home,
      permissionMode: 'plan',
      interactive: true,
      turns: (request, turn) => {
        plan = /\/[^\s"`\\]*\.claude\/plans\/[^\s"`\\]+\.md/.exec(JSON.stringify(request))?.[0] ?? plan
        const file = { name: 'Write', input: { file_path: plan, content: '# A plan' } }
        return [{ tools: [file] }, { tools: [write('src/other.ts')] }][turn - 1]
      },
    })
    expect(results(outcome)).toEqual([
      ['Write', false],
      ['Write', true],
    ])
    expect([existsSync(plan), existsSync(worktree.at('src/other.ts'))]).toEqual([true, false])
  })
})

/** Longer than Claude Code takes to notice a changed settings file. */
const pause = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

const notebook = JSON.stringify({
  cells: [{ cell_type: 'code', id: 'one', source: ['1'], metadata: {}, outputs: [], execution_count: null }],
  metadata: {},
  nbformat: 4,
  nbformat_minor: 5,
})
