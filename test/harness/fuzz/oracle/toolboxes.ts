import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findProgram } from '../../../../src/system/environment.ts'

/** Programs of the same names by other authors, in a folder that comes first in PATH, or the same ones in another mood. */
export type Toolbox = {
  readonly name: string
  readonly folder: string
  readonly env: { readonly [name: string]: string }
  readonly shell: readonly string[]
  /** Whether it makes a difference to a line. */
  readonly concerns: (line: string) => boolean
  /** Programs that stand for others. */
  readonly programs: readonly string[]
}

/**
 * The system's own, and the same with options that end at the first operand, as on macOS; those of busybox; ugrep and
 * bfs, both as Claude Code brings them along and as they are packaged; three more awks; two more shells.
 */
export function makeToolboxes(base: string): {
  readonly boxes: readonly Toolbox[]
  readonly missing: readonly string[]
} {
  const others = alternatives.map(({ name, programs }) => ({ name, box: linked(join(base, name), name, programs()) }))
  return {
    boxes: [
      { ...system, name: 'the system', concerns: () => true },
      { ...system, name: 'POSIXLY_CORRECT', env: { POSIXLY_CORRECT: '1' }, concerns: (line) => lateOption.test(line) },
      ...others.flatMap(({ box }) => (box === null ? [] : [box])),
      ...otherShells
        .filter(([program = '']) => isHere(program))
        .map((shell) => ({
          ...system,
          name: shell.join(' '),
          shell,
          programs: shell,
          concerns: forShell.test.bind(forShell),
        })),
    ],
    missing: [
      ...others.filter(({ box }) => box === null).map(({ name }) => name),
      ...otherShells.filter(([program = '']) => !isHere(program)).map((shell) => shell.join(' ')),
    ],
  }
}

const system = { folder: '', env: {}, shell: ['bash', '--norc'], programs: [] }
const lateOption = /\s[^-\s].*\s-/s
/** A line of plain words is the same for each of them. */
const otherShells = ['zsh -f', 'busybox sh'].map((call) => call.split(' '))
const forShell = /[^\w\s./-]/

/** What is called by a name: the file of a program, and a line for a shell to start it. */
type Programs = { readonly [name: string]: string }

const searching = {
  grep: 'ugrep -G --ignore-files --hidden -I --exclude-dir=.git',
  find: 'bfs -regextype findutils-default',
}

const alternatives: readonly { readonly name: string; readonly programs: () => Programs }[] = [
  { name: 'busybox', programs: busybox },
  { name: 'ugrep and bfs of the client', programs: client },
  { name: 'ugrep and bfs', programs: () => (isHere('ugrep') && isHere('bfs') ? searching : {}) },
  ...['gawk', 'mawk', 'original-awk'].map((awk) => ({ name: awk, programs: () => (isHere(awk) ? { awk } : {}) })),
]

const isHere = (program: string): boolean => findProgram(program) !== null

function linked(folder: string, name: string, programs: Programs): Toolbox | null {
  if (Object.keys(programs).length === 0) return null
  mkdirSync(folder)
  for (const [called, call] of Object.entries(programs)) {
    if (call.startsWith('/')) symlinkSync(call, join(folder, called))
    else writeFileSync(join(folder, called), `#!/bin/sh\n${call.startsWith('ARGV0') ? '' : 'exec '}${call} "$@"\n`)
    if (!call.startsWith('/')) chmodSync(join(folder, called), 0o755)
  }
  const names = Object.keys(programs)
  const started = Object.values(programs).flatMap((call) => call.match(/^[\w-]+/) ?? [])
  const concerned = new RegExp(
    `(?:^|[\\s;&|(])(?:${names.map((called) => called.replace(/\W/g, '\\$&')).join('|')})\\s`,
  )
  return { ...system, name, folder, programs: started, concerns: (line) => concerned.test(line) }
}

const shells = ['', 'sh', 'ash', 'bash', 'env', 'busybox']

function busybox(): Programs {
  const program = findProgram('busybox')
  if (program === null) return {}
  const applets = spawnSync(program, ['--list']).stdout.toString().split('\n')
  return Object.fromEntries(applets.filter((name) => !shells.includes(name)).map((name) => [name, program]))
}

function client(): Programs {
  const clients = fileURLToPath(new URL('../../../support/clients/node_modules/', import.meta.url))
  const program = join(clients, '@anthropic-ai', 'claude-code-linux-x64', 'claude')
  if (!existsSync(program)) return {}
  return Object.fromEntries(
    Object.entries(searching).map(([name, call]) => {
      const [argv0, ...args] = call.split(' ')
      return [name, `ARGV0=${argv0} exec '${program}' ${args.join(' ')}`]
    }),
  )
}
