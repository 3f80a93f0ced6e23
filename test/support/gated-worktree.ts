import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { recordSeenPlan } from '../../src/gate/read-plan-state.ts'
import { removeSandbox } from '../../src/gate/sandbox/prepare.ts'
import { recordFirstBaseline } from '../../src/gate/working-tree.ts'
import { type Choices, type Installed, installWorktree } from '../../src/install/apply.ts'
import { recompileConfig } from '../../src/install/compile-config.ts'
import { type GitDirs, readGitDirs } from '../../src/system/git-dirs.ts'

export type GatedWorktree = {
  root: string
  gitDirs: GitDirs
  at: (path: string) => string
  write: (path: string, content: string) => string
  read: (path: string) => string
  /** Writes plan-gate.yaml, or removes it, and lets it count. */
  configure: (text: string | null) => void
  git: (...args: string[]) => string
  executable: (path: string) => void
  installed: Installed
  /** Approves by hand what docs/plan.md holds now, after a hook has seen it. */
  approve: () => void
  remove: () => void
}

const quiet = [
  '-c',
  'user.name=t',
  '-c',
  'user.email=t@localhost',
  '-c',
  'commit.gpgSign=false',
  '-c',
  'init.defaultBranch=main',
  // It would go on in the background, in a folder that the test takes away.
  '-c',
  'gc.auto=0',
  '-c',
  'maintenance.auto=false',
]

/** A small repository with one commit, and the gate installed in its checkout. */
export async function gatedWorktree(
  files: { readonly [path: string]: string } = {},
  choices: Choices = { reviewer: 'checklist', reflect: false },
): Promise<GatedWorktree> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'gated-')))
  const at = (path: string): string => join(root, path)
  const git = (...args: string[]): string => {
    const run = spawnSync('git', [...quiet, ...args], { cwd: root, encoding: 'utf8' })
    if (run.status !== 0) throw new Error(`git ${args.join(' ')}: ${run.stderr}`)
    return run.stdout
  }
  const write = (path: string, content: string): string => {
    mkdirSync(dirname(at(path)), { recursive: true })
    writeFileSync(at(path), content)
    return at(path)
  }
  git('init', '--quiet')
  for (const [path, content] of Object.entries({ 'README.md': '# A repository\n', ...files })) write(path, content)
  git('add', '-A')
  git('commit', '--quiet', '-m', 'first')
  const gitDirs = readGitDirs(root)
  if (gitDirs === null) throw new Error('no git directory')
  const installed = await installWorktree(root, gitDirs, choices)
  recordFirstBaseline(root, gitDirs)
  return {
    root,
    gitDirs,
    at,
    write,
    git,
    executable: (path) => chmodSync(at(path), 0o755),
    installed,
    configure: (text) => {
      if (text === null) rmSync(at('plan-gate.yaml'))
      else write('plan-gate.yaml', text)
      recompileConfig(root)
    },
    read: (path) => readFileSync(at(path), 'utf8'),
    approve: () => {
      recordSeenPlan(root, gitDirs.own)
      const plan_hash = createHash('sha256')
        .update(readFileSync(at('docs/plan.md')))
        .digest('hex')
      write('.claude/review/approval.json', JSON.stringify({ is_optimal: true, plan_hash }))
    },
    remove: () => {
      removeSandbox(gitDirs.own)
      rmSync(root, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}
