import { describe, expect, it } from 'vitest'
import { classifyPath, type ProtectedPaths } from '../../../src/gate/protected-paths.ts'

/** A worktree reached through a link (/w → /real/w), of a repository at /real/main, on a machine of the user /home/u. */
const protectedPaths: ProtectedPaths = {
  root: { named: '/w', real: '/real/w' },
  gitDirs: ['/real/main/.git/worktrees/w', '/real/main/.git'],
  mergedRoots: ['/real/main'],
  userDirs: ['/home/u/.claude'],
  userFiles: ['/home/u/.gitconfig'],
  planModeDirs: [{ named: '/home/u/.claude/plans', real: '/dots/claude/plans' }],
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
  { path: '/w/.claude/skills/own-skill/SKILL.md', expected: 'elsewhere' },
  { path: '/w/.claude/agents/a.md', expected: 'elsewhere' },
  { path: '/w/.claude', expected: 'control-plane' },
  { path: '/w/plan-gate.yaml', expected: 'control-plane' },
  { path: '/w/pkg/plan-gate.yaml', expected: 'elsewhere' },
  { path: '/w/pkg/.claude/settings.json', expected: 'elsewhere' },
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
  { path: '/home/u/.claude/CLAUDE.md', expected: 'elsewhere' },

  // By another name: case, ignorable characters, look-alike forms, trailing dots, streams, links.
  { path: '/w/.CLAUDE/Settings.JSON', expected: 'control-plane' },
  { path: '/W/.claude/settings.json', expected: 'control-plane' },
  { path: '/w/.cl\u200baude/settings.json', expected: 'control-plane' },
  { path: '/w/.claude/ſettings.json', expected: 'control-plane' },
  { path: '/w/.claude/settıngs.json', expected: 'control-plane' },
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
  { path: '/home/u/.claude/other/a.md', expected: 'elsewhere' },
]

describe('placeOf', () => {
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
