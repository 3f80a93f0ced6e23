import { execFileSync } from 'node:child_process'
import {
  accessSync,
  constants,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'

/** A folder of the test's own, gone after it. */
export function temporaryFolder(): string {
  const folder = newFolder()
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

const newFolder = (): string => realpathSync(mkdtempSync(join(tmpdir(), 'plan-gate-repo-')))

/** The temporary folder that a path is in. */
export const temporaryFolderOf = (path: string): string => path.replace(/(\/plan-gate-repo-[^/]+).*/s, '$1')

/** A repository with one commit of these files, alone in a temporary folder. */
export const temporaryRepo = (name = 'shop', files: Files = { 'README.md': '# Shop\n' }): string =>
  makeRepo(join(temporaryFolder(), name), files)

export function makeRepo(path: string, files: Files): string {
  mkdirSync(path, { recursive: true })
  git(path, 'init', '--quiet')
  commit(path, files)
  return path
}

export type Files = { readonly [path: string]: string }

export function commit(repo: string, files: Files, message = 'Work'): void {
  write(repo, files)
  git(repo, 'add', '--all')
  git(repo, 'commit', '--quiet', '--allow-empty', '--message', message)
}

export function write(root: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}

/** What git prints, without the last line end; throws when git fails. */
export const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', args, {
    cwd,
    env: cleanEnvironment(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
  }).replace(/\n$/, '')

export const statusOf = (checkout: string): string => git(checkout, 'status', '--porcelain', '--untracked-files=all')

export const branchesOf = (repo: string): string[] =>
  git(repo, 'for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads').split('\n')

/** Every path below a folder with what stands there: two equal snapshots mean that nothing was made, changed or lost. */
export function snapshot(folder: string, leaveOut: readonly string[] = []): Files {
  const entries = readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !leaveOut.includes(name))
    .map(({ name }) => ({ name, path: join(folder, name), stat: lstatSync(join(folder, name)) }))
  return Object.fromEntries(
    entries.flatMap(({ name, path, stat }): [string, string][] => {
      const mode = (stat.mode & 0o7777).toString(8)
      if (stat.isSymbolicLink()) return [[name, `link to ${readlinkSync(path)}`]]
      if (stat.isFile()) return [[name, `${mode} ${readFileSync(path, 'latin1')}`]]
      const below = Object.entries(stat.isDirectory() ? snapshot(path, leaveOut) : {})
      return [[`${name}/`, mode], ...below.map(([inner, text]): [string, string] => [`${name}/${inner}`, text])]
    }),
  )
}

/**
 * Nothing of the person who runs the tests: a home and a git configuration of their own, and no Claude Code, no Codex
 * and no bubblewrap on PATH, wherever they may be installed.
 */
export const cleanEnvironment = (): { [name: string]: string } => ({
  PATH: path(),
  HOME: home(),
  TMPDIR: tmpdir(),
  GIT_CONFIG_GLOBAL: join(home(), '.gitconfig'),
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_DATE: '2026-01-02T03:04:05Z',
  GIT_COMMITTER_DATE: '2026-01-02T03:04:05Z',
  LANG: 'C.UTF-8',
  NO_COLOR: '1',
})

const gitConfig = `[user]
  name = Ada
  email = ada@example.com
[init]
  defaultBranch = main
[protocol "file"]
  allow = always
[gc]
  auto = 0
`

let madeHome: string | undefined

function home(): string {
  if (madeHome !== undefined) return madeHome
  madeHome = newFolder()
  writeFileSync(join(madeHome, '.gitconfig'), gitConfig)
  mkdirSync(join(madeHome, 'bin'))
  symlinkSync(process.execPath, join(madeHome, 'bin', 'node'))
  // Hides the one of the system, which would be the sandbox on some machines and not on others.
  writeFileSync(join(madeHome, 'bin', 'bwrap'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  return madeHome
}

afterAll(() => {
  if (madeHome !== undefined) rmSync(madeHome, { recursive: true, force: true })
  madeHome = undefined
})

let foundPath: string | undefined

function path(): string {
  const others = (process.env.PATH ?? '').split(delimiter).filter((dir) => !['claude', 'codex'].some(isIn(dir)))
  foundPath ??= [join(home(), 'bin'), ...others].join(delimiter)
  return foundPath
}

const isIn =
  (dir: string) =>
  (name: string): boolean => {
    try {
      accessSync(join(dir, name), constants.X_OK)
      return true
    } catch {
      return false
    }
  }
