import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { names } from '../../../support/gate/bash/command-words.ts'
import type { Shell } from './shells.ts'

/**
 * What a shell would run for each line, without running it: every command is a function that tells its words. Each
 * line is read twice, once where all commands succeed and once where all fail, so that what stands behind `&&` and `||`
 * is seen. A file that comes into being counts as a command.
 */
export function runsInShell(lines: readonly string[], { program, args }: Shell): readonly (readonly string[])[] {
  const base = mkdtempSync(join(tmpdir(), 'plan-gate-shell-'))
  const [script, folder, turn] = [join(base, 'script'), join(base, 'empty'), join(base, 'turn')]
  mkdirSync(folder)
  spawnSync('mkfifo', [turn])
  writeFileSync(script, scriptFor(lines, turn))
  try {
    const { stdout } = spawnSync(program, [...args, script], {
      cwd: folder,
      env: { PATH: '/nonexistent', HOME: '/home/me', LC_ALL: 'C.UTF-8' },
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 1024 * 1024 * 1024,
      timeout: 120_000,
    })
    const files = readdirSync(folder).map((name) => JSON.stringify(['(a file)', name]))
    const runs = stdout.toString().split(endOfLine).slice(0, -1).map(commandsIn)
    return lines.map((_, index) => [...(runs[index] ?? []), ...files])
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

const [endOfCommand, endOfLine] = ['\u0001\0', '\u0002\0']
/** A shell writes what it has at each line end, and the two halves of a pipe would mix what they tell. */
const lineEnd = '\u0003'

const commandsIn = (text: string): string[] =>
  text
    .split(endOfCommand)
    .slice(0, -1)
    .map((words) => JSON.stringify(words.replaceAll(lineEnd, '\n').split('\0').slice(0, -1)))

/**
 * Nothing can be written, and only the functions can be found. Those of a pipe tell in turns, since a pipe takes only
 * short texts as a whole.
 */
const scriptFor = (lines: readonly string[], turn: string): string =>
  [
    'ulimit -f 0',
    'exec 3>&1 >/dev/null 2>&1',
    `exec 4<>${quoted(turn)}; builtin printf '\\n' >&4`,
    `tell() { builtin read -r _ <&4; builtin printf '%s\\0' "\${@//$pg_newline/$pg_line_end}" "$pg_end" >&3; builtin printf '\\n' >&4; return $pg_status; }`,
    "pg_end=$'\\1' pg_newline=$'\\n' pg_line_end=$'\\3'",
    ...[...new Set(names.map((name) => name.split(' ')[0]))].map((name) => `${name}() { tell ${name} "$@"; }`),
    'command_not_found_handle() { tell "$@"; }',
    'command_not_found_handler() { tell "$@"; }',
    ...lines.flatMap((line) => [
      `pg_status=0; eval ${quoted(line)}`,
      `pg_status=1; eval ${quoted(line)}`,
      "wait; builtin printf '\\2\\0' >&3",
    ]),
    '',
  ].join('\n')

/** Whether the shell takes it for a line at all; what it does not, it does not run either. */
export const isLineIn = ({ program, args }: Shell, line: string): boolean =>
  spawnSync(program, [...args, '-n', '-c', line], { stdio: 'ignore', timeout: 10_000 }).status === 0

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
