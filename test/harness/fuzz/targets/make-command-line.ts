import { dangerous, known, names, operands } from '../../../support/gate/bash/command-words.ts'
import type { Random } from '../random.ts'
import { makeArgument } from './make-arguments.ts'

/** A command line of what the gate's commands know and of what they must not be given, put together at random. */
export function makeCommandLine(random: Random): string {
  const count = random.oneIn(3) ? 1 + random.below(4) : 1
  let line = random.oneIn(30) ? random.pick(odd) : ''
  for (let part = 0; part < count; part += 1) {
    if (part > 0) line += random.oneIn(15) ? random.pick(odd) : random.pick(joints)
    line += makeCommand(random)
  }
  return random.oneIn(20) ? line + random.pick(odd) : line
}

const joints = [' | ', ' | ', ' && ', ' ; ', '; ', ' || ', '|', '&&', ';']
const odd = [
  '\n',
  ' & ',
  ' |& ',
  ' #',
  ' \\\n',
  ';;',
  ' (',
  ') ',
  '{ ',
  ' }',
  '! ',
  '\t',
  ' ',
  '  ',
  'X=1 ',
  'time ',
  '\r',
]
const redirections = [
  '2>/dev/null',
  '>/dev/null',
  '2>&1',
  '> /dev/null',
  '>x',
  '<x',
  '>>/dev/null',
  '&>x',
  '2>&1-',
  '1>&2',
]

function makeCommand(random: Random): string {
  if (random.oneIn(12)) return random.pick(frames)(makeSimple(random), random)
  return makeSimple(random)
}

/** What stands around a command, or before it. */
const frames: readonly ((command: string, random: Random) => string)[] = [
  (command, random) => `cd ${random.pick(folders)} && ${command}`,
  (command, random) => `for f in ${random.pick(values)} ${random.pick(values)}; do ${command} "$f"; done`,
  (command, random) => `for f in ${random.pick(values)}; do ${command} $f\ndone`,
  (command, random) => `f=${random.pick(values)}; ${command} $f`,
  (command, random) => `f=${random.pick(values)}\n${command} "\${f}"`,
  (command, random) => `${command} # ${random.pick(['note', '--list', 'a, b', '$(id)', "it's"])}`,
  (command) => `${command} || true`,
  (command, random) => `git -C ${random.pick(folders)} ${command.replace(/^git /, '')}`,
  (command, random) => `ls src | xargs ${random.pick(['', '-n 1', '-I{}', '-0', '-I%'])} ${command}`,
  (command, random) =>
    `${command} ${random.pick(['src/*', './*', 'src/[ab].ts', 'li?t.txt', '~/x', '"$HOME/x"', '$?'])}`,
]
const folders = ['src', '..', '.', '~', '/dev', '-', 'nowhere', '"odd name.txt"', '/', 'src/..']
const values = ['src/a.ts', 'list.txt', '-o', '--output=zz', "'a b'", 'src/*.ts', '1', 'HEAD', '~/x', "'-i'", '$f']

function makeSimple(random: Random): string {
  const name = random.oneIn(40) ? random.pick(strangers) : random.pick(names)
  const words = Array.from({ length: random.below(random.oneIn(10) ? 12 : 5) }, () => makeWord(name, random))
  if (random.oneIn(12)) words.push(random.pick(redirections))
  return [name, ...words].join(random.oneIn(40) ? random.pick(['  ', '\t', '\n']) : ' ')
}

const strangers = [
  'rm',
  'sh',
  'xargs',
  'env',
  'tee',
  'awk',
  'cd',
  'eval',
  '.',
  './x',
  '/bin/ls',
  'LS',
  'if',
  "'ls'",
  'l\\s',
]

function makeWord(name: string, random: Random): string {
  const argument = random.oneIn(3) ? makeArgument(name, random) : null
  if (argument !== null) return argument
  const flags = known[name] ?? []
  const flag = flags.length === 0 || random.oneIn(12) ? random.pick(dangerous) : random.pick(flags)
  const value = random.oneIn(3) ? String(random.below(12)) : random.pick(operands)
  switch (random.below(9)) {
    case 0:
    case 1:
      return flag
    case 2:
      return `${flag} ${value}`
    case 3:
      return `${flag}=${value}`
    case 4:
      return `${flag}${value}`
    case 5:
      return cluster(flags, random)
    case 6:
      return random.oneIn(6) ? random.pick(dangerous) : disguised(value, random)
    default:
      return disguised(value, random)
  }
}

/** `-la`: short flags in one word, which the row may know or not. */
function cluster(flags: readonly string[], random: Random): string {
  const short = flags.filter((flag) => /^-\w$/.test(flag)).map((flag) => flag[1] ?? '')
  const letter = () => (short.length === 0 || random.oneIn(4) ? random.pick([...letters]) : random.pick(short))
  return `-${Array.from({ length: 1 + random.below(4) }, letter).join('')}`
}

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

/** The same word for a shell, or nearly. */
function disguised(word: string, random: Random): string {
  if (!random.oneIn(6) || /['"]/.test(word)) return word
  const at = random.below(word.length + 1)
  const [before, after] = [word.slice(0, at), word.slice(at)]
  return random.pick([
    `'${word}'`,
    `"${word}"`,
    `${before}''${after}`,
    `${before}"${after}"`,
    `${before}'${after}'`,
    `${before}\\${after}`,
    `$'${word}'`,
    `{${before},${after}}`,
    `${before}*${after}`,
    `${before}^${after}`,
    `${before}@{${after}}`,
  ])
}
