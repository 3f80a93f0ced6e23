import { checkFile } from './files.ts'
import { isRefusal, patternMark, type Refusal, refuse } from './refusal.ts'

/** Where a command stands: in a pipe, and in folders other than the worktree's root. */
export type RowContext = { readonly isPiped: boolean; readonly directories: readonly string[] }

/** Checks the words after a command's name against its row. */
export function checkRow(
  row: CommandRow,
  name: string,
  words: readonly string[],
  context: RowContext,
): Refusal | undefined {
  const call = readFlags(words, row, name, context)
  if (isRefusal(call)) return call
  const pattern = misplacedPattern(call, row)
  if (pattern !== undefined)
    return refuse(
      'glob',
      pattern,
      'is a pattern where it may become more than one file to read',
      'Name the file, or quote it where the command itself takes a pattern.',
    )
  const problem = row.check?.(call)
  if (problem !== undefined) return { kind: 'refused', ...problem }
  return checkOperands(call, row)
}

/** A pattern may become any number of words, so all of them have to be files to read. */
function misplacedPattern(call: Call, row: CommandRow): string | undefined {
  const takesAny = (row.operands === 'files' || row.operands === 'paths') && row.mostOperands === undefined
  const files = takesAny ? filesOf(call, row) : []
  const values = call.flags.flatMap(({ value }) => (value === undefined ? [] : [value]))
  const others = call.operands.slice(0, call.operands.length - files.length)
  return [...values, ...others].find((text) => text.includes(patternMark))
}

/** The operands without the one that is a pattern or a program. */
function filesOf(call: Call, { firstIsProgram }: CommandRow): readonly string[] {
  const takesProgram = firstIsProgram !== undefined && !hasFlag(call, firstIsProgram.unless)
  return takesProgram ? call.operands.slice(1) : call.operands
}

function checkOperands(call: Call, row: CommandRow): Refusal | undefined {
  const { operands, name } = call
  const most = row.operands === 'none' ? 0 : (row.mostOperands ?? Number.POSITIVE_INFINITY)
  if (operands.length > most)
    return refuse(
      'operand',
      operands[most] ?? '',
      most === 0 ? `is one argument too many: ${name} takes flags only` : `is one argument too many for ${name}`,
      most === 0 ? `Write ${name} without it.` : `Give ${name} one argument, and its flags before it.`,
    )
  if (row.needsPipe !== undefined && !call.isPiped && hasFlag(call, row.needsPipe))
    return waits(name, `Put it behind a |, or leave ${row.needsPipe} out.`)
  if (row.operands !== 'files') return undefined
  const rest = filesOf(call, row)
  // Without a file some of them read the folder in which they stand.
  const read = rest.length === 0 && !call.isPiped && call.directories.length > 0 ? ['.'] : rest
  return checkFiles(read, call) ?? checkOldSyntax(rest, row) ?? checkStdin(rest, call, row)
}

