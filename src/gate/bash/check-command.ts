import { fileCommands, shellCommands } from './commands.ts'
import { gitCommands } from './git.ts'
import { checkFind, checkXargs, programCommands } from './languages.ts'
import type { Line, Part } from './parse.ts'
import {
  type BashVerdict,
  isRefusal,
  patternMark,
  type Refusal,
  refusalOf,
  refuse,
  refuseCommand,
  secretMark,
  unknownMark,
  verdictOf,
} from './refusal.ts'
import { type CommandRow, checkRow, type Disk, type RowContext } from './row.ts'
import type { Shell, StaticWord } from './words.ts'

/** Is a command line proved to only read? What cannot be proved is denied. */

export type BashPolicy = {
  /** Whether `a | b`, `a && b` and `a ; b` are checked part by part. */
  readonly compound: boolean
  /** `gate.bash.allow`: commands, perhaps with their first words, that may have any flags. */
  readonly allowed: readonly string[]
  /** Keys and hooks of the repository that changed since this worktree was opened: git may run what they name. */
  readonly untrustedGitKeys: readonly string[]
  /** Keys that make this a partial clone: git may run a program to fetch what it reads. */
  readonly promisorKeys: readonly string[]
  /** Where the shell stands, and where a `cd` leads. */
  readonly start: Location
  readonly enter: (from: Location, path: string) => Location
  readonly shell: Shell
} & Disk

/** A folder in which a command may run. */
export type Location = {
  /** As it is named, and as it really is. */
  readonly directories: readonly string[]
  /** Relative operands are looked at from here, too; not in the worktree's root, where they are what they say. */
  readonly isRoot: boolean
  /** Why git must not run here; null in this worktree. It has to look at the disk. */
  readonly gitProblem: () => string | null
}

/** A few plain words need no parser, which takes long to load. Null where only a parser can read. */
export function checkPlainCommand(source: string, policy: BashPolicy): BashVerdict | null {
  if (source.length > 8_000) return null
  const words = readPlainWords(source)
  if (words !== null)
    return verdictOf(() => checkParts([{ words, isPiped: false, isRedirected: false, text: source }], policy))
  // Each part of a line must be allowed by itself, so a first command that is on no list decides it without a parser.
  const name = /^[a-z][\w.-]*(?= |$)/.exec(source)?.[0] ?? ''
  const isKnown = isListed(name) || policy.allowed.some((entry) => entry.trim().split(' ')[0] === name)
  return name === '' || reservedWord.test(name) || isKnown ? null : verdictOf(() => refuseCommand(name))
}

type ReadLine = (source: string, shell: Shell) => Line | Refusal

/** `readLine` is the parser of `parse.ts`: an argument, because the gate loads it from a bundle of its own. */
export const checkCommand = (source: string, policy: BashPolicy, readLine: ReadLine): BashVerdict =>
  verdictOf(() => {
    const line = readSafely(source, policy.shell, readLine)
    if (line.isCompound && !policy.compound)
      refuse('compound', source, 'is more than one plain command, which gate.bash.compound: false does not allow')
    checkParts(line.parts, policy)
  })

/** A parser that fails has not read the line. */
function readSafely(source: string, shell: Shell, readLine: ReadLine): Line {
  let line: Line | Refusal | null = null
  try {
    line = readLine(source, shell)
  } catch {}
  if (line === null) refuse('syntax', source, 'could not be read')
  if (isRefusal(line)) throw line
  return line
}

