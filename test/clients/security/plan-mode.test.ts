import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { type ClaudeRun, runClaude } from '../../support/run-claude.ts'
import type { ToolUse } from '../../support/servers/messages-api.ts'

/** Promise: in plan mode the session's own plan may be written, and nothing else, whatever `plansDirectory` says. */
describe.each(['newest', 'oldest'] as const)('%s Claude Code in plan mode', (client) => {
  let home: string
  let worktree: GatedWorktree | undefined
  beforeEach(() => {
    home = realpathSync(mkdtempSync(join(tmpdir(), 'home-')))
  })
  afterEach(() => {
    worktree?.remove()
    rmSync(home, { recursive: true, force: true, maxRetries: 3 })
  })

  const write = (file_path: string): { tools: ToolUse[] } => ({
    tools: [{ name: 'Write', input: { file_path, content: '# Written\n' } }],
  })

  /** Goes on until Claude Code has said where the plan of this session belongs. */
  async function runPlanning(
    root: string,
    folder: string,
    others: readonly string[],
    first: readonly ToolUse[],
    permissionMode: ClaudeRun['permissionMode'] & string,
  ) {
    let own: string | null = null
    const named = new RegExp(`${folder}/[a-z]+(?:-[a-z]+)+\\.md`)
    const { toolResults } = await runClaude({
      client,
      cwd: root,
      home,
      interactive: true,
      permissionMode,
      turns: (request, turn) => {
        own ??= named.exec(JSON.stringify(request.messages))?.[0] ?? null
        const turns = [
          ...first.map((tool) => ({ tools: [tool] })),
          ...others.map((path) => write(path)),
          ...(own === null ? [] : [write(own), write(join(folder, 'another-quiet-plan.md'))]),
        ]
        return turns[turn - 1]
      },
    })
    return { own, results: toolResults.filter(({ tool }) => tool === 'Write') }
  }

  it.each(['.', '..', 'notes', null])('plansDirectory: %s', async (plansDirectory) => {
    const committed = plansDirectory === null ? {} : { '.claude/settings.json': JSON.stringify({ plansDirectory }) }
    worktree = await gatedWorktree(committed)
    const { root, at } = worktree
    const folder = { '.': root, '..': join(home, '.claude/plans'), notes: at('notes') }[plansDirectory ?? '..'] ?? ''
    const others = ['new.md', '.claude/agents/x.md', 'CLAUDE.md', 'notes/x.md', 'docs/x-y-z.md'].map(at)
    const outside = [join(home, '.claude/CLAUDE.md'), join(root, '..', `${basename(root)}.md`)]
    const { own, results } = await runPlanning(root, folder, [...others, ...outside], [], 'plan')
    expect(results.map(({ isError, text }) => [isError, /plan-gate: /.test(text)])).toEqual([
      ...[...others, ...outside].map(() => [true, true]),
      [false, false],
      [true, true],
    ])
    expect([...others, ...outside].filter((path) => existsSync(path))).toEqual([])
    expect(existsSync(own ?? '')).toBe(true)
  })

  it('also where plan mode begins within the session, and a second time', async () => {
    worktree = await gatedWorktree({ 'plan-gate.yaml': 'plan:\n  exit_plan_mode: off\n' })
    const { root } = worktree
    const enter: ToolUse = { name: 'EnterPlanMode', input: {} }
    const leave: ToolUse = { name: 'ExitPlanMode', input: {} }
    const { results } = await runPlanning(root, join(home, '.claude/plans'), [], [enter, leave, enter], 'default')
    expect(results.map(({ isError }) => isError)).toEqual([false, true])
  })
})
