import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { execa } from 'execa'
import { removeSandbox } from '../../src/gate/sandbox/prepare.ts'
import { readGitDirs } from '../../src/system/git-dirs.ts'
import { packageVersion } from '../../src/system/package.ts'
import { claudeBinary, codexBinary } from './claude-clients.ts'
import { untilGone } from './claude-in-terminal.ts'
import { codexConfig } from './codex-config.ts'
import { project } from './project.ts'
import { claudeEnv } from './run-claude.ts'
import { type Script, startMessagesApi } from './servers/messages-api.ts'
import { startResponsesApi, type Turns } from './servers/responses-api.ts'
import { openTmux, type Tmux } from './tmux.ts'

/** A stranger at a terminal: the packed plan-gate, both real clients, and a repository of thirty files. */
export type Journey = {
  terminal: Tmux
  folder: string
  repo: string
  home: string
  /** Types a line at the prompt of the shell, or of Claude Code, that the pattern shows. */
  type: (line: string, prompt?: RegExp) => Promise<void>
  /** Runs a command in the shell and waits for its prompt: what is on the screen then. */
  run: (command: string, ms?: number) => Promise<string>
  end: () => Promise<void>
}

type Setting = {
  claude: Script['turns']
  codex: Turns
  size?: { columns: number; rows: number }
  /** Whether the user has trusted the repository in Claude Code before. */
  trusted?: boolean
  files?: { readonly [path: string]: string }
  lifetimeMs?: number
}

export async function startJourney(setting: Setting): Promise<Journey> {
  const { claude, codex, size = { columns: 110, rows: 34 }, trusted = true, files = {}, lifetimeMs = 240_000 } = setting
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'journey-')))
  const home = join(folder, 'ada')
  const bin = join(folder, 'bin')
  for (const path of [join(home, 'tmp'), join(home, '.codex'), bin]) mkdirSync(path, { recursive: true })
  const repo = join(home, 'shop')
  await commitAll(repo, { ...thirtyFiles(), ...files })
  symlinkSync(await claudeBinary('newest'), join(bin, 'claude'))
  symlinkSync(await codexBinary(), join(bin, 'codex'))
  await installPacked(folder)
  const messages = await startMessagesApi({ turns: claude, lifetimeMs })
  const responses = await startResponsesApi({ turns: codex, lifetimeMs })
  writeFileSync(join(home, '.codex/config.toml'), codexConfig(responses.url))
  const known = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: ['fake'], rejected: [] },
    ...(trusted ? { projects: { [repo]: { hasTrustDialogAccepted: true } } } : {}),
  }
  writeFileSync(join(home, '.claude.json'), JSON.stringify(known))
  writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = Ada\n\temail = ada@localhost\n')
  const env = {
    ...claudeEnv(home, messages.url),
    HOME: home,
    FAKE_KEY: 'none',
    PATH: [join(folder, 'global/bin'), bin, dirname(process.execPath), '/usr/bin:/bin'].join(':'),
    PS1: '$ ',
    SHELL: '/bin/bash',
    TERM: 'screen-256color',
    COLORTERM: 'truecolor',
  }
  const terminal = openTmux()
  const words = Object.entries(env).map(([name, value]) => `${name}='${value}'`)
  terminal.start(`cd '${repo}' && env -i ${words.join(' ')} bash --norc --noprofile`, size)
  const prompt = /(?:^|\n)\$ *\n*$/
  const type: Journey['type'] = async (line, at = prompt) => {
    await terminal.seen(at)
    terminal.tmux('send-keys', '-l', line)
    await terminal.seen(new RegExp(line.slice(0, 30).replace(/[.*+?^${}()|[\]\\]/g, '\\$&')))
    terminal.tmux('send-keys', 'Enter')
  }
  return {
    terminal,
    folder,
    repo,
    home,
    type,
    run: async (command, ms) => {
      await type(`clear; ${command}`)
      // The line that was typed is gone with `clear`.
      await terminal.seen(/^(?!\$ clear)/, 5_000)
      return terminal.seen(prompt, ms)
    },
    end: async () => {
      terminal.end()
      await untilGone(home)
      await Promise.all([messages.close(), responses.close()])
      const listed = await execa('git', ['worktree', 'list', '--porcelain'], { cwd: repo, reject: false })
      for (const [, path = ''] of listed.stdout.matchAll(/^worktree (.+)$/gm)) {
        const gitDirs = readGitDirs(path)
        if (gitDirs !== null) removeSandbox(gitDirs.own)
      }
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

async function commitAll(repo: string, files: { readonly [path: string]: string }): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(repo, path)), { recursive: true })
    writeFileSync(join(repo, path), content)
  }
  await execa('git', ['init', '--quiet', '--initial-branch', 'main'], { cwd: repo })
  await execa('git', ['add', '--all'], { cwd: repo })
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@localhost', '-c', 'commit.gpgSign=false']
  await execa('git', [...author, 'commit', '--quiet', '--message', 'A shop'], { cwd: repo })
}

async function installPacked(folder: string): Promise<void> {
  // What `npm ci` built is there; building it again would take it from under other tests.
  await execa('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: project })
  const prefix = join(folder, 'global')
  const npm = ['install', '--global', '--prefix', prefix, '--no-audit', '--no-fund', '--offline']
  const cache = join(folder, 'npm-cache')
  await execa('npm', [...npm, '--cache', cache, join(folder, `plan-gate-${packageVersion()}.tgz`)], { cwd: folder })
}

function thirtyFiles(): { [path: string]: string } {
  const parts = ['cart', 'catalog', 'checkout', 'login', 'mail', 'orders', 'prices', 'search', 'stock']
  const sources = parts.flatMap((part) => [
    [`src/${part}/index.js`, `export const ${part} = () => []\n`],
    [`src/${part}/${part}.test.js`, `import { ${part} } from './index.js'\n`],
    [`docs/${part}.md`, `# ${part}\n`],
  ])
  return {
    ...Object.fromEntries(sources),
    'README.md': '# A shop\n',
    'package.json': '{ "name": "shop", "type": "module" }\n',
    'docs/strategy.md': '# What is wanted\n\nA greeting on the front page: `greet(name)` returns `Hello, <name>!`.\n',
  }
}
