import { type Entry, entryAt, type Finding, type Located } from './located.ts'

/** What the configurations that plan-gate grew from call it, and whether the two names may share a file. */
const olderNames = [
  { older: ['gpt_review'], current: ['review'], merge: false },
  { older: ['review', 'pass_budgets'], current: ['review', 'multipass', 'budgets'], merge: true },
] as const

export type Renaming = {
  readonly root: Located
  readonly findings: readonly Finding[]
  readonly notices: readonly Finding[]
}

/** The same values under today's names; each still knows where it stands and what it is called there. */
export function replaceOlderNames(root: Located): Renaming {
  let renaming: Renaming = { root, findings: [], notices: [] }
  for (const { older, current, merge } of olderNames) {
    const entry = entryAt(renaming.root, older)
    if (!entry) continue
    const there = entryAt(renaming.root, current)
    const { value, clashes } = merge && there ? merged(there, entry) : one(there, entry)
    const hint = `Write ${current.join('.')}.`
    const notice = { at: entry.key, path: entry.value.path, message: `${entry.value.path} is an older name.`, hint }
    renaming = {
      root: put(put(renaming.root, older, undefined), current, value),
      findings: [...renaming.findings, ...clashes],
      notices: [...renaming.notices, notice],
    }
  }
  return renaming
}

type Joined = { readonly value: Entry; readonly clashes: readonly Finding[] }

function one(there: Entry | undefined, entry: Entry): Joined {
  if (!there) return { value: entry, clashes: [] }
  const [first, second] = there.key[0] < entry.key[0] ? [there, entry] : [entry, there]
  const message = `${second.value.path} and ${first.value.path} are two names of the same.`
  return { value: first, clashes: [{ at: second.key, path: second.value.path, message, hint: 'Keep one of them.' }] }
}

function merged(there: Entry, entry: Entry): Joined {
  if (there.value.kind !== 'map' || entry.value.kind !== 'map') return one(there, entry)
  const entries = new Map(there.value.entries)
  const clashes: Finding[] = []
  for (const [name, added] of entry.value.entries) {
    const joined = one(entries.get(name), added)
    entries.set(name, joined.value)
    clashes.push(...joined.clashes)
  }
  return { value: { ...there, value: { ...there.value, entries } }, clashes }
}

/** A copy with the entry set, or removed. Where the way leads through something that is no block, nothing changes. */
function put(node: Located, [first, ...rest]: readonly string[], entry: Entry | undefined): Located {
  const isEmpty = node.kind === 'scalar' && node.value === null
  if (first === undefined || !(node.kind === 'map' || (isEmpty && entry))) return node
  const entries = new Map(node.kind === 'map' ? node.entries : [])
  const below = entries.get(first) ?? (entry && { key: entry.key, value: nothingAt(entry) })
  const next = rest.length > 0 ? below && { ...below, value: put(below.value, rest, entry) } : entry
  if (next) entries.set(first, next)
  else entries.delete(first)
  return { kind: 'map', entries, path: node.path, at: node.at }
}

const nothingAt = ({ key, value }: Entry): Located => ({ kind: 'scalar', value: null, path: value.path, at: key })