/** One command, its words separated by single blanks: bare, or quoted as a whole with nothing live between the quotes. */
const bareWord = /^[A-Za-z0-9_@%+,./:-][A-Za-z0-9_@%+,./:=-]*$/
const assignment = /^[A-Za-z_][A-Za-z0-9_]*\+?=/
const token = /'[\x20-\x26\x28-\x7e]*'|"[\x20\x23\x25-\x5b\x5d-\x5f\x61-\x7e]*"|[^ '"]+/y

function readPlainWords(source: string): StaticWord[] | null {
  const words: StaticWord[] = []
  let end = 0
  while (end < source.length) {
    token.lastIndex = end
    const raw = token.exec(source)?.[0]
    if (raw === undefined) return null
    end += raw.length
    const isQuoted = raw.startsWith("'") || raw.startsWith('"')
    if (!isQuoted && (!bareWord.test(raw) || assignment.test(raw))) return null
    words.push({ text: isQuoted ? raw.slice(1, -1) : raw, raw, isRevision: false })
    if (end === source.length) return reservedWord.test(words[0]?.raw ?? '') ? null : words
    if (source[end] !== ' ') return null
    end += 1
  }
  return null
}

/** Words that begin a construct rather than a command. */
const reservedWord =
  /^(?:if|then|else|elif|fi|for|while|until|do|done|case|esac|select|function|time|coproc|in|repeat|foreach|end|nocorrect|noglob|exec|command|builtin)$/

/** The simple commands of a line, in their order; each is allowed by its row, or because the configuration names it. */
function checkParts(parts: readonly Part[], policy: BashPolicy): void {
  let locations: readonly Location[] = [policy.start]
  for (const [index, part] of parts.entries()) {
    checkPart(part, policy, locations, textsOf(parts[index - 1] ?? part))
    if (part.words[0]?.text !== 'cd') continue
    const [, folder = '', ...more] = textsOf(part)
    if (policy.shell.environment.includes('CDPATH') && /^[^./]/.test(folder))
      refuse('operand', folder, 'is looked for in CDPATH, too', `Write cd ./${folder}.`)
    // It may fail, and what follows runs here.
    locations = [...locations, ...changeDirectory([folder, ...more], locations, policy)]
  }
}

const maxLocations = 8

/** Where `cd <folder>` and `git -C <folder>` lead. */
function changeDirectory(operands: readonly string[], from: readonly Location[], { enter }: BashPolicy): Location[] {
  const [path = ''] = operands
  if (operands.length !== 1 || /^[-+]|^$/.test(path) || /[\u0000-\u001f]/.test(path))
    refuse('operand', operands.join(' '), 'is not one folder', 'Name one folder, in full.')
  if (from.length * 2 > maxLocations)
    refuse('too-long', path, 'is one change of folder too many', 'Name paths instead.')
  return from.map((location) => enter(location, path))
}

function refuseGitHere(locations: readonly Location[], part: string): void {
  for (const { directories, gitProblem } of locations) {
    const problem = gitProblem()
    if (problem === null) continue
    refuse('git-place', part, `would run in ${directories[0]}, ${problem}: its configuration can name programs`)
  }
}

const foldersOf = (locations: readonly Location[]): string[] =>
  locations.filter(({ isRoot }) => !isRoot).flatMap(({ directories }) => directories)

function contextOf({ isPiped }: Part, locations: readonly Location[], { look, oddNames }: BashPolicy): RowContext {
  const from = locations.flatMap(({ directories }) => directories)
  return {
    isPiped,
    directories: foldersOf(locations),
    places: (path) => (path.startsWith('/') ? [path] : from.map((folder) => `${folder}/${path}`)),
    look,
    oddNames,
  }
}

const textsOf = ({ words }: Part): string[] => words.map(({ text }) => text)

function checkPart(part: Part, policy: BashPolicy, locations: readonly Location[], before: readonly string[]): void {
  const name = part.words[0]?.text ?? ''
  if (name === 'git') refuseChangedGit(part, policy)
  const refusal = refusalOf(() => checkBuiltIn(part, policy, locations, before))
  if (!isRefusal(refusal)) return
  // What the configuration allows, it allows in this worktree.
  const isUnclear = textsOf(part).some((text) =>
    [patternMark, secretMark, unknownMark].some((mark) => text.includes(mark)),
  )
  if (isUnclear || movesShell.includes(name) || !isAllowedByConfig(part, policy.allowed)) throw refusal
  refuseGitHere(locations, part.text)
}

/** Where it leads has to be known, so no configuration allows more of them. */
const movesShell = ['cd', 'chdir', 'popd', 'pushd']

/** `before`: the command before it, in a pipe the one that it reads from. */
function checkBuiltIn(part: Part, policy: BashPolicy, locations: readonly Location[], before: readonly string[]): void {
  const [first, ...rest] = part.words
  if (first === undefined) return refuseCommand('')
  if (first.raw !== first.text) refuse('command', first.raw, 'is a quoted command name', 'Write the name plainly.')
  const revision = rest.find((word) => word.isRevision)
  if (revision !== undefined && first.text !== 'git')
    refuse('glob', revision.raw, 'contains an unquoted ^ or brace', `Quote it: '${revision.text}'.`)
  const secret = rest.find((word) => word.text.includes(secretMark))
  const unknown = secret ?? rest.find((word) => word.text.includes(unknownMark))
  if (unknown !== undefined && first.text !== 'echo')
    refuse('expansion', unknown.raw, 'contains a variable whose value the gate cannot know')
  if (secret !== undefined)
    refuse('secret', secret.raw, 'may hold credentials, and what is printed goes into the transcript')
  const texts = rest.map((word) => word.text)
  const context = contextOf(part, locations, policy)
  switch (first.text) {
    case 'git':
      return checkGit(texts, { part, policy, locations, context })
    case 'find':
      return checkFind(texts)
    case 'xargs':
      return checkXargs(texts, context, commands, before)
    case 'echo':
    case 'cd':
      // `checkParts` follows cd.
      return
  }
  checkRow(commands.get(first.text) ?? refuseCommand(first.text), first.text, texts, context)
}

/** Whether the name is on the list at all. */
const isListed = (name: string): boolean => ['git', 'find', 'echo', 'cd', 'xargs'].includes(name) || commands.has(name)

/** An entry of `gate.bash.allow` is a command, or a command and its first words. */
const isAllowedByConfig = ({ words }: Part, allowed: readonly string[]): boolean =>
  allowed.some((entry) => {
    const named = entry.split(' ').filter((word) => word !== '')
    return named.length > 0 && named.every((word, index) => words[index]?.text === word)
  })

function refuseChangedGit(part: Part, { untrustedGitKeys, promisorKeys }: BashPolicy): void {
  const subcommand = textsOf(part).find((word, index) => index > 0 && !globalFlags.includes(word)) ?? ''
  const shown = (keys: readonly string[]): string => keys.slice(0, 5).join(', ')
  if (untrustedGitKeys.length > 0)
    refuse(
      'git-config',
      part.text,
      `may run a program: ${shown(untrustedGitKeys)} changed since this worktree was opened`,
    )
  if (promisorKeys.length > 0 && !readsNoObjects.includes(subcommand))
    refuse('git-config', part.text, `may fetch what this partial clone lacks (${shown(promisorKeys)}) by a program`)
}

const readsNoObjects = ['--version', 'config', 'remote', 'symbolic-ref']

const byName = (...tables: readonly (readonly CommandRow[])[]): ReadonlyMap<string, CommandRow> =>
  new Map(tables.flat().map((row) => [row.name, row]))

export const commands = byName(fileCommands, shellCommands, programCommands)
export const gitSubcommands = byName(gitCommands)

/** Global git flags that cannot bring in a configuration, a directory or a program. */
const globalFlags = ['--no-pager', '-P', '--no-optional-locks', '--literal-pathspecs']

type GitCall = {
  readonly part: Part
  readonly policy: BashPolicy
  readonly locations: readonly Location[]
  readonly context: RowContext
}

function checkGit(words: readonly string[], call: GitCall): void {
  const { part, policy, locations, context } = call
  const [flag, folder] = words
  if (flag === '-C' && folder !== undefined && !folder.includes(patternMark)) {
    const reached = changeDirectory([folder], locations, policy)
    const directories = [...context.directories, ...foldersOf(reached)]
    const places = (path: string): string[] =>
      [locations, reached].flatMap((at) => contextOf(part, at, policy).places(path))
    return checkGit(words.slice(2), { ...call, locations: reached, context: { ...context, directories, places } })
  }
  const start = words.findIndex((word) => !globalFlags.includes(word))
  const [first = '', second = ''] = start < 0 ? [] : words.slice(start)
  if (first === '--version' && words.length === start + 1) return
  if (first.startsWith('-'))
    refuse('flag', first, 'is a flag before the git subcommand that can bring in programs or other repositories')
  const two = gitSubcommands.get(`${first} ${second}`)
  const row = two ?? gitSubcommands.get(first)
  if (row === undefined) return refuseSubcommand(first)
  refuseGitHere(locations, part.text)
  checkRow(row, `git ${row.name}`, words.slice(start + (two === undefined ? 1 : 2)), context)
}

function refuseSubcommand(name: string): never {
  const listing = [...gitSubcommands.keys()].find((row) => name !== '' && row.startsWith(`${name} `))
  const hint = listing === undefined ? undefined : `git ${listing} is allowed.`
  refuse('subcommand', `git ${name}`.trim(), 'is not on the list of git subcommands that only read', hint)
}
