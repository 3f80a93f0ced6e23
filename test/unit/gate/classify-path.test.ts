import { describe, expect, it } from 'vitest'
import { classifyPath, type ProtectedPaths } from '../../../src/gate/protected-paths.ts'
import { mayBeShortName } from '../../../src/system/paths.ts'

/** A worktree reached through a link (/w → /real/w), of a repository at /real/main, on a machine of the user /home/u. */
const protectedPaths: ProtectedPaths = {
  root: { named: '/w', real: '/real/w' },
  gitDirs: ['/real/main/.git/worktrees/w', '/real/main/.git'],
  mergedRoots: ['/real/main'],
  userDirs: ['/home/u/.claude', '/etc/claude-code'],
  userFiles: ['/home/u/.gitconfig', '/home/u/.claude.json'],
  planModeDirs: [
    { named: '/home/u/.claude/plans', real: '/dots/claude/plans' },
    { named: '/w/notes', real: '/real/w/notes' },
  ],
}

type Row = { path: string; real?: string; hardLinks?: number; expected: string }

/** Where a plain path below /w really is. */
const followed = (path: string): string => path.replace(/^\/w\//, '/real/w/')

const rows: Row[] = [
  { path: '/w/docs/plan.md', expected: 'plan' },
  { path: '/real/w/docs/plan.md', expected: 'plan' },
  { path: '/w/docs/plan.md', real: '/real/w/src/app.ts', expected: 'plan-by-a-link' },
  { path: '/w/docs/plan.md', real: '/elsewhere/plan.md', expected: 'plan-by-a-link' },
  { path: '/w/docs/plan.md', hardLinks: 2, expected: 'plan-by-a-link' },
  { path: '/w/DOCS/plan.md', expected: 'elsewhere' },
  { path: '/w/docs/Plan.md', expected: 'elsewhere' },
  { path: '/w/docs/plan.md ', expected: 'elsewhere' },
  { path: '/w/nested/docs/plan.md', expected: 'elsewhere' },
  { path: '/other/docs/plan.md', expected: 'elsewhere' },
  { path: '/w/link', real: '/real/w/docs/plan.md', expected: 'elsewhere' },
  { path: '/w/src/app.ts', expected: 'elsewhere' },
  { path: '/w-evil/docs/plan.md', expected: 'elsewhere' },

  { path: '/w/.claude/review/approval.json', expected: 'control-plane' },
  { path: '/real/w/.claude/review/approval.json', expected: 'control-plane' },
  { path: '/w/.claude/review', expected: 'control-plane' },
  { path: '/w/.claude/hooks/plan-gate/pre-tool-use.mjs', expected: 'control-plane' },
  { path: '/w/.claude/hooks/other.sh', expected: 'control-plane' },
  { path: '/w/.claude/settings.json', expected: 'control-plane' },
  { path: '/w/.claude/settings.local.json', expected: 'control-plane' },
  { path: '/w/.claude/skills/plan-with-review/SKILL.md', expected: 'control-plane' },
  ...[
    ...[
      'skills/own-skill/SKILL.md',
      'skills/x/.claude-plugin/plugin.json',
      'agents/a.md',
      'commands/x.md',
      'plugins/x',
    ],
    ...['output-styles/x.md', 'workflows/x.js', 'scheduled_tasks.json', 'a-folder-of-a-later-version/x', 'hooks'],
  ].flatMap((name): Row[] =>
    ['/w/.claude', '/w/packages/a/.claude', '/real/main/.claude', '/w/.claude/worktrees/x/.claude'].map((folder) => ({
      path: `${folder}/${name}`,
      expected: 'control-plane',
    })),
  ),
  ...['rules/x.md', 'CLAUDE.md', 'CLAUDE.local.md', 'agent-memory/x/MEMORY.md', 'plans/x.md', 'worktrees/x/a.ts'].map(
    (name): Row => ({ path: `/w/.claude/${name}`, expected: 'elsewhere' }),
  ),
  ...[
    '.mcp.json',
    'packages/a/.mcp.json',
    '.claude-plugin/marketplace.json',
    'tools/x/.claude-plugin',
    '.lsp.json',
  ].map((name): Row => ({ path: `/w/${name}`, expected: 'control-plane' })),
  { path: '/w/CLAUDE.md', expected: 'elsewhere' },
  { path: '/w/AGENTS.md', expected: 'elsewhere' },
  { path: '/w/.claude-notes/x', expected: 'elsewhere' },
  { path: '/w/.claude', expected: 'control-plane' },
  { path: '/w/plan-gate.yaml', expected: 'control-plane' },
  { path: '/w/pkg/plan-gate.yaml', expected: 'elsewhere' },
  { path: '/w/pkg/.claude/settings.json', expected: 'control-plane' },
  { path: '/w/.git', expected: 'control-plane' },
  { path: '/w/.git/config', expected: 'control-plane' },
  { path: '/w/.gitignore', expected: 'elsewhere' },
  { path: '/w/vendor/lib/.git/hooks/post-checkout', expected: 'control-plane' },
  { path: '/real/main/.git/config', expected: 'control-plane' },
  { path: '/real/main/.git/worktrees/w/plan-gate/install.json', expected: 'control-plane' },
  { path: '/real/main/.claude/settings.local.json', expected: 'control-plane' },
  { path: '/real/main/src/app.ts', expected: 'elsewhere' },
  { path: '/home/u/.claude/settings.json', expected: 'control-plane' },
  { path: '/home/u/.gitconfig', expected: 'control-plane' },
  { path: '/real/main/.claude/hooks/plan-gate/stop.mjs', expected: 'control-plane' },
  { path: '/real/main/plan-gate.yaml', expected: 'control-plane' },
  ...[
    'skills/x/SKILL.md',
    'agents/x.md',
    'commands/x.md',
    'plugins/x',
    'hooks/x',
    'output-styles/x.md',
    'workflows/x.js',
  ].map((name): Row => ({ path: `/home/u/.claude/${name}`, expected: 'control-plane' })),
  ...['CLAUDE.md', 'rules/x.md', 'projects/-w/s.jsonl', 'shell-snapshots/x.sh', 'a-folder-of-a-later-version/x'].map(
    (name): Row => ({ path: `/home/u/.claude/${name}`, expected: 'control-plane' }),
  ),
  ...['agent-memory/x/MEMORY.md', 'projects/-w/memory/x.md'].map(
    (name): Row => ({ path: `/home/u/.claude/${name}`, expected: 'elsewhere' }),
  ),
  { path: '/home/u/.claude.json', expected: 'control-plane' },
  { path: '/etc/claude-code/managed-settings.json', expected: 'control-plane' },

  // By another name: case, ignorable characters, look-alike forms, trailing dots, streams, links.
  { path: '/w/.CLAUDE/Settings.JSON', expected: 'control-plane' },
  { path: '/w/pkg/.CLAUDE/Skills/x/SKILL.md', expected: 'control-plane' },
  { path: '/w/pkg/.MCP.json', expected: 'control-plane' },
  { path: '/w/.claude./rules./x.md', expected: 'elsewhere' },
  { path: '/W/.claude/settings.json', expected: 'control-plane' },
  { path: '/w/.cl\u200baude/settings.json', expected: 'control-plane' },
  { path: '/w/.claude/ſettings.json', expected: 'control-plane' },
  { path: '/w/.claude/settıngs.json', expected: 'control-plane' },
  { path: '/home/u/.gıtconfıg', expected: 'control-plane' },
  { path: '/home/u/.gitconﬁg', expected: 'control-plane' },
  { path: '/w/.claude./settings.json', expected: 'control-plane' },
  { path: '/w/.claude/settings.json::$DATA', expected: 'control-plane' },
  { path: '/w/PLAN-GATE.YAML', expected: 'control-plane' },
  { path: '/w/.GIT/config', expected: 'control-plane' },
  { path: '/w/notes.txt', real: '/real/w/.claude/settings.json', expected: 'control-plane' },
  { path: '/w/notes.txt', real: '/real/main/.git/hooks/pre-commit', expected: 'control-plane' },
  { path: '/w/.claude/settings.json', real: '/elsewhere/settings.json', expected: 'control-plane' },
  { path: '/tmp/x', real: '/home/u/.claude/settings.json', expected: 'control-plane' },

  { path: '/home/u/.claude/plans/a-plan.md', real: '/dots/claude/plans/a-plan.md', expected: 'plan-mode-plan' },
  { path: '/dots/claude/plans/a-plan.md', expected: 'plan-mode-plan' },
  { path: '/home/u/.claude/plans/a-plan.md', real: '/real/w/src/app.ts', expected: 'elsewhere' },
  { path: '/dots/claude/plans/.md', expected: 'elsewhere' },
  { path: '/home/u/.claude/plans/a-plan.sh', real: '/dots/claude/plans/a-plan.sh', expected: 'elsewhere' },
  { path: '/home/u/.claude/plans/a.md', real: '/dots/claude/plans/a.md', hardLinks: 2, expected: 'elsewhere' },
  { path: '/home/u/.claude/plans/sub/a.md', real: '/dots/claude/plans/sub/a.md', expected: 'elsewhere' },
  { path: '/home/u/.claude/plans/a.MD', real: '/dots/claude/plans/a.MD', expected: 'elsewhere' },
  { path: '/w/notes/a-plan.md', expected: 'plan-mode-plan' },
  { path: '/w/notes/.claude/agents/a.md', expected: 'control-plane' },
]

describe('classifyPath', () => {
  it.each(rows)('$path (really $real, $hardLinks names) → $expected', ({ path, real, hardLinks, expected }) => {
    const target = { kind: 'resolved', path, real: real ?? followed(path), hardLinks: hardLinks ?? 1 } as const
    expect(classifyPath(target, protectedPaths).kind).toBe(expected)
  })

  it('says why a path cannot be checked', () => {
    expect(classifyPath({ kind: 'unresolvable', path: '/w/x', why: 'a circle' }, protectedPaths)).toEqual({
      kind: 'unresolvable',
      why: 'a circle',
    })
  })
})

/** As `slashed` makes them there. */
describe('on Windows', () => {
  const root = 'C:/Users/u/shop'
  const paths: ProtectedPaths = {
    root: { named: root, real: root },
    gitDirs: [`${root}/.git`],
    mergedRoots: [],
    userDirs: ['C:/Users/u/.claude'],
    userFiles: ['C:/Users/u/.gitconfig'],
    planModeDirs: [],
  }
  it.each([
    ['docs/plan.md', 'plan'],
    ['docs/plan.md.', 'elsewhere'],
    ['docs/plan.md::$DATA', 'elsewhere'],
    ['src/app.ts', 'elsewhere'],
    ['.claude/settings.json', 'control-plane'],
    ['.CLAUDE/Settings.JSON', 'control-plane'],
    ['.claude/settings.json.', 'control-plane'],
    ['.claude /settings.json', 'control-plane'],
    ['.claude/settings.json::$DATA', 'control-plane'],
    ['.claude::$INDEX_ALLOCATION/settings.json', 'control-plane'],
    ['.claude/review/approval.json', 'control-plane'],
    ['.git/hooks/pre-commit', 'control-plane'],
    ['../.claude/settings.json', 'control-plane'],
  ])('%s is %s', (name, expected) => {
    const path = name.startsWith('../') ? `C:/Users/u/${name.slice(3)}` : `${root}/${name}`
    expect(classifyPath({ kind: 'resolved', path, real: path, hardLinks: 1 }, paths).kind).toBe(expected)
  })

  it.each([
    ['C:\\Users\\u\\shop\\CLAUDE~1\\settings.json', true],
    ['\\\\?\\C:\\Users\\u\\shop\\.claude\\settings.json', true],
    ['\\\\.\\C:\\x', true],
    ['\\\\server\\share\\x.ts', false],
    ['C:\\Users\\u\\shop\\a~b.ts', false],
  ])('%s may be another name: %s', (path, expected) => {
    expect(mayBeShortName(path)).toBe(expected)
  })
})
