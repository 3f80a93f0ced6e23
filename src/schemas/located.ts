/** Where something stands in a text: its first character, and the one after its last. */
export type Place = readonly [start: number, end: number]

/** A value of a YAML file that knows its place. `path` is what the person wrote, older names included. */
export type Located = { readonly path: string; readonly at: Place } & (
  | { readonly kind: 'scalar'; readonly value: string | number | boolean | null }
  | { readonly kind: 'list'; readonly items: readonly Located[] }
  | { readonly kind: 'map'; readonly entries: ReadonlyMap<string, Entry> }
)
export type Entry = { readonly key: Place; readonly value: Located }

/** A problem before its place is counted in lines. */
export type Finding = { readonly at: Place; readonly path: string; readonly message: string; readonly hint?: string }

export const entryAt = (root: Located, [first, ...rest]: readonly string[]): Entry | undefined => {
  const entry = root.kind === 'map' && first !== undefined ? root.entries.get(first) : undefined
  return entry && rest.length > 0 ? entryAt(entry.value, rest) : entry
}

export function plainValue(node: Located): unknown {
  switch (node.kind) {
    case 'scalar':
      return node.value
    case 'list':
      return node.items.map(plainValue)
    case 'map': {
      // Without a prototype, a key named __proto__ is a key like any other.
      const plain: { [key: string]: unknown } = Object.create(null)
      for (const [key, { value }] of node.entries) plain[key] = plainValue(value)
      return plain
    }
  }
}

export const byPlace = (one: { readonly at: Place }, other: { readonly at: Place }): number => one.at[0] - other.at[0]
