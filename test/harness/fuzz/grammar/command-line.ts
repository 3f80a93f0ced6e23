import { dangerous, names, operands } from '../../../support/gate/bash/command-words.ts'
import type { Random } from '../random.ts'
import { documentedOptions, gitSubcommands, programsHere } from './documented.ts'
import { forms, one } from './forms.ts'
import { languages } from './languages.ts'

/** A command line of what the programs' own documents offer, put together at random. */
export function makeCommandLine(random: Random): string {
  const count = random.oneIn(3) ? 1 + random.below(4) : 1
  let line = random.oneIn(30) ? random.pick(odd) : ''
  for (let part = 0; part < count; part += 1) {
    if (part > 0) line += random.oneIn(15) ? random.pick(odd) : random.pick(joints)
    line += makeCommand(random)
  }
  return random.oneIn(20) ? line + random.pick(odd) : line
}

const joints = forms(' |  ¦  |  ¦  &&  ¦  ;  ¦ ;  ¦  ||  ¦ | ¦ && ¦ ;')
const odd = forms('\n ¦  &  ¦  |&  ¦  # ¦  \\\n ¦ ;; ¦  ( ¦ )  ¦ {  ¦  } ¦ !  ¦ \t ¦   ¦    ¦ X=1  ¦ time  ¦ \r')
const redirections = forms('2>/dev/null ¦ >/dev/null ¦ 2>&1 ¦ > /dev/null ¦ >x ¦ <x ¦ >>/dev/null ¦ &>x ¦ 2>&1- ¦ 1>&2')

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
  (command, random) => `${command} # ${one(random, "note ¦ --list ¦ a, b ¦ $(id) ¦ it's")}`,
  (command) => `${command} || true`,
  (command, random) => `git -C ${random.pick(folders)} ${command.replace(/^git /, '')}`,
  (command, random) => `ls src | xargs ${one(random, ' ¦ -n 1 ¦ -I{} ¦ -0 ¦ -I%')} ${command}`,
  (command, random) => `${command} ${one(random, 'src/* ¦ ./* ¦ src/[ab].ts ¦ li?t.txt ¦ ~/x ¦ "$HOME/x" ¦ $?')}`,
]
const folders = forms('src ¦ .. ¦ . ¦ ~ ¦ /dev ¦ - ¦ nowhere ¦ "odd name.txt" ¦ / ¦ src/..')
const values = forms("src/a.ts ¦ list.txt ¦ -o ¦ --output=zz ¦ 'a b' ¦ src/*.ts ¦ 1 ¦ HEAD ¦ ~/x ¦ '-i' ¦ $f")

function makeSimple(random: Random): string {
  const name = random.oneIn(30) ? makeStranger(random) : random.pick(names)
  const language = languages[name]
  if (language !== undefined && name !== 'git' && random.oneIn(2)) return `${name} ${language(random)}`
  const words = Array.from({ length: random.below(random.oneIn(10) ? 12 : 5) }, () => makeWord(name, random))
  if (random.oneIn(12)) words.push(random.pick(redirections))
  return [name, ...words].join(random.oneIn(40) ? random.pick(['  ', '\t', '\n']) : ' ')
}

/** What no list of the gate names: any program here, any subcommand of git, and words that are neither. */
function makeStranger(random: Random): string {
  strangers ??= { programs: programsHere(), subcommands: gitSubcommands() }
  const word = one(random, "eval ¦ . ¦ ./x ¦ /bin/ls ¦ LS ¦ if ¦ 'ls' ¦ l\\s ¦ command ls ¦ sh -c")
  if (random.oneIn(4)) return word
  return random.oneIn(2) ? random.pick(strangers.programs) : `git ${random.pick(strangers.subcommands)}`
}
let strangers: { readonly programs: readonly string[]; readonly subcommands: readonly string[] } | undefined

function makeWord(name: string, random: Random): string {
  if (name.startsWith('git') && random.oneIn(6)) return languages.git?.(random) ?? ''
  // Nothing but what the gate knows, and git, is ever asked for its options: a strange program may do more than talk.
  const options = names.includes(name) || name.startsWith('git ') ? documentedOptions(name) : []
  const { name: flag, takesValue } =
    options.length === 0 || random.oneIn(15)
      ? { name: random.pick(dangerous), takesValue: false }
      : random.pick(options)
  const value = random.oneIn(3) ? String(random.below(12)) : random.pick(operands)
  if (takesValue && random.oneIn(2)) return flag + random.pick([' ', flag.startsWith('--') ? '=' : '']) + value
  switch (random.below(10)) {
    case 0:
    case 1:
    case 2:
      return flag
    case 3:
      return `${flag} ${value}`
    case 4:
      return `${flag}=${value}`
    case 5:
      return flag.startsWith('--') ? abbreviated(flag, value, random) : `${flag}${value}`
    case 6:
      return cluster(
        options.map((option) => option.name),
        random,
      )
    case 7:
      return flag.startsWith('--') ? `--no-${flag.slice(2)}` : disguised(flag, random)
    default:
      return disguised(value, random)
  }
}

/** `--outp=zz`: GNU programs and git take the beginning of an option for it, where no other begins like that. */
function abbreviated(flag: string, value: string, random: Random): string {
  const short = flag.slice(0, 3 + random.below(Math.max(1, flag.length - 3)))
  return random.oneIn(2) ? short : `${short}=${value}`
}

/** `-la`: short options in one word. */
function cluster(options: readonly string[], random: Random): string {
  const short = options.filter((option) => /^-\w$/.test(option)).map((option) => option[1] ?? '')
  const letter = () => (short.length === 0 || random.oneIn(6) ? random.pick([...letters]) : random.pick(short))
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
