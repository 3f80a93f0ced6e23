import type { BashPolicy } from './check-command.ts'
import { fileCommands, searchCommands, streamCommands, textCommands } from './commands.ts'
import { checkFind } from './find.ts'
import { gitCommands, gitMoreCommands, gitPlumbingCommands } from './git.ts'
import { programCommands } from './languages.ts'
import { changeDirectory, type Location, refuseGitHere } from './location.ts'
import type { Part } from './parse.ts'
import { isRefusal, patternMark, type Refusal, refuse, refuseCommand, unknownMark } from './refusal.ts'
import { type CommandRow, checkRow, type RowContext } from './row.ts'
import { shellCommands } from './shell-commands.ts'
import { checkXargs } from './xargs.ts'

/** The simple commands of a line, in their order; each is allowed by its row, or because the configuration names it. */
export function checkParts(parts: readonly Part[], policy: BashPolicy): Refusal | undefined {
  let locations: readonly Location[] = [policy.start]
  for (const part of parts) {
    const refusal = checkPart(part, policy, locations)
    if (refusal !== undefined) return refusal
    if (part.words[0]?.text !== 'cd') continue
    const [, folder = '', ...more] = textsOf(part)
    if (policy.shell.environment.includes('CDPATH') && /^[^./]/.test(folder))
      return refuse('operand', folder, 'is looked for in CDPATH, too', `Write cd ./${folder}.`)
    const reached = changeDirectory([folder, ...more], locations, policy.enter)
    if (isRefusal(reached)) return reached
    // It may fail, and what follows runs here.
    locations = [...locations, ...reached.locations]
  }
  return undefined
}

const foldersOf = (locations: readonly Location[]): string[] =>
  locations.filter(({ isRoot }) => !isRoot).flatMap(({ directories }) => directories)

const textsOf = ({ words }: Part): string[] => words.map(({ text }) => text)

function checkPart(part: Part, policy: BashPolicy, locations: readonly Location[]): Refusal | undefined {
  const name = part.words[0]?.text ?? ''
  if (name === 'git') {
    const refusal = refuseGit(part, policy)
    if (refusal !== undefined) return refusal
  }
  const refusal = checkBuiltIn(part, policy, locations)
  if (refusal === undefined || !isAllowedByConfig(part, policy.allowed)) return refusal
  // What the configuration allows, it allows in this worktree.
  const isUnclear = textsOf(part).some((text) => text.includes(patternMark) || text.includes(unknownMark))
  return isUnclear || movesShell.includes(name) ? refusal : refuseGitHere(locations, part.text)
}

/** Where it leads has to be known, so no configuration allows more of them. */
const movesShell = ['cd', 'chdir', 'popd', 'pushd']

function checkBuiltIn(part: Part, policy: BashPolicy, locations: readonly Location[]): Refusal | undefined {
  const [first, ...rest] = part.words
  if (first === undefined) return refuseCommand('')
  if (first.raw !== first.text)
    return refuse('command', first.raw, 'is a quoted command name', 'Write the name plainly.')
  const revision = rest.find((word) => word.isRevision)
  if (revision !== undefined && first.text !== 'git')
    return refuse('glob', revision.raw, 'contains an unquoted ^ or brace', `Quote it: '${revision.text}'.`)
  const unknown = rest.find((word) => word.text.includes(unknownMark))
  if (unknown !== undefined && first.text !== 'echo')
    return refuse(
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
      return undefined
  }
  const row = commands.get(first.text)
  return row === undefined ? refuseCommand(first.text) : checkRow(row, row.name, texts, context)
}

/** Whether the name is on the list at all. */
export const isListed = (name: string): boolean =>
  ['git', 'find', 'echo', 'cd', 'xargs'].includes(name) || commands.has(name)

