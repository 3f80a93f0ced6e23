import { readFileSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { locateProgram } from '../system/environment.ts'
import { orElse } from '../system/errors.ts'
import { shellWord } from '../text/own-commands.ts'
import { putFile, readRegular } from './files.ts'
import { gitDirFolder } from './own-paths.ts'

const name = 'plan-gate'
const recordPath = `${gitDirFolder}/start-command`

export type StartCommand = { command: string; packageRoot: string }

/** What starts plan-gate in this worktree, for the messages of its hooks; the user types it, or Claude. */
export function readStartCommand(gitDir: string): StartCommand | null {
  const read = readRegular(gitDir, recordPath)
  const [command = '', packageRoot = ''] = read.kind === 'read' ? read.bytes.toString('utf8').split('\n') : []
  return command === '' ? null : { command, packageRoot }
}

/** Null: the package is not there any more, and PATH has no other; what was known stays. */
export function recordStartCommand(root: string, gitDir: string, packageRoot: string): string | null {
  const command = ownCommand(root, packageRoot)
  const before = readStartCommand(gitDir)
  if (command !== null && (before?.command !== command || before.packageRoot !== packageRoot))
    putFile(gitDir, recordPath, `${command}\n${packageRoot}\n`, 0o600)
  return command
}

/**
 * What starts this very package when it is typed in `folder`; null where the package is not there any more and PATH has no
 * other. `npx plan-gate` alone would ask the registry wherever it does not find us.
 */
export function ownCommand(folder: string, root: string, env = process.env): string | null {
  if (process.platform === 'win32') return name
  const onPath = locateProgram(name, withoutNpm(env)).path
  const cli = realPath(join(root, 'dist/cli.mjs'))
  if (cli === null) return onPath === null ? null : name
  if (onPath !== null && startsCli(onPath, cli)) return name
  const local = localPackage(folder)
  if (local !== null && local === realPath(root)) return `npx ${name}`
  const cached = local === null && onPath === null ? npxSpec(root) : null
  if (cached !== null) return `npx ${shellWord(cached)}`
  const node =
    realPath(locateProgram('node', env).path ?? '') === realPath(process.execPath) ? 'node' : process.execPath
  return `${shellWord(node)} ${shellWord(cli)}`
}

/** npm and npx put folders on PATH for what they start; the user's shell does not have them. */
const withoutNpm = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...env,
  PATH: (env.PATH ?? '')
    .split(delimiter)
    .filter((entry) => !/\/node_modules\/\.bin\/?$/.test(entry))
    .join(delimiter),
})

/** A link to our program, or the shell script that pnpm puts in the place of one. */
function startsCli(path: string, cli: string): boolean {
  if (realPath(path) === cli) return true
  const script = readText(path)
  if (!script.startsWith('#!/bin/sh')) return false
  const started = [...script.matchAll(/"\$basedir\/([^"$]+)"/g)].map(([, inside = '']) => join(dirname(path), inside))
  return started.some((file) => realPath(file) === cli)
}

/** What `npx plan-gate` starts without asking the registry: the nearest one in the folders above. */
function localPackage(folder: string): string | null {
  for (let dir = folder; ; dir = dirname(dir)) {
    if (realPath(join(dir, 'node_modules/.bin', name)) !== null) return realPath(join(dir, 'node_modules', name))
    if (dir === dirname(dir)) return null
  }
}

/** As it was given to npx, where that was a name of the registry: the same words find the same cache again. */
function npxSpec(root: string): string | null {
  const cache = dirname(dirname(root))
  if (!/\/_npx\/\w+$/.test(cache)) return null
  try {
    const { _npx } = JSON.parse(readText(join(cache, 'package.json'))) as { _npx?: { packages?: unknown[] } }
    const spec = String(_npx?.packages?.[0])
    return /^plan-gate(?:@[\w.^~-]+)?$/.test(spec) ? spec : null
  } catch {
    return null
  }
}

const realPath = (path: string): string | null => orElse(() => realpathSync(path), null)

const readText = (path: string): string => orElse(() => readFileSync(path, 'utf8').slice(0, 16_384), '')