function checkFiles(files: readonly string[], { isPiped, name, directories }: Call): Refusal | undefined {
  for (const file of files) {
    if (file === '-' && !isPiped)
      return refuse('stdin', '-', `makes ${name} wait for stdin`, 'Name a file, or put the command behind a |.')
    const refusal = file === '-' ? undefined : checkFile(file, directories)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/** `sort +1` and `uniq +1` take a number, not a file; where the old syntax is supported, `tail +1f file` never ends. */
function checkOldSyntax(files: readonly string[], { readsStdin }: CommandRow): Refusal | undefined {
  const old = readsStdin === undefined ? undefined : files.find((file) => file.startsWith('+'))
  return old === undefined
    ? undefined
    : refuse(
        'operand',
        old,
        'is the old way to give a number',
        `Use flags such as -n or -k; a file of that name is ./${old}.`,
      )
}

/** A tool's shell has no input: a command that waits for stdin gets nothing, or never ends. */
function checkStdin(
  files: readonly string[],
  call: Call,
  { readsStdin, mayReadNothing }: CommandRow,
): Refusal | undefined {
  if (readsStdin === undefined || mayReadNothing === true || call.isPiped || files.length > 0) return undefined
  if (hasFlag(call, readsStdin.unless)) return undefined
  return waits(call.name, `Name a file: ${call.name} … <file>. Behind a | it needs none.`)
}

const waits = (name: string, hint: string): Refusal =>
  refuse('stdin', name, 'has nothing to read and would wait for stdin', hint)

/**
 * The flags of a command that only read, by the value they take. Names are separated by blanks and matched whole;
 * several short flags may form one word, such as `-la`.
 *
 * A flag that is listed with the wrong kind of value moves the border between flags and operands: `--` itself could be
 * swallowed. Try it on the real program.
 */
export type Flags = {
  /** Nothing. An entry with `=` is one spelling: `--porcelain=v2`. */
  readonly plain?: string
  /** A value, but only behind `=`, or digits in the same word where the flag is short: `--color=never`, `-U3`. */
  readonly optional?: string
  /** A number, perhaps with a sign or a unit. */
  readonly number?: string
  /** A text; where it is a word of its own, it does not look like a flag. */
  readonly text?: string
  /** A text, unless it is the last word: git branch --contains. */
  readonly textUnlessLast?: string
  /** A text that may begin with `-`. */
  readonly any?: string
  readonly file?: string
  /** A format of git, which can ask for a signature and so run gpg. */
  readonly format?: string
  /** The same, but only behind `=`. */
  readonly optionalFormat?: string
  /** A key by which git sorts references: `signature` runs gpg. */
  readonly sortKey?: string
  /** Two words. */
  readonly pair?: string
}
export type FlagKind = keyof Flags

export type CommandRow = {
  /** Its words: `rg`; for git the subcommand, `stash list`. */
  readonly name: string
  readonly flags: readonly Flags[]
  /** What the operands are: files that are opened, paths that are only listed, or words. */
  readonly operands: 'files' | 'paths' | 'words' | 'none'
  readonly mostOperands?: number
  /** The first operand is a pattern or a program, not a file, unless one of these flags gives it. */
  readonly firstIsProgram?: { readonly unless: string }
  /** Without a file it waits for stdin, unless one of these flags is there. */
  readonly readsStdin?: { readonly unless: string }
  /**
   * With an empty stdin, which is what Claude Code gives its shell (/dev/null), it ends at once: the command is half of
   * a pipe that was taken apart.
   */
  readonly mayReadNothing?: true
  /** Flags that make it read stdin, whatever else is given. */
  readonly needsPipe?: string
  /** A short flag takes its value from the next word, even in the middle of a cluster. */
  readonly splitsClusters?: true
  /** Well-known flags that are refused: the effect of each, and the alternative. */
  readonly refused?: { readonly [flags: string]: Advice }
  /** A check of flags and operands together. */
  readonly check?: (call: Call) => Problem | undefined
}

/** A row without special cases. */
export const row = (name: string, operands: CommandRow['operands'], ...flags: readonly Flags[]): CommandRow => ({
  name,
  operands,
  flags,
})

type Advice = readonly [does: string, hint: string]

/** A command with its flags separated from its operands. */
export type Call = {
  readonly kind: 'call'
  readonly name: string
  readonly flags: readonly Flag[]
  readonly operands: readonly string[]
  readonly operandsBeforeDashes: number
  readonly isPiped: boolean
  readonly directories: readonly string[]
}
type Flag = { readonly name: string; readonly value?: string; readonly operandsBefore: number }
export type Problem = Pick<Refusal, 'rule' | 'part' | 'why' | 'hint'>

export const hasFlag = ({ flags }: Call, names: string): boolean => {
  const listed = names.split(' ')
  return flags.some(({ name }) => listed.includes(name))
}

/** Separates flags from operands; each flag has to be on the row's list. */
function readFlags(words: readonly string[], row: CommandRow, name: string, context: RowContext): Call | Refusal {
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
    const next = words.slice(index + 1, index + 3)
    const read = readFlagWord({ word, next, kinds, row, name, directories: context.directories })
    if (isRefusal(read)) return read
    flags.push(...read.flags.map((flag) => ({ ...flag, operandsBefore: operands.length })))
    index += read.taken
  }
  operandsBeforeDashes ??= operands.length
  return { kind: 'call', name, flags, operands, operandsBeforeDashes, ...context }
}

type FlagWord = {
  readonly word: string
  /** The words after it, of which it may take one or two. */
  readonly next: readonly string[]
  readonly kinds: KindOfFlag
  readonly row: CommandRow
  readonly name: string
  readonly directories: readonly string[]
}
type Read = { readonly kind: 'read'; readonly flags: Omit<Flag, 'operandsBefore'>[]; readonly taken: number }

function readFlagWord(asked: FlagWord): Read | Refusal {
  const { word, kinds } = asked
  const whole = kinds.get(word)
  if (whole !== undefined) return readFlag(word, whole, asked)
  return word.startsWith('--') ? readLong(asked) : readCluster(asked)
}

/** A flag that ends its word: its values are words of their own. */
function readFlag(flag: string, kind: FlagKind, { next, name, directories }: FlagWord): Read | Refusal {
  const [value] = next
  switch (kind) {
    case 'plain':
    case 'optional':
    case 'optionalFormat':
      return { kind: 'read', flags: [{ name: flag }], taken: 0 }
    case 'pair':
      return next.length < 2
        ? valueMissing(flag, name)
        : { kind: 'read', flags: [{ name: flag, value: next.join(' ') }], taken: 2 }
    case 'textUnlessLast':
    case 'number':
    case 'text':
    case 'any':
    case 'file':
    case 'format':
    case 'sortKey':
      if (value !== undefined)
        return (
          checkOwnWord(kind, flag, value, directories) ?? { kind: 'read', flags: [{ name: flag, value }], taken: 1 }
        )
      return kind === 'textUnlessLast' ? { kind: 'read', flags: [{ name: flag }], taken: 0 } : valueMissing(flag, name)
  }
}

const valueMissing = (flag: string, name: string): Refusal =>
  refuse('value', flag, `ends ${name}, but needs a value`, `Say which: ${flag} <value>.`)

function readLong(asked: FlagWord): Read | Refusal {
  const { word, kinds } = asked
  const equals = word.indexOf('=')
  const flag = equals < 0 ? word : word.slice(0, equals)
  const kind = equals < 0 ? undefined : kinds.get(flag)
  if (kind === undefined) return unlisted(flag, asked)
  const value = word.slice(equals + 1)
  if (kind === 'plain' || kind === 'pair')
    return refuse('value', word, `gives ${flag} a value with =, which it does not take`, `Write ${flag} alone.`)
  return checkValue(kind, flag, value, asked.directories) ?? { kind: 'read', flags: [{ name: flag, value }], taken: 0 }
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
      return (
        checkValue(kind, flag, rest, asked.directories) ?? {
          kind: 'read',
          flags: [...flags, { name: flag, value: rest }],
          taken: 0,
        }
      )
  }
  return { kind: 'read', flags, taken: 0 }
}

