import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mustBeWhole } from '../must-be-whole.ts'
import { fireHook, medianOf, type Ran, runCommand } from '../run-measured.ts'
import { must, type Scenario } from '../scenario.ts'

/** A repository of so many files: opened, gated, looked over after a command, all of them changed at once. */
export const manyFiles: Scenario = {
  name: 'a repository of many files',
  unit: 'files',
  sizes: { full: [1_000, 10_000, 100_000], quick: [100, 500] },
  run: async (size) => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'load-files-')))
    try {
      const repo = join(folder, 'shop')
      makeRepo(repo, size)
      // Before and after: what a file system takes for so many new files differs from one moment to the next.
      const before = plainWorktree(repo, 'before')
      const opened = await runCommand(repo, ['bootstrap', '--no-launch', '--reviewer', 'checklist', '--name', 'x'])
      const after = plainWorktree(repo, 'after')
      const root = `${repo}-x`
      must(git(root, 'status', '--porcelain') === '', 'the new worktree is not clean')
      const status = timeOf(() => git(root, 'status', '--porcelain'))
      await fireHook(root, 'session-start', { hook_event_name: 'SessionStart', source: 'startup' })
      const gate = (tool_name: string, tool_input: object, exitCodes: readonly number[]): Promise<Ran> =>
        fireHook(root, 'pre-tool-use', { hook_event_name: 'PreToolUse', tool_name, tool_input }, { exitCodes })
      const rows = [
        { what: 'git worktree add', ...(before.ms < after.ms ? before : after) },
        { what: 'bootstrap', ...opened },
        { what: 'the gate, a Write', ...(await medianOf(3, () => gate('Write', { file_path: join(root, 'a') }, [2]))) },
        { what: 'the gate, a skill', ...(await medianOf(3, () => gate('Skill', { skill: 'review' }, [0]))) },
        { what: 'git status', ...status },
        { what: 'after a command, nothing changed', ...(await medianOf(3, () => afterCommand(root, 0))) },
      ]
      for (let i = 0; i < size; i += 1) writeFileSync(join(root, pathOf(i)), `changed ${i}\n`)
      const changed = await afterCommand(root, size)
      const again = await medianOf(1, () => afterCommand(root, size))
      await runCommand(root, ['drift', 'accept'])
      const accepted = await medianOf(1, () => afterCommand(root, 0))
      const events = await mustBeWhole(root, { approved: false })
      const kinds = events.map(({ type }) => type).filter((type) => type.startsWith('drift'))
      must(kinds.join() === 'drift-found,drift-accepted', `of the drift is on record: ${kinds.join()}`)
      return [
        ...rows,
        { what: 'after a command that changed all', ...changed },
        { what: 'the same found again', ...again },
        { what: 'and after it was accepted', ...accepted },
      ]
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    }
  },
}

/** It stays there until the end: after so many files were removed, a file system makes new ones several times as slowly. */
const plainWorktree = (repo: string, name: string) =>
  timeOf(() => git(repo, 'worktree', 'add', '--quiet', '-b', name, `${repo}-${name}`))

async function afterCommand(root: string, changed: number): Promise<Ran> {
  const ran = await fireHook(root, 'post-tool-use', {
    hook_event_name: 'PostToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'x' },
    tool_response: {},
  })
  if (changed === 0) must(ran.stdout === '', `nothing had changed, and it said ${ran.stdout.slice(0, 300)}`)
  else
    must(
      ran.stdout.includes(`and ${changed - 30} more`),
      `${changed} had changed, and it said ${ran.stdout.slice(-300)}`,
    )
  must(ran.stdout.length < 10_000, 'it lists more than anybody reads')
  return ran
}

const pathOf = (i: number): string => `d${i % 100}/e${Math.floor(i / 100) % 100}/f${i}.txt`

/** By one process of git's instead of one file after another. */
function makeRepo(repo: string, count: number): void {
  mkdirSync(repo)
  git(repo, 'init', '--quiet')
  const files = Array.from({ length: count }, (_, i) => `M 644 inline ${pathOf(i)}\ndata ${`${i}\n`.length}\n${i}\n\n`)
  const commit = `commit refs/heads/main\ncommitter t <t@localhost> 1700000000 +0000\ndata 1\nx\n${files.join('')}\n`
  execFileSync('git', ['fast-import', '--quiet'], { cwd: repo, input: commit })
  git(repo, 'symbolic-ref', 'HEAD', 'refs/heads/main')
  git(repo, 'reset', '--quiet', '--hard')
}

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'gc.auto=0', ...args], { cwd, encoding: 'utf8', maxBuffer: 256 << 20 })

function timeOf(run: () => unknown) {
  const since = performance.now()
  run()
  const ms = performance.now() - since
  // What git's own processes take of the processor is not told apart.
  return { ms, cpu_ms: ms, peak_mb: 0, read_kb: 0, git_runs: 1 }
}
