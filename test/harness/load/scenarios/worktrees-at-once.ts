import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mustBeWhole } from '../must-be-whole.ts'
import { fireHook, type Ran, runCommand, runMeasured, sumOf } from '../run-measured.ts'
import { must, type Scenario } from '../scenario.ts'

/** One repository, its worktrees all opened at the same moment, and a session's first hooks in each at once. */
export const worktreesAtOnce: Scenario = {
  name: 'worktrees of one repository at once',
  unit: 'worktrees',
  sizes: { full: [2, 7, 20], quick: [3] },
  run: async (size) => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'load-worktrees-')))
    try {
      const repo = join(folder, 'shop')
      makeRepo(repo)
      const names = Array.from({ length: size }, (_, i) => `w${i}`)
      const since = performance.now()
      const opened = await Promise.all(names.map((name) => open(repo, name)))
      const openedMs = performance.now() - since
      const worktrees = names.map((name) => `${repo}-${name}`)
      must(
        git(repo, 'worktree', 'list').trim().split('\n').length === size + 1,
        'not as many worktrees as were asked for',
      )
      for (const worktree of worktrees) {
        must(git(worktree, 'status', '--porcelain') === '', `${worktree} is not clean`)
        must(existsSync(join(worktree, '.claude/hooks/plan-gate/pre-tool-use.mjs')), `${worktree} has no gate`)
      }
      const excluded = readFileSync(join(repo, '.git/info/exclude'), 'utf8')
      must(excluded.split('>>> plan-gate').length === 2, 'info/exclude has another number of blocks than one')

      const asked = performance.now()
      const answers = await Promise.all(worktrees.flatMap(firstHooks))
      const askedMs = performance.now() - asked
      for (const worktree of worktrees) await mustBeWhole(worktree, { approved: false })
      for (const worktree of worktrees) await runCommand(worktree, ['uninstall'])
      must(!existsSync(join(repo, '.git/info/exclude')) || !exclude(repo).includes('plan-gate'), 'a block was left')
      return [
        { what: 'bootstrap', ...sumOf(opened, openedMs) },
        { what: 'the first hooks', ...sumOf(answers, askedMs) },
      ]
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    }
  },
}

const open = (repo: string, name: string): Promise<Ran> =>
  runCommand(repo, ['bootstrap', '--no-launch', '--reviewer', 'checklist', '--name', name])

function firstHooks(root: string): Promise<Ran>[] {
  const start = fireHook(root, 'session-start', { hook_event_name: 'SessionStart', source: 'startup' })
  const refused = fireHook(
    root,
    'pre-tool-use',
    { hook_event_name: 'PreToolUse', tool_name: 'Write', tool_input: { file_path: join(root, 'a.ts') } },
    { exitCodes: [2] },
  )
  return [start, refused]
}

/** With an identity of its own; everything else of the user's git stays out of it. */
function makeRepo(repo: string): void {
  mkdirSync(repo)
  git(repo, 'init', '--quiet')
  writeFileSync(join(repo, 'README.md'), '# Shop\n')
  git(repo, 'add', '--all')
  git(repo, 'commit', '--quiet', '--message', 'first')
}

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@localhost', '-c', 'gc.auto=0', ...args], {
    cwd,
    encoding: 'utf8',
  })

const exclude = (repo: string): string => readFileSync(join(repo, '.git/info/exclude'), 'utf8')

/** What node itself takes: everything is told as so many times that. */
export const bareNode = (): Promise<Ran> => runMeasured({ cwd: tmpdir(), args: ['-e', '0'] })
