import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { execa } from 'execa'
import { removeSandbox } from '../../src/gate/sandbox/prepare.ts'
import { readGitDirs } from '../../src/system/git-dirs.ts'
import { type ClaudeClient, claudeBinary } from './claude-clients.ts'
import { cli } from './project.ts'
import { claudeEnv } from './run-claude.ts'
import { type Script, startMessagesApi } from './servers/messages-api.ts'
import type { MessagesRecord, MessagesRequest } from './servers/messages-record.ts'

type Files = { readonly [path: string]: string }

type LaunchedRun = MessagesRecord & {
  exitCode: number | undefined
  stdout: string
  stderr: string
  requests: readonly MessagesRequest[]
  /** Everything that the model was sent. */
  sent: string
}

export type LaunchPlace = {
  folder: string
  repo: string
  /** Where `bootstrap --name work` opens one. */
  worktree: string
  home: string
  /** Runs plan-gate as a person does, with the real Claude Code on PATH and a scripted model. */
  run: (
    args: readonly string[],
    run?: { turns?: Script['turns']; cwd?: string; env?: Files; flags?: readonly string[]; client?: ClaudeClient },
  ) => Promise<LaunchedRun>
  /** Claude Code itself, in print mode, as a person starts it. */
  claude: (
    args: readonly string[],
    run?: { turns?: Script['turns']; cwd?: string; env?: Files; client?: ClaudeClient },
  ) => Promise<LaunchedRun>
  /** Below `folder`: `home/.claude/settings.json`, say. */
  write: (path: string, content: string) => void
  remove: () => void
}

/** A repository with these files committed, and a user who trusts it in Claude Code. */
export function launchPlace(files: Files = {}, links: Files = {}): LaunchPlace {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'launched-')))
  const repo = join(folder, 'shop')
  const write = (path: string, content: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content, { mode: content.startsWith('#!') ? 0o755 : 0o644 })
  }
  for (const [path, content] of Object.entries({ 'README.md': '# A shop\n', ...files })) write(`shop/${path}`, content)
  for (const [path, target] of Object.entries(links)) {
    mkdirSync(dirname(join(repo, path)), { recursive: true })
    symlinkSync(target, join(repo, path))
  }
  for (const words of ['init -q -b main', 'add -f -A', '-c user.name=t -c user.email=t@localhost commit -q -m first']) {
    const git = spawnSync('git', words.split(' '), { cwd: repo, encoding: 'utf8' })
    if (git.status !== 0) throw new Error(`git ${words}: ${git.stderr}`)
  }
  const worktree = join(folder, 'shop-work')
  const home = join(folder, 'home')
  mkdirSync(join(home, 'tmp'), { recursive: true })
  const projects = Object.fromEntries([repo, worktree].map((dir) => [dir, { hasTrustDialogAccepted: true }]))
  const customApiKeyResponses = { approved: ['fake'], rejected: [] }
  const known = { hasCompletedOnboarding: true, theme: 'dark', customApiKeyResponses, projects }
  writeFileSync(join(home, '.claude.json'), JSON.stringify(known))
  const start = async (
    program: 'plan-gate' | 'claude',
    args: readonly string[],
    {
      turns = [{ text: 'ok' }],
      cwd = repo,
      env = {},
      client = 'newest',
    }: { turns?: Script['turns']; cwd?: string; env?: Files; client?: ClaudeClient },
  ): Promise<LaunchedRun> => {
    const binary = await claudeBinary(client)
    const bin = join(folder, `bin-${client}`)
    mkdirSync(bin, { recursive: true })
    rmSync(join(bin, 'claude'), { force: true })
    symlinkSync(binary, join(bin, 'claude'))
    const api = await startMessagesApi({ turns })
    try {
      const [file, words] = program === 'claude' ? [binary, args] : [process.execPath, [cli, ...args]]
      const outcome = await execa(file, words, {
        cwd,
        env: {
          ...claudeEnv(home, api.url),
          PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}`,
          NO_COLOR: '1',
          ...env,
        },
        extendEnv: false,
        reject: false,
        timeout: 60_000,
        stdin: 'ignore',
      })
      const { exitCode, stdout, stderr } = outcome
      return { exitCode, stdout, stderr, requests: api.requests, sent: JSON.stringify(api.requests), ...api.record() }
    } finally {
      await api.close()
    }
  }
  return {
    folder,
    repo,
    worktree,
    home,
    run: (args, { flags = ['-p', '--permission-mode', 'bypassPermissions'], ...run } = {}) =>
      start('plan-gate', args[0] === 'bootstrap' || args[0] === 'open' ? [...args, '--', ...flags] : args, run),
    claude: (args, run = {}) => start('claude', args, run),
    write,
    remove: () => {
      const gitDirs = readGitDirs(worktree)
      if (gitDirs !== null) removeSandbox(gitDirs.own)
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}