/** The flag is not on the list; for a well-known one the refusal says what it does. */
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

type Valued = Exclude<FlagKind, 'plain' | 'pair'>

const number = /^[-+]?\d+(\.\d+)?([kKMGTPEZYRQ](i?B)?|[bBcw%])?$/
/** `%G?`, `%+G?` and `%(signature)` check a signature: git runs gpg, or what gpg.program names. */
const signature = /%[-+ ]?G|%\(\*?signature/

const sortKey =
  /^-?(?:(?:version|v):)?(?:refname|object(?:name|type|size)|(?:author|committer|creator|tagger)(?:name|email|date)?|numparent|subject|body|HEAD|upstream|push)(?::(?:short|unix|iso|relative))?$/

function checkValue(kind: Valued, flag: string, value: string, directories: readonly string[]): Refusal | undefined {
  switch (kind) {
    case 'optional':
    case 'text':
    case 'textUnlessLast':
    case 'any':
      return undefined
    case 'number':
      return number.test(value)
        ? undefined
        : refuse('value', `${flag} ${value}`, 'does not give a number', `Write ${flag} and a number.`)
    case 'file':
      return value === '-'
        ? refuse('stdin', `${flag} -`, 'reads from stdin', 'Name a file.')
        : checkFile(value, directories)
    case 'sortKey':
      return sortKey.test(value)
        ? undefined
        : refuse(
            'value',
            value,
            'is not a known sort key',
            'Sort by refname, committerdate, version:refname or the like.',
          )
    case 'format':
    case 'optionalFormat':
      return signature.test(value)
        ? refuse('value', value, 'asks for a signature, for which git runs gpg', 'Leave %G… and %(signature…) out.')
        : undefined
  }
}

/** A value that is a word of its own must not look like a flag: programs differ in whether they take it as one. */
function checkOwnWord(kind: Valued, flag: string, value: string, directories: readonly string[]): Refusal | undefined {
  if (kind === 'any') return undefined
  if (kind !== 'number' && kind !== 'sortKey' && /^-(?!\d)/.test(value) && value !== '-')
    return refuse(
      'value',
      `${flag} ${value}`,
      'gives a value that looks like a flag',
      `Write it in one word with ${flag}.`,
    )
  return checkValue(kind, flag, value, directories)
}

type KindOfFlag = ReadonlyMap<string, FlagKind>

const known = new WeakMap<readonly Flags[], KindOfFlag>()

/** The kind of each flag of a row. Computed on demand, since a call needs one or two rows. */
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
