import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findProgram } from '../../../../src/system/find-program.ts'

/** Programs of the same names by other authors: a folder that comes first in PATH. */
export type Toolbox = { readonly name: string; readonly folder: string }

/** The system's own, busybox's, and ugrep and bfs, which the Bash tool of Claude Code has for grep and find. */
export function makeToolboxes(base: string): readonly Toolbox[] {
  return [{ name: 'the system', folder: '' }, ...busybox(join(base, 'busybox')), ...client(join(base, 'client'))]
}

function busybox(folder: string): Toolbox[] {
  const program = findProgram('busybox')
  if (program === null) return []
  mkdirSync(folder)
  const applets = spawnSync(program, ['--list']).stdout.toString().split('\n')
  for (const applet of applets.filter((name) => name !== '' && !shells.includes(name)))
    symlinkSync(program, join(folder, applet))
  return [{ name: 'busybox', folder }]
}

const shells = ['sh', 'ash', 'bash', 'env', 'busybox']
const inClient = {
  grep: 'ugrep -G --ignore-files --hidden -I --exclude-dir=.git',
  find: 'bfs -regextype findutils-default',
}

function client(folder: string): Toolbox[] {
  const clients = fileURLToPath(new URL('../../../support/clients/node_modules/', import.meta.url))
  const program = join(clients, '@anthropic-ai', 'claude-code-linux-x64', 'claude')
  if (!existsSync(program)) return []
  mkdirSync(folder)
  for (const [name, call] of Object.entries(inClient)) {
    const [argv0, ...args] = call.split(' ')
    writeFileSync(join(folder, name), `#!/bin/sh\nARGV0=${argv0} exec '${program}' ${args.join(' ')} "$@"\n`)
    chmodSync(join(folder, name), 0o755)
  }
  return [{ name: 'ugrep and bfs', folder }]
}
