import type { FlagKind, Flags } from './command-row.ts'

export type KindOfFlag = ReadonlyMap<string, FlagKind>

const known = new WeakMap<readonly Flags[], KindOfFlag>()

/** What each flag of a row takes. A call judges one or two commands, so a row is only spread out when it is asked for. */
export function flagKinds(groups: readonly Flags[]): KindOfFlag {
  const found = known.get(groups)
  if (found !== undefined) return found
  const kinds = new Map<string, FlagKind>()
  for (const group of groups)
    for (const [kind, names] of Object.entries(group) as [FlagKind, string][])
      for (const name of names.split(' ')) kinds.set(name, kind)
  known.set(groups, kinds)
  return kinds
}
