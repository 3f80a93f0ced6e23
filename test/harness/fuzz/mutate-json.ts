import type { Random } from './random.ts'

/** Changes values and keys of a JSON text, so that what comes out still parses; null where it does not now. */
export function mutateJson(text: string, pieces: readonly string[], random: Random): string | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  const target = random.below(countOf(value))
  let at = -1
  const change = (node: unknown): unknown => {
    at += 1
    if (at === target) return changed(node, pieces, random)
    if (Array.isArray(node)) return node.map(change)
    if (isRecord(node)) return fromEntries(Object.entries(node).map(([key, inner]) => [key, change(inner)]))
    return node
  }
  return JSON.stringify(change(value), null, random.oneIn(4) ? 2 : undefined)
}

const countOf = (value: unknown): number =>
  Array.isArray(value)
    ? value.reduce((count: number, inner) => count + countOf(inner), 1)
    : isRecord(value)
      ? Object.values(value).reduce((count: number, inner) => count + countOf(inner), 1)
      : 1

function changed(node: unknown, pieces: readonly string[], random: Random): unknown {
  if (isRecord(node) && !random.oneIn(4)) return changedRecord(Object.entries(node), pieces, random)
  if (Array.isArray(node) && !random.oneIn(4)) return changedList(node, pieces, random)
  if (typeof node === 'string' && random.oneIn(2)) {
    const at = random.below(node.length + 1)
    return node.slice(0, at) + random.pick(pieces) + node.slice(random.oneIn(2) ? at : node.length)
  }
  return random.oneIn(3) ? random.pick(pieces) : random.pick(values)
}

const values: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1, 1.5, 1e308, 2 ** 53, '', ' ', 'x', '\0', '\u202e', '\ud800', 'true', '1'],
  ...[[], [null], [[]], {}, { a: 1 }, { toString: 1 }, { length: 3 }, JSON.parse('{"__proto__": {"x": 1}}')],
]

function changedRecord(entries: [string, unknown][], pieces: readonly string[], random: Random): unknown {
  const at = random.below(entries.length + 1)
  const [key = 'a', value = null] = entries[at] ?? []
  const rest = entries.filter((_, index) => index !== at)
  const name = random.oneIn(2) ? random.pick(pieces) : random.pick(names)
  switch (random.below(4)) {
    case 0:
      return fromEntries(rest)
    case 1:
      return fromEntries([...entries, [name, random.pick(values)]])
    case 2:
      return fromEntries([...rest, [name, value]])
  }
  return fromEntries([...rest, [key, random.oneIn(2) ? random.pick(values) : random.pick(pieces)]])
}

const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length', '', ' ', '0', 'then', 'toJSON']

function changedList(items: readonly unknown[], pieces: readonly string[], random: Random): unknown {
  const at = random.below(items.length + 1)
  switch (random.below(3)) {
    case 0:
      return items.filter((_, index) => index !== at)
    case 1:
      return [...items.slice(0, at), random.oneIn(2) ? random.pick(values) : random.pick(pieces), ...items.slice(at)]
  }
  return [...items, ...items.slice(at)]
}

/** Unlike an assignment, this makes `__proto__` a key like any other. */
const fromEntries = (entries: readonly (readonly [string, unknown])[]): object => Object.fromEntries(entries)

const isRecord = (value: unknown): value is { [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
