import { type Refusal, refuse } from './refusal.ts'

const links = /^-([HLP]|O[0-3])$/
/** `-perm -u=x` means all of the bits; a format may begin with any character. */
const mayBeginWithDash = ['-perm', '-printf']
const about = ['--help', '--version', '-help', '-version']

/** The arguments of `find`: start folders, then an expression of known tests only. */
export function checkFind(words: readonly string[]): Refusal | undefined {
  if (words.length === 1 && about.includes(words[0] ?? '')) return undefined
  let index = 0
  while (links.test(words[index] ?? '')) index += 1
  while (index < words.length && !beginsExpression(words[index] ?? '')) index += 1
  while (index < words.length) {
    const taken = readTest(words[index] ?? '', words[index + 1])
    if (typeof taken !== 'number') return taken
    index += taken
  }
  return undefined
}

const beginsExpression = (word: string): boolean => word.startsWith('-') || listed(word, findWords.alone)

/** How many words the test takes. */
function readTest(word: string, value: string | undefined): number | Refusal {
  if (listed(word, findWords.alone)) return 1
  if (!listed(word, findWords.withValue) && !newerThan.test(word)) return unknown(word)
  if (value === undefined)
    return refuse('value', word, 'is the last word of find, but needs a value', `Say which: ${word} <value>.`)
  // For a find that does not know the test, or takes no value for it, `-name -delete` would be two tests.
  if (isAction(value)) return unknown(value)
  if (/^-(?!\d|$)/.test(value) && !mayBeginWithDash.includes(word))
    return refuse('value', `${word} ${value}`, 'gives a value that looks like a test', 'Begin the pattern with [-].')
  return 2
}

function unknown(word: string): Refusal {
  if (!word.startsWith('-'))
    return refuse('operand', word, 'is inside the expression of find', 'Put the directories first: find src -name …')
  const does = Object.entries(findActions).find(([words]) => listed(word, words))?.[1]
  return does === undefined
    ? refuse(
        'flag',
        word,
        'is not a test of find that the gate knows',
        'Use tests such as -name, -type, -maxdepth, -mtime.',
      )
    : refuse('flag', word, does, 'Leave it out: find prints what it finds. Search in files by rg or the Grep tool.')
}

const isAction = (word: string): boolean => Object.keys(findActions).some((words) => listed(word, words))
const listed = (word: string, words: string): boolean => words.split(' ').includes(word)

/**
 * The words of a find expression that only test or print, by the values they take. All others write, run a program or
 * are unknown.
 */
export const findWords = {
  alone:
    '( ) ! , -not -a -and -o -or -depth -xdev -mount -daystart -follow -noleaf -warn -nowarn -ignore_readdir_race -noignore_readdir_race -empty -true -false -nouser -nogroup -readable -writable -executable -print -print0 -ls -prune -quit',
  withValue:
    '-maxdepth -mindepth -regextype -amin -anewer -atime -cmin -cnewer -ctime -fstype -gid -group -ilname -iname -inum -ipath -iregex -iwholename -links -lname -mmin -mtime -name -newer -path -perm -regex -samefile -size -type -uid -used -user -wholename -xtype -printf',
} as const

/** `-newermt 2026-01-01`: which time of the file is compared with which time. */
const newerThan = /^-newer[aBcm][aBcmt]$/

/** Actions that change files, run programs, or read names from a file. */
const findActions: { readonly [words: string]: string } = {
  '-delete -rm': 'deletes files',
  '-exec -execdir -ok -okdir': 'runs a program',
  '-fprint -fprint0 -fprintf -fls': 'writes a file',
  '-files0-from': 'reads a list of names',
}
