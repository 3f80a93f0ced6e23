import type { BashPolicy } from './check-command.ts'
import { fileCommands, searchCommands, streamCommands, textCommands } from './commands.ts'
import { checkFind } from './find.ts'
import { gitCommands, gitMoreCommands, gitPlumbingCommands } from './git.ts'
import type { Part } from './parse.ts'
import { type Refusal, refuse, refuseCommand } from './refusal.ts'
import { type CommandRow, checkRow } from './row.ts'

/** One simple command: allowed by its row, or because the configuration names it. */
export function checkPart(part: Part, policy: BashPolicy): Refusal | undefined {
  const name = part.words[0]?.text ?? ''
  if (name === 'git' && policy.untrustedGitKeys.length > 0) return refuseUntrustedGit(part, policy.untrustedGitKeys)
  const refusal = checkBuiltIn(part)
  return refusal !== undefined && isAllowedByConfig(part, policy.allowed) ? undefined : refusal
}

function checkBuiltIn({ words, isPiped }: Part): Refusal | undefined {
  const [first, ...rest] = words
  if (first === undefined) return refuseCommand('')
  if (first.raw !== first.text)
    return refuse('command', first.raw, 'is a quoted command name', 'Write the name plainly.')
  const revision = rest.find((word) => word.isRevision)
  if (revision !== undefined && first.text !== 'git')
    return refuse('glob', revision.raw, 'contains an unquoted ^ or brace', `Quote it: '${revision.text}'.`)
  const texts = rest.map((word) => word.text)
  switch (first.text) {
    case 'git':
      return checkGit(texts, isPiped)
    case 'find':
      return checkFind(texts)
    case 'echo':
      return undefined
  }
  const row = commands.get(first.text)
  return row === undefined ? refuseCommand(first.text) : checkRow(row, row.name, texts, isPiped)
}

/** An entry of `gate.bash.allow` is a command, or a command and its first words. */
const isAllowedByConfig = ({ words }: Part, allowed: readonly string[]): boolean =>
  allowed.some((entry) => {
    const named = entry.split(' ').filter((word) => word !== '')
    return named.length > 0 && named.every((word, index) => words[index]?.text === word)
  })

const refuseUntrustedGit = (part: Part, keys: readonly string[]): Refusal =>
  refuse(
    'git-config',
    part.text,
    `may run a program: ${keys.slice(0, 5).join(', ')} changed since this worktree was opened`,
    'Use rg, ls and the Read tool meanwhile. The user can undo the change, or take it over: plan-gate drift accept.',
  )

const byName = (...tables: readonly (readonly CommandRow[])[]): ReadonlyMap<string, CommandRow> =>
  new Map(tables.flat().map((row) => [row.name, row]))

export const commands = byName(searchCommands, fileCommands, textCommands, streamCommands)
export const gitSubcommands = byName(gitCommands, gitMoreCommands, gitPlumbingCommands)

/** Global git flags that cannot bring in a configuration, a directory or a program. */
const globalFlags = ['--no-pager', '-P', '--no-optional-locks', '--literal-pathspecs']

const gitFlagAdvice: { readonly [flag: string]: string } = {
  '-C': 'Run git in the worktree as it is: paths can follow the subcommand.',
  '-c': 'Leave it out: a setting can name a program.',
}

function checkGit(words: readonly string[], isPiped: boolean): Refusal | undefined {
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
  if (two !== undefined) return checkRow(two, `git ${two.name}`, words.slice(start + 2), isPiped)
  const one = gitSubcommands.get(first)
  if (one !== undefined) return checkRow(one, `git ${first}`, words.slice(start + 1), isPiped)
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
