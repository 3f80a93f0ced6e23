import type { Random } from '../random.ts'
import { forms, one } from './forms.ts'

/** What a gate may be told, with values that two readers of YAML may take for different things. */
const keys: readonly (readonly [path: readonly string[], values: readonly string[]])[] = [
  [
    ['gate', 'scope'],
    ['ask', 'deny', 'off', 'no'],
  ],
  [
    ['gate', 'bash', 'compound'],
    ['true', 'false', 'yes', 'off', 'True', 'FALSE', 'y', '0', '"false"', '!!bool false'],
  ],
  [
    ['gate', 'bash', 'mode'],
    ['auto', 'list', 'sandbox', '[list]'],
  ],
  [
    ['gate', 'bash', 'allow'],
    [
      '[npm test, make check]',
      '[]',
      "[\"a: b\", 'it''s', a #b]",
      '\n    - npm test\n    - "x \\\n      y"',
      '[0x1f, 010, 1_0, 1e3, 12:30, .5]',
      '[~, null, yes]',
      '- a',
      '[a,\nb]',
      '[a\n     b]',
    ],
  ],
  [
    ['gate', 'tools', 'allow'],
    [
      '[mcp__lab__*]',
      '["mcp__*"]',
      '\n  - mcp__a__b',
      '["\\x6dcp__a", \'\\x6d\']',
      '[mcp__a__b # c\n   , d]',
      '[2026-01-01]',
    ],
  ],
  [
    ['gate', 'sandbox', 'approved'],
    ['protect', 'off', 'on', '|\n   off', '>-\n   off', '"o\\\n    ff"'],
  ],
]
const odd = forms(
  '# off\n ¦ \n ¦ ---\n ¦ ...\n ¦ %YAML 1.1\n---\n ¦ \t ¦    ¦ &a  ¦ *a ¦ !!str  ¦ !x  ¦ ?  ¦ \u00a0 ¦ \u2028 ¦ \r ¦ <<: {gate: {scope: off}}\n',
)

/** One value a line or in a table of its own, now and then with something between that a reader may stumble over. */
export function makeConfig(random: Random): string {
  const isOdd = random.oneIn(3)
  const oddity = (): string => (isOdd && random.oneIn(6) ? random.pick(odd) : '')
  const key = (name: string): string =>
    random.pick([name, name, name, name, `"${name}"`, `'${name}'`, `? ${name}\n`, `"${name.replace('a', '\\x61')}"`])
  return Array.from({ length: 1 + random.below(3) }, () => {
    const [path, values] = random.pick(keys)
    const value = random.pick(values)
    if (random.oneIn(4))
      return `${path
        .map((name) => `{${key(name).trim()}: `)
        .join('')
        .slice(1)}${value}${'}'.repeat(path.length - 1)}\n`
    const lines = path.map(
      (name, depth) => `${oddity()}${'  '.repeat(depth)}${key(name)}${isOdd ? one(random, ':  ¦ : ¦  :  ¦ :\t') : ':'}`,
    )
    return `${lines.join(random.oneIn(10) ? ' # x\n' : '\n')} ${oddity()}${value}${oddity()}\n`
  }).join(oddity())
}
