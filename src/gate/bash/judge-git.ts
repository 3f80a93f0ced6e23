import { gitSubcommands } from './command-table.ts'
import { judgeRow } from './judge-row.ts'
import { type Refusal, refuse } from './refusal.ts'

/** The global flags that cannot bring in a configuration, a directory or a program. */
const globalFlags = ['--no-pager', '-P', '--no-optional-locks', '--literal-pathspecs']

const advice: { readonly [flag: string]: string } = {
  '-C': 'Run git in the worktree as it is: paths can follow the subcommand.',
  '-c': 'Leave it out: a setting can name a program.',
}

export function judgeGit(words: readonly string[], isPiped: boolean): Refusal | undefined {
  const start = words.findIndex((word) => !globalFlags.includes(word))
  const [first = '', second = ''] = start < 0 ? [] : words.slice(start)
  if (first === '--version' && words.length === start + 1) return undefined
  if (first.startsWith('-'))
    return refuse(
      'flag',
      first,
      'is a flag before the git subcommand that can bring in programs or other repositories',
      advice[first.slice(0, 2)] ?? `Leave it out. Allowed are ${globalFlags.join(', ')}.`,
    )
  const two = gitSubcommands.get(`${first} ${second}`)
  if (two !== undefined) return judgeRow(two, `git ${two.name}`, words.slice(start + 2), isPiped)
  const one = gitSubcommands.get(first)
  if (one !== undefined) return judgeRow(one, `git ${first}`, words.slice(start + 1), isPiped)
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
