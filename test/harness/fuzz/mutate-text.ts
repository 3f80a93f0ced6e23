import { mutateJson } from './mutate-json.ts'
import type { Random } from './random.ts'

/** No input is longer: what may be larger has limits of its own, which are tested by name. */
export const longest = 64 * 1024

type From = { readonly corpus: readonly string[]; readonly pieces: readonly string[] }

/** An input of the corpus with a few changes. */
export function mutateText(from: From, random: Random): string {
  const before = random.pick(from.corpus)
  if (random.oneIn(3)) {
    const changed = mutateJson(before, from.pieces, random)
    if (changed !== null) return changed.slice(0, longest)
  }
  let text = before
  for (let left = 1 + random.below(random.oneIn(8) ? 12 : 3); left > 0; left -= 1)
    text = random.pick(random.oneIn(3_000) ? enlarging : changes)(text, from, random)
  return text.slice(0, longest)
}

type Change = (text: string, from: From, random: Random) => string

const odd = [
  ...[
    '\0',
    '\u0001',
    '\t',
    '\n',
    '\r',
    '\r\n',
    '\u001b[2J',
    '\u007f',
    '\u0085',
    '\u00a0',
    '\u00ad',
    '\u200b',
    '\u202e',
  ],
  ...[
    '\u2028',
    '\ufeff',
    '\ufffd',
    '\ud800',
    '\udc00',
    '\u0130',
    '\u017f',
    'é',
    '中',
    '👩‍💻',
    '\\',
    '"',
    "'",
    '`',
    '$',
    '{',
    '}',
  ],
]

const insert = (text: string, at: number, piece: string): string => text.slice(0, at) + piece + text.slice(at)

function range(text: string, random: Random): readonly [number, number] {
  const from = random.below(text.length + 1)
  const most = random.oneIn(4) ? text.length : 12
  return [from, Math.min(text.length, from + random.below(most + 1))]
}

const changes: readonly Change[] = [
  (text, { pieces }, random) => insert(text, random.below(text.length + 1), random.pick(pieces)),
  (text, { pieces }, random) => insert(text, random.below(text.length + 1), random.pick(pieces)),
  (text, { pieces }, random) => {
    const [from, to] = range(text, random)
    return text.slice(0, from) + random.pick(pieces) + text.slice(to)
  },
  (text, _, random) => {
    const [from, to] = range(text, random)
    return text.slice(0, from) + text.slice(to)
  },
  (text, _, random) => {
    const [from, to] = range(text, random)
    return insert(text, random.below(text.length + 1), text.slice(from, to))
  },
  (text, { corpus }, random) => {
    const other = random.pick(corpus)
    const [from, to] = range(other, random)
    return insert(text, random.below(text.length + 1), other.slice(from, to))
  },
  (text, { corpus }, random) => {
    const other = random.pick(corpus)
    return text.slice(0, random.below(text.length + 1)) + other.slice(random.below(other.length + 1))
  },
  (text, _, random) => insert(text, random.below(text.length + 1), random.pick(odd)),
  (text, _, random) => insert(text, random.below(text.length + 1), String.fromCharCode(32 + random.below(95))),
  (text, _, random) => insert(text, random.below(text.length + 1), String.fromCharCode(random.below(0x10000))),
  (text, _, random) => {
    const at = random.below(text.length + 1)
    return text.slice(0, at) + String.fromCharCode(32 + random.below(95)) + text.slice(at + 1)
  },
  (text, _, random) => {
    const [from, to] = range(text, random)
    const part = text.slice(from, to)
    return text.slice(0, from) + (random.oneIn(2) ? part.toUpperCase() : part.toLowerCase()) + text.slice(to)
  },
  (text, _, random) => text.slice(0, random.below(text.length + 1)),
  (text, _, random) =>
    text.replace(/\d+/, () => random.pick(['0', '-1', '1e999', '1', '2147483648', '9007199254740993', '0.5', 'NaN'])),
]

/** What a pattern may look for as often as it likes, so that it looks again from each place. */
const pumped = [
  ...[
    '1',
    'a',
    'A',
    ' ',
    '\t',
    '.',
    '*',
    '_',
    '-',
    '/',
    '\\',
    '"',
    "'",
    '`',
    '(',
    '[',
    '{',
    '<',
    '#',
    '>',
    '|',
    ':',
    '=',
    ',',
  ],
  ...[
    '\n',
    '\r\n',
    ':1',
    'a/',
    './',
    'a.',
    'a ',
    ' \n',
    'aA',
    '\u0301',
    'é',
    '""',
    '{}',
    '[]',
    '()',
    '<>',
    '\\"',
    '- ',
    '> ',
  ],
]

/** Up to the limit, since what takes long takes long on long inputs. */
const enlarging: readonly Change[] = [
  (text, _, random) => repeated(text, range(text, random), longest, random),
  (text, _, random) => repeated(text, range(text, random), 4096, random),
  (text, { pieces }, random) => {
    const at = random.below(text.length + 1)
    const piece = Array.from({ length: 1 + random.below(3) }, () => random.pick(pieces)).join('')
    return repeated(insert(text, at, piece), [at, at + piece.length], longest, random)
  },
  (text, _, random) => {
    const at = random.below(text.length + 1)
    return insert(text, at, random.pick(pumped).repeat((longest - text.length) >> (1 + random.below(3))))
  },
  // The same again and again with a number in it, so that no two are alike.
  (text, { pieces }, random) => {
    const [before, behind] = [random.pick(pieces), random.pick(pieces)]
    const times = Math.floor((longest - text.length) / (before.length + behind.length + 4))
    const many = Array.from({ length: Math.max(0, random.oneIn(2) ? times : random.below(times)) }, (_, n) => n)
    return insert(text, random.below(text.length + 1), many.map((n) => `${before}${n}${behind}`).join(''))
  },
]

function repeated(text: string, [from, to]: readonly [number, number], most: number, random: Random): string {
  const part = text.slice(from, to)
  if (part === '') return text
  const times = Math.floor(Math.max(0, most - text.length) / part.length)
  return insert(text, to, part.repeat(random.oneIn(2) ? times : random.below(times + 1)))
}
