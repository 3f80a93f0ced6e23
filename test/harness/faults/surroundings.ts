import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemErrorCode } from '../../../src/system/errors.ts'
import type { Started } from './run-order.ts'
import type { World } from './worlds.ts'

/** The system that a program finds itself on, instead of one operation that fails. */
export type Surrounding = {
  readonly name: string
  /** null: it means nothing to such a program. */
  readonly alter?: (started: Started, world: World) => Started | null
  /** Brings it about around the program, and says how it is taken back; null: there is no such place in this world. */
  readonly bring?: (world: World) => (() => void) | null
  /** What names the cause, where the outcome is another one; null: it cannot be told there. */
  readonly cause: RegExp | null
  /** Node itself has the word, in its own way. */
  readonly isNodesOwn?: true
}

const inShell =
  (script: string) =>
  (started: Started): Started => ({
    ...started,
    file: '/bin/sh',
    args: ['-c', script, 'sh', started.file, ...started.args],
  })

const isHook = ({ env }: Started): boolean => 'CLAUDE_PROJECT_DIR' in env

const withoutVariable =
  (name: string) =>
  (started: Started): Started => {
    const { [name]: _, ...env } = started.env
    return { ...started, env }
  }

/** In a hook's entry it is a word of a shell command, in a command it is the program. */
function withNode(started: Started, node: string): Started {
  const [file = '', ...args] = [started.file, ...started.args].map((word) => word.replace(process.execPath, node))
  return { ...started, file, args }
}

/** A node that says it is an older one, and lacks what that one lacked. */
function olderNode({ home }: World): string {
  const shim = join(home, 'older-node.cjs')
  writeFileSync(
    shim,
    `delete process.getBuiltinModule
Object.defineProperty(process, 'version', { value: 'v18.20.4' })
`,
  )
  const program = join(home, 'older-node')
  writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} --require ${shim} "$@"\n`, { mode: 0o755 })
  return program
}

export const surroundings: readonly Surrounding[] = [
  { name: 'closed stdout', alter: inShell('exec "$@" >&-'), cause: null },
  {
    name: 'unread stdout',
    alter: (started, { home }) =>
      inShell('{ "$@"; echo $? > "$CODE"; } | true; exit "$(cat "$CODE")"')({
        ...started,
        env: { ...started.env, CODE: join(home, 'code') },
      }),
    cause: null,
  },
  { name: 'closed stderr', alter: inShell('exec "$@" 2>&-'), cause: null },
  {
    name: 'no HOME',
    // What belongs to whoever runs the tests stays out of it.
    alter: (started, { home }) => {
      const without = withoutVariable('HOME')(started)
      return { ...without, env: { ...without.env, CLAUDE_CONFIG_DIR: join(home, '.claude') } }
    },
    cause: null,
  },
  {
    name: 'no git',
    alter: (started, { home }) => {
      const bin = join(home, 'bin-without-git')
      cpSync(join(home, 'bin'), bin, { recursive: true, verbatimSymlinks: true })
      rmSync(join(bin, 'git'))
      return { ...started, env: { ...started.env, PATH: bin } }
    },
    cause: /git`? is not on PATH/,
  },
  {
    name: 'an older node',
    alter: (started, world) => withNode(started, olderNode(world)),
    cause: /Node 20\.19|v18\.20\.4/,
  },
  {
    name: 'no node',
    alter: (started) => (isHook(started) ? withNode(started, '/nowhere/node') : null),
    cause: /\/nowhere\/node['’]?: (?:not found|No such file)/,
  },
  {
    name: 'no project folder',
    alter: (started) => (isHook(started) ? withoutVariable('CLAUDE_PROJECT_DIR')(started) : null),
    cause: /CLAUDE_PROJECT_DIR is not set|Cannot find module/,
    isNodesOwn: true,
  },
  {
    name: '19 descriptors',
    alter: inShell('ulimit -n 19; exec "$@"'),
    cause: /EMFILE|too many open files/i,
    isNodesOwn: true,
  },
  { name: 'files of 1 kB', alter: inShell('ulimit -f 2; exec "$@"'), cause: /EFBIG|SIGXFSZ|File size limit/ },
  { name: 'little memory', alter: inShell('ulimit -v 400000; exec "$@"'), cause: null, isNodesOwn: true },
]

/** Those for which a file system is mounted. */
export const mounts: readonly Surrounding[] = [
  {
    name: 'a full disk under the record',
    bring: (world) => fullDisk(join(world.work, '.claude/review')),
    cause: /ENOSPC|EBUSY/,
  },
  {
    name: 'a full disk under the git directory',
    bring: (world) => fullDisk(join(world.repo, '.git')),
    cause: /ENOSPC|No space left on device|EBUSY/,
  },
  { name: 'a read-only worktree', bring: (world) => readOnly(world.work), cause: readOnlyWords() },
  { name: 'a read-only repository', bring: (world) => readOnly(world.repo), cause: readOnlyWords() },
]

function readOnlyWords(): RegExp {
  return /EROFS|read-only file system|EBUSY/i
}

/** Why nothing can be mounted here; null: it can. */
export const whyNoMounts: string | null = findWhyNoMounts()

function findWhyNoMounts(): string | null {
  if (process.platform !== 'linux') return 'only Linux mounts this way'
  const folder = mkdtempSync(join(tmpdir(), 'faults-mount-'))
  try {
    const { status, stderr, error } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', folder])
    if (status !== 0) return String(error?.message ?? stderr).trim()
    run('umount', folder)
    return null
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Nothing is lost by the change of the disk: what was there is on the small one, and what is there then comes back. */
function fullDisk(folder: string): (() => void) | null {
  if (!existsSync(folder)) return null
  const aside = mkdtempSync(join(tmpdir(), 'faults-aside-'))
  run('cp', '-a', `${folder}/.`, aside)
  const unmount = mounted(() => run('mount', '-t', 'tmpfs', '-o', 'size=4m,mode=700', 'none', folder))
  run('cp', '-a', `${aside}/.`, folder)
  fill(join(folder, ballast))
  return () => {
    rmSync(aside, { recursive: true, force: true })
    unmount((now) => {
      rmSync(join(now, ballast), { force: true })
      run('cp', '-a', now, aside)
      return () => {
        rmSync(now, { recursive: true, force: true })
        run('mv', aside, now)
      }
    })
  }
}

const ballast = '.ballast'

function fill(file: string): void {
  try {
    for (;;) appendFileSync(file, Buffer.alloc(4096))
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOSPC') throw error
  }
}

function readOnly(folder: string): (() => void) | null {
  if (!existsSync(folder)) return null
  const unmount = mounted(() => {
    run('mount', '--bind', folder, folder)
    run('mount', '-o', 'remount,ro,bind', folder)
  })
  return () => unmount(() => () => {})
}

type Around = (now: string) => () => void

/** It is looked up where the mount is by then, since a folder above it may have been given another name. */
function mounted(mount: () => void): (around: Around) => void {
  const before = mountPoints()
  mount()
  const own = [...mountPoints()].find(([id]) => !before.has(id))?.[0] ?? ''
  return (around) => {
    const now = mountPoints().get(own)
    if (now === undefined) return
    const after = around(now)
    run('umount', now)
    after()
  }
}

const mountPoints = (): ReadonlyMap<string, string> =>
  new Map(
    readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .map(([id = '', , , , path = '']) => [id, path]),
  )

function run(file: string, ...args: readonly string[]): void {
  execFileSync(file, args, { stdio: 'pipe' })
}
