import { openTrusted } from '../gate/closed-mark.ts'
import { readTrust, type Trust, trustedIds, trustItems, untrustItems } from '../install/trust.ts'
import type { TrustOutput } from '../schemas/output.ts'
import { UserError } from '../system/errors.ts'
import { findCheckout } from '../system/repository.ts'
import type { Run } from './command.ts'
import { formatItem, type Terminal } from './terminal.ts'

export const trustCommand: Run<'trust'> = ({ all }, terminal, ids) => run(ids, all, 'trust', terminal)
export const untrustCommand: Run<'untrust'> = ({ all }, terminal, ids) => run(ids, all, 'untrust', terminal)

async function run(ids: readonly string[], all: boolean, does: 'trust' | 'untrust', terminal: Terminal): Promise<void> {
  const { root, gitDirs } = await findCheckout(process.cwd())
  const before = await readTrust(root, gitDirs)
  if (all || ids.length > 0) {
    const known = [...before.items.map(({ id }) => id), ...(does === 'untrust' ? trustedIds(gitDirs) : [])]
    const unknown = ids.find((id) => !known.includes(id))
    if (unknown !== undefined)
      throw new UserError(`${JSON.stringify(unknown)} is not in the list.`, 'See `plan-gate trust`.')
    const isChosen = (id: string): boolean => all || ids.includes(id)
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
