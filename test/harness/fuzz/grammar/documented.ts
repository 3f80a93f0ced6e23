import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { findProgram } from '../../../../src/system/environment.ts'

/** An option as its program's own documents have it: `-o`, `--output`, `-name`. */
export type Option = { readonly name: string; readonly takesValue: boolean }

/**
 * The options of a program, or of a subcommand of git, from `--help`, its manual page and git's own tables: of every
 * program of that name here, so that the sed of busybox and the grep of ugrep count too.
 */
export function documentedOptions(name: string): readonly Option[] {
  const found = known.get(name) ?? optionsIn(documentsOf(name))
  known.set(name, found)
  return found
}
const known = new Map<string, readonly Option[]>()

/** Other programs that may be installed by one of these names, and how they are asked for their options. */
const namesakes: { readonly [name: string]: readonly string[] } = {
  grep: ['ugrep --help', 'ugrep --help more'],
  find: ['bfs -help'],
  awk: ['gawk --help', 'original-awk --help', 'mawk -W usage'],
}

function documentsOf(name: string): string {
  const [program = '', subcommand] = name.split(' ')
  if (program === 'git' && subcommand !== undefined)
    return [
      ask(['git', subcommand, '--git-completion-helper-all']),
      ask(['git', subcommand, '-h']),
      manualOf(`git-${subcommand}`),
      manualOf('git-rev-list'),
    ].join('\n')
  const calls = [`${program} --help`, `busybox ${program} --help`, ...(namesakes[program] ?? [])]
  const asked = [['bash', '-c', `help ${program}`], ...calls.map((call) => call.split(' '))]
  return [...asked.map(ask), manualOf(program)].join('\n')
}

/** Where it cannot do anything but talk. */
function ask([program = '', ...args]: readonly string[]): string {
  if (findProgram(program) === null) return ''
  const { PATH } = process.env
  const { stdout, stderr } = spawnSync(program, args, {
    cwd: tmpdir(),
    env: { PATH, HOME: '/nonexistent', LC_ALL: 'C', MANPAGER: 'cat' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 5_000,
  })
  return `${stdout}\n${stderr}`
}

/** The source of the page, which needs no `man`; empty where there is none. */
function manualOf(name: string): string {
  try {
    const source = gunzipSync(readFileSync(`/usr/share/man/man1/${name}.1.gz`)).toString()
    return source.replaceAll('\\-', '-').replace(/\\f[A-Z]|\\[,/&]/g, '')
  } catch {
    return ''
  }
}

/** Of `--color[=WHEN]` and `-C, --context=NUM` what is an option; a word too many does no harm. */
const option = /(?<![\w-])(--?[A-Za-z0-9@%#.+][\w-]*)(?:\[?=|\[?[ ]?<|\[| [A-Z]+\b| [a-z]+[,)\]])?/g

function optionsIn(text: string): Option[] {
  const options = new Map<string, Option>()
  for (const [whole, name = ''] of text.matchAll(option))
    if (name.length < 40)
      options.set(name, { name, takesValue: whole !== name || options.get(name)?.takesValue === true })
  return [...options.values()]
}

/** `%p`, `%G?`, `%(signature)`: what may stand in a format, by the manual page. */
export const documentedPlaceholders = (page: string): readonly string[] => [
  ...new Set(manualOf(page).match(/%(?:[+-]?[A-Za-z][A-Za-z?]?|\([a-z*][^)\s]{0,30}\))/g)),
]

/** The functions of jq, by jq itself: `input_filename`, `limit(.; .)`. */
export const jqFunctions = (): readonly string[] =>
  ask(['jq', '-n', '-r', 'builtins[]'])
    .split('\n')
    .filter((line) => line.includes('/'))
    .map((line) => {
      const [name = '', arity] = line.split('/')
      return arity === '0' ? name : `${name}(${Array.from({ length: Number(arity) }, () => 'ARG').join('; ')})`
    })

/** git's subcommands, by git itself. */
export const gitSubcommands = (): readonly string[] =>
  ask(['git', '--list-cmds=main,others,nohelpers'])
    .split(/\s+/)
    .filter((name) => /^[a-z]/.test(name))

/** Every program here: what is on no list of the gate must be denied whatever it is called with. */
export const programsHere = (): readonly string[] =>
  [...new Set((process.env.PATH ?? '').split(delimiter).flatMap(namesIn))].filter((name) => /^[\w.+-]+$/.test(name))

function namesIn(folder: string): string[] {
  try {
    return readdirSync(join(folder))
  } catch {
    return []
  }
}

/** What the grammar was made from, for the report: each program with its version, or that it is missing. */
export const sources = (): readonly string[] =>
  versioned.map((line) => {
    const [program = ''] = line.split(' ')
    const [first = ''] = findProgram(program) === null ? [] : ask(line.split(' ')).trim().split('\n')
    return findProgram(program) === null ? `${program} is MISSING` : first.slice(0, 60).trim() || program
  })

const versioned = [
  ...[
    'git --version',
    'bash --version',
    'zsh --version',
    'sed --version',
    'find --version',
    'ls --version',
    'grep --version',
  ],
  ...[
    'jq --version',
    'rg --version',
    'busybox',
    'ugrep --version',
    'bfs --version',
    'gawk --version',
    'mawk -W version',
  ],
  'original-awk --version',
]
