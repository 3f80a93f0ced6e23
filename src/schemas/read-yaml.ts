import { isAlias, isMap, isScalar, isSeq, type LineCounter, type Node, type YAMLMap } from 'yaml'
import { composeYaml } from './compose-yaml.ts'
import type { Entry, Finding, Located, Place } from './located.ts'
import { keyName, quoted, showValue } from './show-value.ts'

export type YamlReading = {
  readonly root: Located
  /** Where the text is no YAML. What stands near is then a guess. */
  readonly syntax: readonly Finding[]
  readonly findings: readonly Finding[]
  readonly lines: LineCounter
}

/** A YAML text as one value whose parts know their places. It does not throw, whatever the text. */
export function readYaml(text: string): YamlReading {
  const { documents, findings: syntax, lines } = composeYaml(text)
  const [first, second] = documents
  const walk: Walk = { anchors: new Map(), open: new Set(), findings: [], left: maxValues }
  const root = locate(first?.contents ?? null, '', [0, 0], walk)
  if (second) {
    const at = second.contents?.range ?? second.range
    const hint = 'Keep everything in one, without a line --- in between.'
    walk.findings.push({ at: [at[0], at[0]], path: '', message: 'A second document begins here.', hint })
  }
  return { root, syntax, findings: walk.findings, lines }
}

type Walk = {
  readonly anchors: Map<string, Node>
  /** What is being read just now: an alias to one of these would never end. */
  readonly open: Set<Node>
  readonly findings: Finding[]
  /** Counts down, so that aliases of aliases cannot multiply. */
  left: number
}
const maxValues = 5000

function locate(node: Node | null, path: string, fallback: Place, walk: Walk): Located {
  const at = placeOf(node, fallback)
  walk.left -= 1
  if (walk.left < 0) {
    if (walk.left === -1) walk.findings.push({ at, path, message: 'The aliases (*) multiply to too many values.' })
    return { kind: 'scalar', value: null, path, at }
  }
  if (node?.anchor) walk.anchors.set(node.anchor, node)
  if (isAlias(node)) return locateAlias(node.source, path, at, walk)
  if (isMap<Node | null, Node | null>(node)) {
    return { kind: 'map', entries: whileOpen(node, walk, () => locateEntries(node, path, walk)), path, at }
  }
  if (isSeq<Node | null>(node)) {
    const items = whileOpen(node, walk, () => node.items.map((item, i) => locate(item, `${path}[${i}]`, at, walk)))
    return { kind: 'list', items, path, at }
  }
  return { kind: 'scalar', value: isScalar(node) ? plainScalar(node.value) : null, path, at }
}

function locateAlias(name: string, path: string, at: Place, walk: Walk): Located {
  const target = walk.anchors.get(name)
  if (target && !walk.open.has(target)) return { ...locate(target, path, at, walk), at }
  walk.findings.push(
    target
      ? { at, path, message: `${quoted(`*${name}`)} stands within what it repeats.` }
      : {
          at,
          path,
          message: `There is no ${quoted(`&${name}`)} for ${quoted(`*${name}`)} to repeat.`,
          hint: 'If it is meant as text, put it in quotes.',
        },
  )
  return { kind: 'scalar', value: null, path, at }
}

function locateEntries(map: YAMLMap<Node | null, Node | null>, parent: string, walk: Walk): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>()
  for (const pair of map.items) {
    const key = placeOf(pair.key, placeOf(map, [0, 0]))
    if (!isScalar(pair.key) || typeof pair.key.value !== 'string') {
      const found = locate(pair.key, parent, key, walk)
      walk.findings.push({ at: key, path: parent, message: `A key must be a text, found ${showValue(found)}.` })
      continue
    }
    const name = pair.key.value
    const path = parent === '' ? keyName(name) : `${parent}.${keyName(name)}`
    const earlier = entries.get(name)
    if (earlier) walk.findings.push({ at: key, path, message: `${path} is written twice.`, hint: 'Keep one of them.' })
    else entries.set(name, { key, value: locate(pair.value, path, [key[1], key[1]], walk) })
  }
  return entries
}

function whileOpen<T>(node: Node, { open }: Walk, read: () => T): T {
  open.add(node)
  const result = read()
  open.delete(node)
  return result
}

const placeOf = (node: Node | null, fallback: Place): Place => (node?.range ? [node.range[0], node.range[1]] : fallback)

const plainScalar = (value: unknown): string | number | boolean | null =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || value === null
    ? value
    : String(value)
