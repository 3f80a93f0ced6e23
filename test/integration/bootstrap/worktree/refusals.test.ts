import { chmodSync, cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fakePrograms, runCli } from '../../../support/run-cli.ts'
import {
  commit,
  git,
  makeRepo,
  snapshot,
  temporaryFolder,
  temporaryFolderOf,
  temporaryRepo,
  write,
} from '../../../support/temporary-repo.ts'
import { offline } from './bootstrap-in.ts'

type Refusal = {
  name: string
  /** The working directory, and what differs from `bootstrap --no-launch --reviewer checklist --name x` in a repository. */
  make?: () => { cwd: string; args?: string[]; env?: { [name: string]: string }; programs?: string }
  args?: string[]
  says: string
  next: string
}

const inRepo = (prepare: (repo: string) => void) => () => {
  const repo = temporaryRepo()
  prepare(repo)
  return { cwd: repo }
}

const places: Refusal[] = [
  {
    name: 'no repository',
    make: () => ({ cwd: temporaryFolder() }),
    says: 'is not in a git repository.',
    next: 'Go to a repository, or make one: git init',
  },
  {
    name: 'the git directory',
    make: () => ({ cwd: join(temporaryRepo(), '.git/refs') }),
    says: '.git/refs is inside a git directory, not in a checkout.',
    next: 'Go to the folder of your files',
  },
  {
    name: 'a repository without a commit',
    make: () => {
      const folder = temporaryFolder()
      git(folder, 'init', '--quiet')
      return { cwd: folder }
    },
    says: 'This repository has no commit yet',
    next: 'Commit something first: git commit --allow-empty',
  },
  {
    name: 'a branch without a commit',
    make: inRepo((repo) => git(repo, 'checkout', '--quiet', '--orphan', 'fresh')),
    says: 'HEAD is on a branch that has no commit yet',
    next: '--base: Name a branch, a tag or a commit',
  },
  {
    name: "somebody else's repository",
    make: () => ({ cwd: temporaryRepo(), env: { GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' } }),
    says: 'git does not trust the repository at',
    next: 'If you trust it: git config --global --add safe.directory /',
  },
  {
    name: 'a repository that git cannot read',
    make: inRepo((repo) => write(repo, { '.git/config': '[broken\n' })),
    says: 'git cannot use the repository at',
    next: 'Fix what git reports',
  },
  {
    name: 'a path with a line end',
    make: () => ({ cwd: makeRepo(join(temporaryFolder(), 'a\nb'), {}) }),
    says: 'The path of this repository contains a newline.',
    next: 'Rename that folder',
  },
  {
    name: 'a path with a backslash',
    make: () => ({ cwd: makeRepo(join(temporaryFolder(), 'a\\b'), {}) }),
    says: 'node cannot run programs in a folder with a backslash or a newline in its path.',
    next: 'Choose another --name or --dir.',
  },
]

/** Committed folders that git takes for repositories, whose configuration names a program. */
const committedRepositories: [name: string, cwd: string, folders: { [path: string]: string }][] = [
  ['whose checkout it is itself', 'app', { app: 'bare = false\n\tworktree = .' }],
  ['whose checkout is the outer one', 'app', { app: 'bare = false\n\tworktree = ..' }],
  ['whose checkout is below it', 'app', { app: 'bare = false\n\tworktree = info' }],
  ['whose checkout is beside it', 'app', { app: 'bare = false\n\tworktree = ../src' }],
  ['that is bare', 'app', { app: 'bare = true' }],
  ['that is bare, from a folder in it', 'app/info', { app: 'bare = true' }],
  ['that is bare, in another bare one', 'app/inner', { app: 'bare = true', 'app/inner': 'bare = true' }],
  ['that is bare, in one that git cannot read', 'app/inner', { app: '[', 'app/inner': 'bare = true' }],
]

describe('refuses a committed folder that is a repository of its own, and runs nothing of it:', () => {
  it.each(committedRepositories)('one %s', async (_name, cwd, folders) => {
    const repo = temporaryRepo('shop', { 'src/a.ts': '' })
    const files = Object.entries(folders).flatMap(([folder, core]) => {
      const program = `touch '${dirname(repo)}/ran'; false`
      const config = `[core]\n\trepositoryformatversion = 0\n\t${core}\n\tfsmonitor = "${program}"\n\thooksPath = ${repo}/hooks\n`
      return Object.entries({
        HEAD: 'ref: refs/heads/main\n',
        config,
        'refs/x': '',
        'objects/x': '',
        'info/x': '',
      }).map(([name, text]) => [`${folder}/${name}`, text])
    })
    commit(repo, { ...Object.fromEntries(files), 'hooks/post-checkout': `#!/bin/sh\ntouch '${dirname(repo)}/ran'\n` })
    chmodSync(join(repo, 'hooks/post-checkout'), 0o755)
    for (const folder of Object.keys(folders)) {
      cpSync(join(repo, '.git/objects'), join(repo, folder, 'objects'), { recursive: true })
      write(repo, { [`${folder}/refs/heads/main`]: git(repo, 'rev-parse', 'HEAD') })
    }
    const { stderr } = await runCli([...offline, '--name', 'x'], { cwd: join(repo, cwd), exitCode: 2 }).catch(
      (error: Error) => ({ stderr: error.message }),
    )
    expect([existsSync(join(dirname(repo), 'ran')), stderr]).toEqual([
      false,
      expect.stringMatching(/git takes the folder .*\n {2}→ Go to the top of/),
    ])
  })
})

const bases: Refusal[] = [
  {
    name: 'an unknown base',
    args: ['--base', 'nowhere'],
    says: 'The base nowhere is not a commit that this repository knows.',
    next: 'Name a branch, a tag or a commit',
  },
  ...['--foo', '^main', '', 'main..main', 'HEAD:README.md'].map((base) => ({
    name: `the base ${JSON.stringify(base)}`,
    args: [`--base=${base}`],
    says: `The base ${base} is not a commit that this repository knows.`,
    next: 'Name a branch, a tag or a commit',
  })),
]

const branches: Refusal[] = [
  {
    name: 'a branch of that name',
    make: inRepo((repo) => git(repo, 'branch', 'plan/x')),
    says: 'The branch plan/x exists already, and has no worktree.',
    next: 'Choose another --name, or use the branch: --branch plan/x.',
  },
  {
    name: 'a branch that is a folder of the name',
    make: inRepo((repo) => git(repo, 'branch', 'plan')),
    says: 'The branch plan/x cannot be created: it conflicts with the branch plan.',
    next: 'Choose another name: --branch plan-x.',
  },
  {
    name: 'such a branch beside a tag',
    make: inRepo((repo) => {
      git(repo, 'branch', 'plan')
      git(repo, 'tag', 'plan')
    }),
    says: 'it conflicts with the branch plan.',
    next: 'Choose another name: --branch plan-x.',
  },
  {
    name: 'a branch below the name',
    make: inRepo((repo) => git(repo, 'branch', 'plan/x/y')),
    says: 'it conflicts with the branch plan/x/y.',
    next: 'Choose another name: --branch plan-x.',
  },
  {
    name: 'a branch that is checked out here',
    args: ['--branch', 'main'],
    says: 'The branch main is checked out in ',
    next: 'Choose another --name, or work there: plan-gate install.',
  },
  {
    name: 'a branch that is checked out elsewhere',
    make: inRepo((repo) => git(repo, 'worktree', 'add', '--quiet', '-b', 'plan/x', `${repo}-other`)),
    says: 'The branch plan/x is checked out in ',
    next: 'Choose another --name, or work there: plan-gate bootstrap --dir ',
  },
  {
    name: 'a branch of a worktree whose folder was moved',
    make: inRepo((repo) => {
      git(repo, 'worktree', 'add', '--quiet', '-b', 'plan/x', `${repo}-other`)
      renameSync(`${repo}-other`, `${repo}-moved`)
    }),
    says: 'The branch plan/x belongs to the worktree ',
    next: 'Create it again (plan-gate bootstrap --dir ',
  },
  ...['-x', 'a..b', 'a b', '@{-1}', 'x.lock', 'HEAD', ''].map((branch) => ({
    name: `the branch ${JSON.stringify(branch)}`,
    make: inRepo((repo) => {
      git(repo, 'checkout', '--quiet', '-b', 'other')
      git(repo, 'checkout', '--quiet', 'main')
    }),
    args: [`--branch=${branch}`],
    says: `${branch} is not a valid name of a branch.`,
    next: 'Choose another --name or --branch.',
  })),
]

const folders: Refusal[] = [
  {
    name: 'a folder with something in it',
    make: inRepo((repo) => write(`${repo}-x`, { 'precious.txt': '' })),
    says: 'shop-x exists already and is not a worktree of this repository.',
    next: 'Choose another --name or --dir, or move that folder away.',
  },
  {
    name: "another repository's worktree",
    make: inRepo((repo) => {
      git(makeRepo(join(dirname(repo), 'other'), {}), 'worktree', 'add', '--quiet', `${repo}-x`)
    }),
    says: 'shop-x exists already and is not a worktree of this repository.',
    next: 'Choose another --name or --dir, or move that folder away.',
  },
  {
    name: 'a clone where a worktree was',
    make: inRepo((repo) => {
      git(repo, 'worktree', 'add', '--quiet', '-b', 'plan/x', `${repo}-x`)
      renameSync(`${repo}-x`, `${repo}-moved`)
      git(dirname(repo), 'clone', '--quiet', repo, `${repo}-x`)
    }),
    says: 'shop-x exists already and is not a worktree of this repository.',
    next: 'Choose another --name or --dir, or move that folder away.',
  },
  {
    name: 'a file',
    make: inRepo((repo) => write(dirname(repo), { 'shop-x': '' })),
    says: 'shop-x exists already and is not a worktree of this repository.',
    next: 'Choose another --name or --dir, or move that folder away.',
  },
  {
    name: 'a folder below a file',
    args: ['--dir', 'README.md/x'],
    says: 'README.md/x cannot be created (ENOTDIR).',
    next: 'Choose another --name or --dir.',
  },
  {
    name: 'a folder whose name is too long',
    make: () => ({ cwd: temporaryRepo('r'.repeat(200)), args: ['--name', 'x'.repeat(64)] }),
    says: 'cannot be created (ENAMETOOLONG).',
    next: 'Choose another --name or --dir.',
  },
  {
    name: 'the main checkout',
    args: ['--dir', '.'],
    says: 'is the main checkout, which bootstrap does not change.',
    next: 'Choose another --dir; or put the gate into the main checkout: plan-gate install.',
  },
  {
    name: 'the bare repository itself',
    make: () => {
      const repo = temporaryRepo()
      git(dirname(repo), 'clone', '--quiet', '--bare', repo, 'bare.git')
      return { cwd: join(dirname(repo), 'bare.git'), args: ['--dir', '.'] }
    },
    says: 'bare.git is the repository itself.',
    next: 'Choose another --dir.',
  },
  {
    name: 'a worktree that another git is creating',
    make: inRepo((repo) => {
      git(repo, 'worktree', 'add', '--quiet', '-b', 'plan/x', `${repo}-x`)
      write(repo, { '.git/worktrees/shop-x/locked': 'initializing' })
    }),
    says: 'git has not finished creating the worktree ',
    next: 'If no git is running there any more: git worktree remove --force --force ',
  },
  {
    name: 'a locked worktree whose folder is not there',
    make: inRepo((repo) => {
      git(repo, 'worktree', 'add', '--quiet', '-b', 'plan/x', `${repo}-x`)
      git(repo, 'worktree', 'lock', '--reason', 'on a stick', `${repo}-x`)
      rmSync(`${repo}-x`, { recursive: true })
    }),
    says: 'is locked (on a stick), and its folder is not there.',
    next: 'Restore the folder, or unlock it: git worktree unlock ',
  },
  {
    name: 'a worktree that was on no branch when its folder was deleted',
    make: inRepo((repo) => {
      git(repo, 'worktree', 'add', '--quiet', '--detach', `${repo}-x`)
      rmSync(`${repo}-x`, { recursive: true })
    }),
    says: 'was on no branch, but at the commit ',
    next: 'Keep that commit if you need it (git branch <name> ',
  },
]

const documents: Refusal[] = [
  {
    name: 'a missing strategy',
    args: ['docs/strategy.md'],
    says: 'docs/strategy.md does not exist.',
    next: 'Check the path, or leave it out',
  },
  {
    name: 'a folder as strategy',
    make: inRepo((repo) => mkdirSync(join(repo, 'docs'))),
    args: ['docs'],
    says: 'docs is not a file.',
    next: 'Name the document itself.',
  },
  {
    name: 'a strategy of 5 MB',
    make: inRepo((repo) => write(repo, { 'huge.md': 'x'.repeat(5 * 1024 * 1024) })),
    args: ['huge.md'],
    says: 'huge.md is larger than 4 MB.',
    next: 'Name a shorter document',
  },
  {
    name: 'an invalid plan-gate.yaml, with the line',
    make: inRepo((repo) => write(repo, { 'plan-gate.yaml': 'plan:\n  max_revisions: many\n' })),
    says: 'plan-gate.yaml:2',
    next: 'Fix these lines',
  },
  {
    name: 'an invalid plan-gate.yaml of the base, with the line',
    make: inRepo((repo) => {
      commit(repo, { 'plan-gate.yaml': 'plan:\n  max_revisions: many\n' })
      write(repo, { 'plan-gate.yaml': '' })
    }),
    says: 'plan-gate.yaml:2',
    next: 'Fix these lines',
  },
  {
    name: 'settings files that are both committed',
    make: inRepo((repo) => commit(repo, { '.claude/settings.json': '{}', '.claude/settings.local.json': '{}' })),
    says: 'are both committed, so no settings file may be changed.',
    next: 'Remove .claude/settings.local.json from the repository',
  },
]

const names: Refusal[] = [
  '../x',
  'a/b',
  'a\\b',
  '',
  '-x',
  '.x',
  'x.',
  'x.lock',
  'a..b',
  'a b',
  'a~b',
  'x'.repeat(100),
  'a\u0007b',
  'a\nb',
  'a\u202eb',
].map((name) => ({
  name: `the name ${JSON.stringify(name).slice(0, 20)}`,
  args: [`--name=${name}`],
  says: `${JSON.stringify(name).replace('\u202e', '\\u{202e}')} is not a valid name: it becomes part of a folder and of a branch.`,
  next: 'Use letters, digits, dots, dashes and underscores, at most 64.',
}))

describe('refuses, and creates nothing:', () => {
  it.each([...places, ...bases, ...branches, ...folders, ...documents, ...names])('$name', async (refusal) => {
    const { cwd, args = [], env = {} } = refusal.make?.() ?? { cwd: temporaryRepo() }
    await expectRefusal([...offline, '--name', 'x', ...args, ...(refusal.args ?? [])], { cwd, env }, refusal)
  })
})

const codexHelp = ['--json', '--sandbox <MODE>', '--cd <DIR>', '--skip-git-repo-check', '--output-last-message <FILE>']
  .concat(['--output-schema <FILE>', '--ephemeral', '--model <MODEL>'])
  .map((flag) => `      ${flag}`)
  .join('\n')

const codex = (help: string, loginStatus: number): string => `case "$*" in
  --version) echo 'codex-cli 0.169.0' ;;
  *--help) echo '${help}' ;;
  'login status') exit ${loginStatus} ;;
esac`

const claude = (version: string): string => `echo '${version} (Claude Code)'`

const withoutReviewer = ['bootstrap', '--no-launch', '--name', 'x']
const withCodex = [...withoutReviewer, '--reviewer', 'codex']

const tools: (Omit<Refusal, 'make'> & { args: string[]; programs?: { [name: string]: string } })[] = [
  {
    name: 'no codex with --reviewer codex',
    args: withCodex,
    says: 'reviewer: Codex CLI: `codex` is not on PATH.',
    next: 'Install it: `npm i -g @openai/codex`; or use --reviewer curl (OPENAI_API_KEY) or --reviewer checklist',
  },
  {
    name: 'no codex by default',
    args: withoutReviewer,
    says: 'reviewer: Codex CLI: `codex` is not on PATH.',
    next: 'Install it: `npm i -g @openai/codex`; or use --reviewer curl (OPENAI_API_KEY) or --reviewer checklist',
  },
  {
    name: 'codex without credentials',
    args: withCodex,
    programs: { codex: codex(codexHelp, 1) },
    says: 'reviewer: Codex CLI 0.169.0 has no credentials.',
    next: 'Run `codex login`, or set OPENAI_API_KEY; or use --reviewer',
  },
  {
    name: 'an old codex',
    args: withCodex,
    programs: { codex: codex('      --json', 0) },
    says: 'reviewer: Codex CLI 0.169.0 lacks exec --sandbox, ',
    next: 'Update it: `npm i -g @openai/codex@latest`; or use --reviewer',
  },
  {
    name: 'a codex that does not run',
    args: withCodex,
    programs: { codex: 'exit 1' },
    says: 'codex does not run.',
    next: 'Try `codex --version` and `codex exec --help` yourself',
  },
  {
    name: 'curl without a key',
    args: [...withoutReviewer, '--reviewer', 'curl'],
    says: 'reviewer: curl: OPENAI_API_KEY is not set.',
    next: 'Set OPENAI_API_KEY, or use --reviewer checklist',
  },
  {
    name: 'no model-invoke',
    args: [...withoutReviewer, '--reviewer', 'hounfour'],
    says: 'reviewer: hounfour: ',
    next: 'Set hounfour.model_invoke in plan-gate.yaml, or use --reviewer checklist',
  },
  {
    name: 'an old Claude Code',
    args: [...offline, '--name', 'x'],
    programs: { claude: claude('2.1.294') },
    says: 'Claude Code: 2.1.294 is older than 2.1.295: a hook that times out or cannot be started lets the call through',
    next: 'Update it: `claude update`; `bootstrap --allow-old-client` goes on without.',
  },
  {
    name: 'an old Claude Code that is to be launched',
    args: ['bootstrap', '--reviewer', 'checklist', '--name', 'x'],
    programs: { claude: claude('2.1.294') },
    says: 'Claude Code: 2.1.294 is older than 2.1.295: a hook that times out or cannot be started lets the call through',
    next: 'Update it: `claude update`; `bootstrap --allow-old-client` goes on without.',
  },
  {
    name: 'no Claude Code to launch',
    args: ['bootstrap', '--reviewer', 'checklist', '--name', 'x'],
    says: 'Claude Code: `claude` is not on PATH.',
    next: 'Install it: `npm i -g @anthropic-ai/claude-code`; or use --no-launch.',
  },
]

describe('stops before anything is created without', () => {
  it.each(tools)('$name', async ({ args, programs, ...refusal }) => {
    const repo = temporaryRepo()
    const folder = programs === undefined ? {} : { programs: fakePrograms(dirname(repo), programs) }
    await expectRefusal(args, { cwd: repo, ...folder }, refusal)
  })
})

it.each([
  { name: 'that is logged in', loginStatus: 0, env: {} },
  { name: 'with a key', loginStatus: 1, env: { OPENAI_API_KEY: 'sk-test' } },
])('goes on with a codex $name', async ({ loginStatus, env }) => {
  const repo = temporaryRepo()
  const programs = fakePrograms(dirname(repo), { codex: codex(codexHelp, loginStatus) })
  const { stderr } = await runCli(withoutReviewer, { cwd: repo, programs, env })
  expect(stderr).toContain('✓ reviewer  Codex CLI 0.169.0, ')
  expect(stderr).toContain(`\nReady: ${repo}-x\n`)
})

it.each([
  { args: ['--frobnicate'], says: "unknown option '--frobnicate'" },
  { args: ['--reviewer', 'grandma'], says: "'grandma' is invalid" },
  { args: ['--name'], says: "option '--name <name>' argument missing" },
])('refuses the arguments $args', async ({ args, says }) => {
  await expectRefusal(
    [...offline, ...args],
    { cwd: temporaryRepo() },
    { says, next: 'See `plan-gate bootstrap --help`' },
  )
})

// Root may write everywhere.
it.skipIf(process.getuid?.() === 0)('refuses a place that may not be written to', async () => {
  const repo = temporaryRepo()
  chmodSync(dirname(repo), 0o555)
  try {
    const { stderr } = await runCli([...offline, '--name', 'x'], { cwd: repo, exitCode: 2 })
    expect(stderr).toContain('shop-x cannot be created (EACCES).\n  → Choose another --name or --dir.')
  } finally {
    chmodSync(dirname(repo), 0o755)
  }
})

/** A message on stderr and the next step; every file is unchanged, the git directory included. */
async function expectRefusal(
  args: string[],
  run: { cwd: string; env?: { [name: string]: string }; programs?: string },
  { says, next }: Pick<Refusal, 'says' | 'next'>,
): Promise<void> {
  const around = temporaryFolderOf(run.cwd)
  const before = snapshot(around)
  const { stdout, stderr } = await runCli(args, { ...run, exitCode: 2 })
  expect(stdout).toBe('')
  const [, message = '', step] = /^plan-gate: (.*?)\n {2}→ (.*)\n$/ms.exec(stderr) ?? []
  expect({ message, step }).toEqual({ message: expect.stringContaining(says), step: expect.stringContaining(next) })
  expect(snapshot(around)).toEqual(before)
}
