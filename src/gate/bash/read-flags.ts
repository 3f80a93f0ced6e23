import { checkOwnWord, checkValue } from './check-value.ts'
import type { Call, CommandRow, Flag, FlagKind } from './command-row.ts'
import { flagKinds, type KindOfFlag } from './flag-kinds.ts'
import { isRefusal, type Refusal, refuse } from './refusal.ts'

/** Tells the flags of a command from its operands; each flag has to be on the row's list. */
export function readFlags(words: readonly string[], row: CommandRow, name: string, isPiped: boolean): Call | Refusal {
  const kinds = flagKinds(row.flags)
  const flags: Flag[] = []
  const operands: string[] = []
  let operandsBeforeDashes: number | undefined
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? ''
    if (word === '--') {
      operandsBeforeDashes = operands.length
      operands.push(...words.slice(index + 1))
      break
    }
    if (word === '-' || !word.startsWith('-')) {
      operands.push(word)
      continue
    }
    const read = readFlagWord({ word, next: words.slice(index + 1, index + 3), kinds, row, name })
    if (isRefusal(read)) return read
    flags.push(...read.flags.map((flag) => ({ ...flag, operandsBefore: operands.length })))
    index += read.taken
  }
  operandsBeforeDashes ??= operands.length
  return { kind: 'call', name, flags, operands, operandsBeforeDashes, isPiped }
}

type FlagWord = {
  readonly word: string
  /** The words behind it, of which it may take one or two. */
  readonly next: readonly string[]
  readonly kinds: KindOfFlag
  readonly row: CommandRow
  readonly name: string
}
type Read = { readonly kind: 'read'; readonly flags: Omit<Flag, 'operandsBefore'>[]; readonly taken: number }

function readFlagWord(asked: FlagWord): Read | Refusal {
  const { word, kinds } = asked
  const whole = kinds.get(word)
  if (whole !== undefined) return readFlag(word, whole, asked)
  return word.startsWith('--') ? readLong(asked) : readCluster(asked)
}

/** A flag that ends its word: what it takes, if anything, are words of their own. */
function readFlag(flag: string, kind: FlagKind, { next, name }: FlagWord): Read | Refusal {
  const [value] = next
  switch (kind) {
    case 'plain':
    case 'optional':
    case 'optionalFormat':
      return { kind: 'read', flags: [{ name: flag }], taken: 0 }
    case 'pair':
      return next.length < 2 ? valueMissing(flag, name) : { kind: 'read', flags: [{ name: flag }], taken: 2 }
    case 'textUnlessLast':
    case 'number':
    case 'text':
    case 'any':
    case 'file':
    case 'format':
      if (value !== undefined)
        return checkOwnWord(kind, flag, value) ?? { kind: 'read', flags: [{ name: flag, value }], taken: 1 }
      return kind === 'textUnlessLast' ? { kind: 'read', flags: [{ name: flag }], taken: 0 } : valueMissing(flag, name)
  }
}

const valueMissing = (flag: string, name: string): Refusal =>
  refuse('value', flag, `ends ${name}, but takes a value`, `Say which: ${flag} <value>.`)

function readLong(asked: FlagWord): Read | Refusal {
  const { word, kinds } = asked
  const equals = word.indexOf('=')
  const flag = equals < 0 ? word : word.slice(0, equals)
  const kind = equals < 0 ? undefined : kinds.get(flag)
  if (kind === undefined) return unlisted(flag, asked)
  const value = word.slice(equals + 1)
  if (kind === 'plain' || kind === 'pair')
    return refuse('value', word, `gives ${flag} a value with =, which it does not take`, `Write ${flag} alone.`)
  return checkValue(kind, flag, value) ?? { kind: 'read', flags: [{ name: flag, value }], taken: 0 }
}

/** `-la`, `-n5`, `-rnA3`: letters, of which the last may take the rest of the word or the next one. */
function readCluster(asked: FlagWord): Read | Refusal {
  const { word, kinds, row } = asked
  const flags: Omit<Flag, 'operandsBefore'>[] = []
  for (let at = 1; at < word.length; at += 1) {
    const flag = `-${word[at]}`
    const kind = kinds.get(flag)
    const rest = word.slice(at + 1)
    if (kind === undefined) return unlisted(flag, asked)
    if (kind === 'plain' || (kind === 'optional' && rest === '')) flags.push({ name: flag })
    else if (rest === '') {
      const last = readFlag(flag, kind, asked)
      return isRefusal(last) ? last : { kind: 'read', flags: [...flags, ...last.flags], taken: last.taken }
    } else if (kind === 'pair' || (kind === 'optional' || row.splitsClusters ? !/^[\d.,%/]+$/.test(rest) : false))
      return refuse(
        'value',
        word,
        `puts something behind ${flag} in the same word`,
        `Write ${flag} as a word of its own.`,
      )
    else
      return checkValue(kind, flag, rest) ?? { kind: 'read', flags: [...flags, { name: flag, value: rest }], taken: 0 }
  }
  return { kind: 'read', flags, taken: 0 }
}

/** The flag is not on the list; where it is a known one, the refusal says what it would do. */
function unlisted(flag: string, { word, row, name }: FlagWord): Refusal {
  const advice = Object.entries(row.refused ?? {}).find(([flags]) => flags.split(' ').includes(flag))?.[1]
  if (advice !== undefined) return refuse('flag', word, `(${name}) ${advice[0]}`, advice[1])
  return refuse(
    'flag',
    word,
    flag === word
      ? `is not on the list of ${name} flags that only read`
      : `holds ${flag}, which is not on the list of ${name} flags that only read`,
    `Leave ${flag} out. Long flags are spelled in full.`,
  )
}
