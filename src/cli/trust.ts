import type { Command } from 'commander'
import { openTrusted } from '../gate/closed-mark.ts'
import { readTrust, type Trust, trustedIds, trustItems, untrustItems } from '../install/trust.ts'
import type { TrustOutput } from '../schemas/output.ts'
import { UserError } from '../system/errors.ts'
import { findCheckout } from '../system/repository.ts'
import { newCommand } from './new-command.ts'
import { formatItem, openTerminal, type Terminal } from './terminal.ts'

type Flags = { all?: boolean; json?: boolean }

export const trustCommand = (): Command =>
  newCommand(
    'trust',
    'List what this repository brings into a session, or let Claude Code load it.',
    [
      ['plan-gate trust', 'what there is, and what it would run'],
      'plan-gate trust --all',
      'plan-gate trust hook:PreToolUse:1 mcp:tickets',
    ],
    'Claude Code loads what the repository brings once all of it is trusted. An item is asked\nabout again when it changes, or a file of the repository that its command names; not when what such a file\nloads in turn changes.',
  )
    .argument('[item...]', 'as the list calls them')
    .option('--all', 'everything that is listed')
    .option('--json', 'the list as JSON on stdout')
    .action((ids: string[], flags: Flags) => run(ids, flags, 'trust'))

export const untrustCommand = (): Command =>
  newCommand('untrust', 'Take back what `plan-gate trust` has allowed; sessions that run now are not changed.', [
    'plan-gate untrust mcp:tickets',
    'plan-gate untrust --all',
  ])
    .argument('[item...]', 'as `plan-gate trust` calls them')
    .option('--all', 'everything')
    .option('--json', 'the list as JSON on stdout')
    .action((ids: string[], flags: Flags) => run(ids, flags, 'untrust'))

async function run(ids: readonly string[], flags: Flags, does: 'trust' | 'untrust'): Promise<void> {
  const terminal = openTerminal(flags.json === true)
  const { root, gitDirs } = await findCheckout(process.cwd())
  const before = await readTrust(root, gitDirs)
  if (flags.all === true || ids.length > 0) {
    const known = [...before.items.map(({ id }) => id), ...(does === 'untrust' ? trustedIds(gitDirs) : [])]
    const unknown = ids.find((id) => !known.includes(id))
    if (unknown !== undefined)
      throw new UserError(`${JSON.stringify(unknown)} is not in the list.`, 'See `plan-gate trust`.')
    const isChosen = (id: string): boolean => flags.all === true || ids.includes(id)
    if (does === 'trust')
      trustItems(
        gitDirs,
        before.items.filter(({ id }) => isChosen(id)),
      )
    else untrustItems(gitDirs, known.filter(isChosen))
  } else if (does === 'untrust')
    throw new UserError('Nothing was named.', 'Name items of `plan-gate trust`, or use --all.')
  const after = await readTrust(root, gitDirs)
  if (after.untrusted.length === 0) openTrusted(gitDirs.own)
  print(root, after, terminal)
}

function print(root: string, { items, loadsRepository }: Trust, terminal: Terminal): void {
  const listed = items.map(({ id, path, what, runs, state }) => ({ id, path, what, runs: [...runs], state }))
  if (terminal.json)
    return terminal.out(
      JSON.stringify({ root, loads_repository: loadsRepository, items: listed } satisfies TrustOutput),
    )
  for (const item of listed) terminal.out(formatItem({ event: 'brings', ...item }, terminal.paintOut))
  terminal.say(summary(items.length, loadsRepository))
}

function summary(count: number, loadsRepository: boolean): string {
  if (count === 0) return 'This repository brings nothing that runs programs or changes a session.'
  return loadsRepository
    ? 'Sessions that plan-gate starts load what this repository brings.'
    : 'Sessions that plan-gate starts load nothing of this repository until all of it is trusted: plan-gate trust --all'
}
