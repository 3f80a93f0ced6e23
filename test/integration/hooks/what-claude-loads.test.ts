import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { askGate } from '../../support/run-hook.ts'

let home: string
let worktree: GatedWorktree
beforeEach(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'home-')))
  mkdirSync(join(home, '.claude'))
  vi.stubEnv('HOME', home)
  vi.stubEnv('CLAUDE_CONFIG_DIR', '')
  worktree = await gatedWorktree()
  worktree.write('docs/plan.md', '# Plan\n')
  worktree.approve()
})
afterEach(() => {
  worktree.remove()
  rmSync(home, { recursive: true, force: true })
  vi.unstubAllEnvs()
})

const written = (path: string, tool = 'Write', field = 'file_path'): string | null =>
  askGate(worktree.root, tool, { [field]: join(worktree.root, path) }, {}, { HOME: home })
const fromHome = (path: string): string => relative(worktree.root, join(home, path))

it('what Claude Code loads is not written under an approval either, and the denial says what to do', () => {
  expect(written('.claude/skills/x/SKILL.md')).toMatch(
    /SKILL\.md is never written by a tool, approved plan or not\.\n\.claude\/skills belongs to .* what Claude Code loads.*\n.*write the text to another place and tell them/,
  )
  for (const path of [
    'packages/a/.claude/agents/x.md',
    '.mcp.json',
    '.claude/x/../plugins/y',
    'tools/.claude-plugin/plugin.json',
  ])
    expect([path, written(path, 'Edit')]).toEqual([path, expect.stringMatching(/never written by a tool/)])
  for (const path of ['.claude/skills/x/SKILL.md', '.claude/CLAUDE.md', '.claude/settings.json', '.claude.json'])
    expect([path, written(fromHome(path))]).toEqual([path, expect.stringMatching(/never written by a tool/)])
  expect(written('.claude/commands/x.ipynb', 'NotebookEdit', 'notebook_path')).toMatch(/never written by a tool/)
})

it.each(['CLAUDE.md', 'AGENTS.md', '.claude/rules/style.md', '.claude/CLAUDE.md', 'src/claude/skills/x.ts'])(
  'text that a plan may be about is: %s',
  (path) => expect(written(path)).toBeNull(),
)
