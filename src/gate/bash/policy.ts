import type { BashPolicy } from './check-command.ts'
import { fileCommands } from './commands.ts'
import { gitCommands } from './git.ts'
import { checkFind, checkXargs, programCommands } from './languages.ts'
import type { Part } from './parse.ts'
import { isRefusal, patternMark, refusalOf, refuse, refuseCommand, unknownMark } from './refusal.ts'
import { type CommandRow, checkRow, type RowContext } from './row.ts'
import { shellCommands } from './shell-commands.ts'

/** A folder in which a command may run. */
export type Location = {
  /** As it is named, and as it really is. */
  readonly directories: readonly string[]
  /** Relative operands are looked at from here, too; not in the worktree's root, where they are what they say. */
  readonly isRoot: boolean
  /** Why git must not run here; null in this worktree. It has to look at the disk. */
  readonly gitProblem: () => string | null
}

/** The simple commands of a line, in their order; each is allowed by its row, or because the configuration names it. */
export function checkParts(parts: readonly Part[], policy: BashPolicy): void {
  let locations: readonly Location[] = [policy.start]
  for (const part of parts) {
    checkPart(part, policy, locations)
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
    const why = `would run in ${directories[0]}, ${problem}: its configuration can name programs`
    refuse('git-place', part, why, 'Run git in this worktree. Its paths can follow the subcommand.')
  }
}

const foldersOf = (locations: readonly Location[]): string[] =>
  locations.filter(({ isRoot }) => !isRoot).flatMap(({ directories }) => directories)

const textsOf = ({ words }: Part): string[] => words.map(({ text }) => text)

function checkPart(part: Part, policy: BashPolicy, locations: readonly Location[]): void {
  const name = part.words[0]?.text ?? ''
  if (name === 'git') refuseChangedGit(part, policy)
  const refusal = refusalOf(() => checkBuiltIn(part, policy, locations))
  if (!isRefusal(refusal)) return
  // What the configuration allows, it allows in this worktree.
  const isUnclear = textsOf(part).some((text) => text.includes(patternMark) || text.includes(unknownMark))
  if (isUnclear || movesShell.includes(name) || !isAllowedByConfig(part, policy.allowed)) throw refusal
  refuseGitHere(locations, part.text)
}

/** Where it leads has to be known, so no configuration allows more of them. */
const movesShell = ['cd', 'chdir', 'popd', 'pushd']

function checkBuiltIn(part: Part, policy: BashPolicy, locations: readonly Location[]): void {
  const [first, ...rest] = part.words
  if (first === undefined) return refuseCommand('')
  if (first.raw !== first.text) refuse('command', first.raw, 'is a quoted command name', 'Write the name plainly.')
  const revision = rest.find((word) => word.isRevision)
  if (revision !== undefined && first.text !== 'git')
    refuse('glob', revision.raw, 'contains an unquoted ^ or brace', `Quote it: '${revision.text}'.`)
  const unknown = rest.find((word) => word.text.includes(unknownMark))
  if (unknown !== undefined && first.text !== 'echo')
    refuse(
      'expansion',
      unknown.raw,
      'contains a variable whose value the gate cannot know',
      'Write the value itself, or single quotes where a literal $ is meant.',
    )
  const texts = rest.map((word) => word.text)
  const context = { isPiped: part.isPiped, directories: foldersOf(locations) }
  switch (first.text) {
    case 'git':
      return checkGit(texts, { part, policy, locations, context })
    case 'find':
      return checkFind(texts)
    case 'xargs':
      return checkXargs(texts, context, commands)
    case 'echo':
      return checkEcho(rest.map(({ raw }) => raw))
    case 'cd':
      // `checkParts` follows it.
      return
  }
  checkRow(commands.get(first.text) ?? refuseCommand(first.text), first.text, texts, context)
}

/** Whether the name is on the list at all. */
export const isListed = (name: string): boolean =>
  ['git', 'find', 'echo', 'cd', 'xargs'].includes(name) || commands.has(name)

/** Names of variables that hold credentials. */
const secretName = /\$\{?\w*(?:AUTH|CRED|KEY|PASS|PWD_|SECRET|TOKEN)/i

function checkEcho(words: readonly string[]): void {
  const secret = words.find((word) => !word.startsWith("'") && secretName.test(word))
  if (secret !== undefined)
    refuse('secret', secret, 'may hold credentials, and what is printed goes into the transcript', 'Ask the user.')
}

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
      'Use rg, ls and the Read tool meanwhile. The user can undo the change, or accept it: plan-gate drift accept.',
    )
  if (promisorKeys.length > 0 && !readsNoObjects.includes(subcommand))
    refuse(
      'git-config',
      part.text,
      `may fetch what is missing in this partial clone (${shown(promisorKeys)}) by a program of its configuration`,
      `Use rg, ls and the Read tool. Allowed are git ${readsNoObjects.join(', ')}.`,
    )
}

const readsNoObjects = ['--version', 'config', 'remote', 'symbolic-ref']

const byName = (...tables: readonly (readonly CommandRow[])[]): ReadonlyMap<string, CommandRow> =>
  new Map(tables.flat().map((row) => [row.name, row]))

export const commands = byName(fileCommands, shellCommands, programCommands)
export const gitSubcommands = byName(gitCommands)

/** Global git flags that cannot bring in a configuration, a directory or a program. */
const globalFlags = ['--no-pager', '-P', '--no-optional-locks', '--literal-pathspecs']

const gitFlagAdvice: { readonly [flag: string]: string } = {
  '-C': 'Write git -C <folder> first, with a folder of this worktree.',
  '-c': 'Leave it out: a setting can name a program.',
}

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
    return checkGit(words.slice(2), { ...call, locations: reached, context: { ...context, directories } })
  }
  const start = words.findIndex((word) => !globalFlags.includes(word))
  const [first = '', second = ''] = start < 0 ? [] : words.slice(start)
  if (first === '--version' && words.length === start + 1) return
  if (first.startsWith('-'))
    refuse(
      'flag',
      first,
      'is a flag before the git subcommand that can bring in programs or other repositories',
      gitFlagAdvice[first.slice(0, 2)] ?? `Leave it out. Allowed are ${globalFlags.join(', ')}.`,
    )
  const two = gitSubcommands.get(`${first} ${second}`)
  const row = two ?? gitSubcommands.get(first)
  if (row === undefined) return refuseSubcommand(first)
  refuseGitHere(locations, part.text)
  checkRow(row, `git ${row.name}`, words.slice(start + (two === undefined ? 1 : 2)), context)
}

function refuseSubcommand(name: string): never {
  const listing = [...gitSubcommands.keys()].find((row) => name !== '' && row.startsWith(`${name} `))
  const hint =
    listing === undefined
      ? 'Allowed are status, diff, log, show, grep, ls-files, blame, branch --list and others that only read.'
      : `git ${listing} is allowed.`
  refuse('subcommand', `git ${name}`.trim(), 'is not on the list of git subcommands that only read', hint)
}