/** Names of variables that hold credentials. */
const secretName = /\$\{?\w*(?:AUTH|CRED|KEY|PASS|PWD_|SECRET|TOKEN)/i

function checkEcho(words: readonly string[]): Refusal | undefined {
  const secret = words.find((word) => !word.startsWith("'") && secretName.test(word))
  return secret === undefined
    ? undefined
    : refuse('secret', secret, 'may hold credentials, and what is printed goes into the transcript', 'Ask the user.')
}

/** An entry of `gate.bash.allow` is a command, or a command and its first words. */
const isAllowedByConfig = ({ words }: Part, allowed: readonly string[]): boolean =>
  allowed.some((entry) => {
    const named = entry.split(' ').filter((word) => word !== '')
    return named.length > 0 && named.every((word, index) => words[index]?.text === word)
  })

function refuseGit({ words, text }: Part, { untrustedGitKeys, promisorKeys }: BashPolicy): Refusal | undefined {
  const subcommand =
    words.map((word) => word.text).find((word, index) => index > 0 && !globalFlags.includes(word)) ?? ''
  if (untrustedGitKeys.length > 0)
    return refuse(
      'git-config',
      text,
      `may run a program: ${untrustedGitKeys.slice(0, 5).join(', ')} changed since this worktree was opened`,
      'Use rg, ls and the Read tool meanwhile. The user can undo the change, or accept it: plan-gate drift accept.',
    )
  return promisorKeys.length === 0 || readsNoObjects.includes(subcommand)
    ? undefined
    : refuse(
        'git-config',
        text,
        `may fetch what is missing in this partial clone (${promisorKeys.slice(0, 5).join(', ')}) by a program of its configuration`,
        `Use rg, ls and the Read tool. Allowed are git ${readsNoObjects.join(', ')}.`,
      )
}

const readsNoObjects = ['--version', 'config', 'remote', 'symbolic-ref']

const byName = (...tables: readonly (readonly CommandRow[])[]): ReadonlyMap<string, CommandRow> =>
  new Map(tables.flat().map((row) => [row.name, row]))

export const commands = byName(
  searchCommands,
  fileCommands,
  textCommands,
  streamCommands,
  shellCommands,
  programCommands,
)
export const gitSubcommands = byName(gitCommands, gitMoreCommands, gitPlumbingCommands)

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

function checkGit(words: readonly string[], call: GitCall): Refusal | undefined {
  const { part, policy, locations, context } = call
  const [flag, folder] = words
  if (flag === '-C' && folder !== undefined && !folder.includes(patternMark)) {
    const reached = changeDirectory([folder], locations, policy.enter)
    if (isRefusal(reached)) return reached
    const directories = [...context.directories, ...foldersOf(reached.locations)]
    return checkGit(words.slice(2), { ...call, locations: reached.locations, context: { ...context, directories } })
  }
  const start = words.findIndex((word) => !globalFlags.includes(word))
  const [first = '', second = ''] = start < 0 ? [] : words.slice(start)
  if (first === '--version' && words.length === start + 1) return undefined
  if (first.startsWith('-'))
    return refuse(
      'flag',
      first,
      'is a flag before the git subcommand that can bring in programs or other repositories',
      gitFlagAdvice[first.slice(0, 2)] ?? `Leave it out. Allowed are ${globalFlags.join(', ')}.`,
    )
  const two = gitSubcommands.get(`${first} ${second}`)
  const row = two ?? gitSubcommands.get(first)
  if (row !== undefined)
    return (
      refuseGitHere(locations, part.text) ??
      checkRow(row, `git ${row.name}`, words.slice(start + (two === undefined ? 1 : 2)), context)
    )
  return refuse(
    'subcommand',
    `git ${first}`.trim(),
    'is not on the list of git subcommands that only read',
    nearestSubcommand(first),
  )
}

const nearestSubcommand = (name: string): string => {
  const listing = [...gitSubcommands.keys()].find((row) => row.startsWith(`${name} `))
  return listing !== undefined && name !== ''
    ? `git ${listing} is allowed.`
    : 'Allowed are status, diff, log, show, grep, ls-files, blame, branch --list and others that only read.'
}
