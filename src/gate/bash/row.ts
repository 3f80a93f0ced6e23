import { posix } from 'node:path'
import { patternMark, refuse } from './refusal.ts'

/** What is on the disk, which only the kernel says. */
export type Disk = {
  /** What really is at an absolute path; null where there is nothing. */
  readonly look: (path: string) => Found | null
  /** The names in a folder that are neither files nor folders: links, pipes, devices. */
  readonly oddNames: (folder: string) => readonly string[]
}

/** `isOrdinary`: a file or a folder, which can be read to its end. */
export type Found = { readonly real: string; readonly isOrdinary: boolean; readonly isFolder: boolean }

/** Where a command stands: in a pipe, and in folders other than the worktree's root. */
export type RowContext = {
  readonly isPiped: boolean
  readonly directories: readonly string[]
  /** The absolute paths that an operand may mean. */
  readonly places: (path: string) => readonly string[]
} & Disk

/** Checks the words after a command's name against its row. */
export function checkRow(listed: CommandRow, name: string, words: readonly string[], context: RowContext): void {
  const row = withRules(listed)
  const call = readFlags(words, row, name, context)
  const pattern = misplacedPattern(call, row)
  if (pattern !== undefined) refuse('glob', pattern, 'is a pattern where it may become more than one file to read')
  row.check?.(call)
  checkOperands(call, row)
}

/** A pattern may become any number of words, so all of them have to be files to read. */
function misplacedPattern(call: Call, row: WholeRow): string | undefined {
  const takesAny = (row.operands === 'files' || row.operands === 'paths') && row.mostOperands === undefined
  const others = takesAny ? call.operands.slice(0, call.operands.length - filesOf(call, row).length) : call.operands
  return [...call.flags.map(({ value = '' }) => value), ...others].find((text) => text.includes(patternMark))
}

/** The operands without the one that is a pattern or a program. */
const filesOf = (call: Call, { firstIsProgram }: WholeRow): readonly string[] =>
  call.operands.slice(firstIsProgram !== undefined && !hasFlag(call, firstIsProgram) ? 1 : 0)

function checkOperands(call: Call, row: WholeRow): void {
  const { operands, name, isPiped, directories } = call
  const most = row.operands === 'none' ? 0 : (row.mostOperands ?? Number.POSITIVE_INFINITY)
  const extra = operands[most] ?? ''
  if (operands.length > most) refuse('operand', extra, `is one argument too many for ${name}`)
  const waits = (): never => refuse('stdin', name, 'has nothing to read and would wait for stdin')
  if (row.needsPipe !== undefined && !isPiped && hasFlag(call, row.needsPipe)) waits()
  if (row.operands !== 'files') return
  const files = filesOf(call, row)
  // Without a file some of them read the folder in which they stand.
  for (const file of files.length === 0 && !isPiped && directories.length > 0 ? ['.'] : files) {
    if (file !== '-') checkFile(file, call)
    else if (!isPiped) refuse('stdin', '-', `makes ${name} wait for stdin`)
  }
  if (row.readsStdin === undefined) return
  // `sort +1` and `uniq +1` take a number, not a file; where the old syntax is supported, `tail +1f file` never ends.
  const old = files.find((file) => file.startsWith('+'))
  if (old !== undefined)
    refuse('operand', old, 'is the old way to give a number', `Use -n or -k; a file of that name is ./${old}.`)
  // A tool's shell has no input: a command that waits for stdin gets nothing, or never ends.
  if (!isPiped && files.length === 0 && row.mayReadNothing !== true && !hasFlag(call, row.readsStdin)) waits()
}

/** By the value they take. A wrong kind moves the border between flags and operands: try it on the real program. */
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

type RowPart = Flags & Rules

export type CommandRow = {
  /** Its words: `rg`; for git the subcommand, `stash list`. */
  readonly name: string
  readonly flags: readonly RowPart[]
  /** What the operands are: files that are opened, paths that are only listed, or words. */
  readonly operands: 'files' | 'paths' | 'words' | 'none'
}

type Rules = {
  readonly mostOperands?: number
  /** The first operand is a pattern or a program, not a file, unless one of these flags gives it. */
  readonly firstIsProgram?: string
  /** Without a file it waits for stdin, unless one of these flags is there. */
  readonly readsStdin?: string
  /** With the empty stdin of Claude Code's shell it ends at once: half of a pipe that was taken apart. */
  readonly mayReadNothing?: true
  /** Flags that make it read stdin, whatever else is given. */
  readonly needsPipe?: string
  /** A short flag takes its value from the next word, even in the middle of a cluster. */
  readonly splitsClusters?: true
  /** It reads one flag in a word, and ignores the letters behind it. */
  readonly hasNoClusters?: true
  /** Well-known flags that are refused, by what they do. */
  readonly refused?: { readonly [does in keyof typeof effects]?: string }
  /** Refuses what flags and operands mean together. */
  readonly check?: (call: Call) => void
}

/** Parts may stand in several rows. */
export const row = (name: string, operands: CommandRow['operands'], ...flags: readonly RowPart[]): CommandRow => ({
  name,
  operands,
  flags,
})

type WholeRow = CommandRow & Rules

/** The rules of all parts together. Computed on demand, since a call needs one or two rows. */
export const withRules = (row: CommandRow): WholeRow => Object.assign({}, ...row.flags, row)

export const about: Flags = { plain: '--help --version' }
export const numbers: Flags = { plain: '-0 -1 -2 -3 -4 -5 -6 -7 -8 -9' }

/** A row of a command that reads files, or else stdin. */
export const reader = (name: string, ...parts: readonly RowPart[]): CommandRow =>
  row(name, 'files', about, { readsStdin: '--help --version' }, ...parts)

/** A command with its flags separated from its operands. */
export type Call = {
  readonly name: string
  readonly flags: readonly Flag[]
  readonly operands: readonly string[]
  readonly operandsBeforeDashes: number
  readonly hasDashes: boolean
} & RowContext
type Flag = { readonly name: string; readonly value?: string; readonly operandsBefore: number }

export const hasFlag = ({ flags }: Call, names: string): boolean => {
  const listed = names.split(' ')
  return flags.some(({ name }) => listed.includes(name))
}

/** Separates flags from operands; each flag has to be on the row's list. */
function readFlags(words: readonly string[], row: WholeRow, name: string, context: RowContext): Call {
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
    if (word === '-' || !word.startsWith('-')) operands.push(word)
    else {
      const add = (name: string, value?: string): void => {
        flags.push({ name, operandsBefore: operands.length, ...(value === undefined ? {} : { value }) })
      }
      index += readFlagWord({ word, next: words.slice(index + 1, index + 3), row, name, add, context })
    }
  }
  const hasDashes = operandsBeforeDashes !== undefined
  return { name, flags, operands, operandsBeforeDashes: operandsBeforeDashes ?? operands.length, hasDashes, ...context }
}

type FlagWord = {
  readonly word: string
  /** The words after it, of which it may take one or two. */
  readonly next: readonly string[]
  readonly row: WholeRow
  readonly name: string
  readonly context: RowContext
  readonly add: (flag: string, value?: string) => void
}

/** `-la`, `-n5`, `-rnA3`, `--color=never`. Returns how many of the next words it takes. */
function readFlagWord(asked: FlagWord): number {
  const { word, row, context, add } = asked
  const listed = flagKinds(row.flags)
  const whole = listed.get(word)
  if (whole !== undefined) return readOwnWords(word, whole, asked)
  if (word.startsWith('--')) {
    const [, flag = word, value] = /^(--[^=]*)=(.*)$/s.exec(word) ?? []
    const kind = value === undefined ? undefined : listed.get(flag)
    if (kind === undefined || value === undefined) return refuseFlag(flag, asked)
    if (kind === 'plain' || kind === 'pair')
      refuse('value', word, `gives ${flag} a value with =, which it does not take`, `Write ${flag} alone.`)
    kinds[kind].check?.(value, flag, context)
    add(flag, value)
    return 0
  }
  // Letters, of which the last may take the rest of the word or the next one.
  for (let at = 1; at < word.length; at += 1) {
    const [flag, rest] = [`-${word[at]}`, word.slice(at + 1)]
    const kind = listed.get(flag) ?? refuseFlag(flag, asked)
    if (row.hasNoClusters && at > 1)
      refuse('value', word, 'is more than one flag in a word', `Write ${flag} as a word of its own.`)
    if (kind === 'plain' || (kind === 'optional' && rest === '')) {
      add(flag)
      continue
    }
    if (rest === '') return readOwnWords(flag, kind, asked)
    if (kind === 'pair' || (kind === 'optional' || row.splitsClusters ? !/^[\d.,%/]+$/.test(rest) : false))
      refuse('value', word, `puts something behind ${flag} in the same word`, `Write ${flag} as a word of its own.`)
    kinds[kind].check?.(rest, flag, context)
    add(flag, rest)
    return 0
  }
  return 0
}

/** A flag that ends its word: its values are words of their own. */
function readOwnWords(flag: string, kind: FlagKind, { next, name, context, add }: FlagWord): number {
  const { takes, mayBeLast, mayLookLikeFlag, check } = kinds[kind]
  if (takes === 0 || (next.length === 0 && mayBeLast)) {
    add(flag)
    return 0
  }
  if (next.length < takes) refuse('value', flag, `ends ${name}, but needs a value`, `Say which: ${flag} <value>.`)
  const value = next.slice(0, takes).join(' ')
  // Programs differ in whether they take it for one.
  if (!mayLookLikeFlag && /^-(?!\d)/.test(value) && value !== '-')
    refuse('value', `${flag} ${value}`, 'gives a value that looks like a flag', `Write it in one word with ${flag}.`)
  check?.(value, flag, context)
  add(flag, value)
  return takes
}

const effects = {
  runs: 'runs a program',
  writes: 'writes a file',
  changes: 'changes what is there',
  loads: 'reads what the gate cannot see from another file',
  waits: 'waits, and may never end',
} as const

/** The flag is not on the list; for a well-known one the refusal says what it does. */
function refuseFlag(flag: string, { word, row: { refused = {} }, name }: FlagWord): never {
  for (const does of Object.keys(effects) as (keyof typeof effects)[])
    if (refused[does]?.split(' ').includes(flag))
      refuse('flag', word, `(${name}) ${effects[does]}`, `Leave ${flag} out.`)
  const what = flag === word ? 'is' : `holds ${flag}, which is`
  const why = `${what} not on the list of ${name} flags that only read`
  refuse('flag', word, why, `Leave ${flag} out. Long flags are spelled in full.`)
}

type CheckValue = (value: string, flag: string, context: RowContext) => void

const number = /^[-+]?\d{1,9}(\.\d+)?([kKMGTPEZYRQ](i?B)?|[bBcw%])?$/
/** `%G?`, `%+G?` and `%(signature)` check a signature: git runs gpg, or what gpg.program names. */
const signature = /%[-+ ]?G|%\(\*?signature/
const sortKey =
  /^-?(?:(?:version|v):)?(?:refname|object(?:name|type|size)|(?:author|committer|creator|tagger)(?:name|email|date)?|numparent|subject|body|HEAD|upstream|push)(?::(?:short|unix|iso|relative))?$/

const checkNumber: CheckValue = (value, flag) => {
  if (!number.test(value)) refuse('value', `${flag} ${value}`, 'does not give a number', `Write ${flag} and a number.`)
}
const checkFormat: CheckValue = (value) => {
  if (signature.test(value))
    refuse('value', value, 'asks for a signature, for which git runs gpg', 'Leave %G… and %(signature…) out.')
}
const checkSortKey: CheckValue = (value) => {
  if (!sortKey.test(value))
    refuse('value', value, 'is not a known sort key', 'Sort by refname, committerdate, version:refname or the like.')
}
const checkFileValue: CheckValue = (value, flag, context) => {
  if (value === '-') refuse('stdin', `${flag} -`, 'reads from stdin')
  checkFile(value, context)
}

/** `takes`: how many of the next words, where nothing is glued to the flag. */
type Kind = { takes: 0 | 1 | 2; mayBeLast?: true; mayLookLikeFlag?: true; check?: CheckValue }

const kinds: { readonly [K in FlagKind]: Kind } = {
  plain: { takes: 0 },
  optional: { takes: 0 },
  optionalFormat: { takes: 0, check: checkFormat },
  number: { takes: 1, mayLookLikeFlag: true, check: checkNumber },
  text: { takes: 1 },
  textUnlessLast: { takes: 1, mayBeLast: true },
  any: { takes: 1, mayLookLikeFlag: true },
  file: { takes: 1, check: checkFileValue },
  format: { takes: 1, check: checkFormat },
  sortKey: { takes: 1, mayLookLikeFlag: true, check: checkSortKey },
  pair: { takes: 2, mayLookLikeFlag: true },
}

const known = new WeakMap<readonly Flags[], ReadonlyMap<string, FlagKind>>()

/** The kind of each flag of a row. */
export function flagKinds(groups: readonly Flags[]): ReadonlyMap<string, FlagKind> {
  const found = known.get(groups)
  if (found !== undefined) return found
  const listed = new Map<string, FlagKind>()
  for (const group of groups)
    for (const kind of Object.keys(kinds) as FlagKind[])
      for (const name of group[kind]?.split(' ') ?? []) listed.set(name, kind)
  known.set(groups, listed)
  return listed
}

/** Reading a device can wait, never end or have an effect; so can much below /proc and /sys. */
const special = ['dev', 'proc', 'sys']
/** `../../dev/…` may be a neighbouring project; these device names are not. */
const deviceNames = /^(console|fd|full|kcore|kmsg|mem|port|ptmx|random|std(in|out|err)|tty\w*|urandom|zero|\d+|self)$/

const secrets =
  /(^|[/:])(\.env(rc|\.(?!example$|sample$|template$)[\w-]+)?|[._]netrc|\.npmrc|\.pypirc|\.pgpass|\.git-credentials|\.(aws|docker|kube)\/(credentials|config(\.json)?)|\.claude\/\.credentials\.json|\.codex\/auth\.json|gh\/hosts\.yml|\.gnupg\/.+|\.ssh\/(?!config$|known_hosts$)[^/]+(?<!\.pub)|id_(rsa|dsa|ecdsa|ed25519)(_\w+)?|etc\/g?shadow)$/i

/** What a pattern with a first letter of its own may stand for. */
const secretNames =
  '.env .env.local .env.production .netrc .pgpass .git-credentials .aws .docker .gnupg .ssh id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk'.split(
    ' ',
  )
const secretFolders = ['.aws', '.docker', '.gnupg', '.ssh']

/** A file that the command opens, as it is written and as it really is, seen from each folder where the command may run. */
export function checkFile(operand: string, context: RowContext): void {
  const { directories } = context
  const isPattern = operand.startsWith(patternMark)
  const path = isPattern ? operand.slice(1) : operand
  const places = path.startsWith('/') ? [path] : [path, ...directories.map((directory) => `${directory}/${path}`)]
  if (isPattern && places.some(reachesTooFar))
    refuse('glob', path, 'has a pattern where a whole disk lies below', 'Name the folder above it.')
  const found = (isPattern ? patternPlaces(path, context) : context.places(path)).flatMap(
    (place) => context.look(place) ?? [],
  )
  if (
    places.some(isSpecial) ||
    found.some(({ real, isOrdinary }) => ofKernel.test(real) || !(isOrdinary || real === '/dev/null'))
  )
    refuse('special-file', path, 'is a device, a pipe or a file of the kernel: reading it may never end')
  // A pattern stands for files in this folder.
  if (isPattern && found.some(({ real }) => secretFolders.includes(posix.basename(real))))
    refuse('secret', path, 'holds credentials, and what a command prints goes into the transcript')
  const isSecret = places.some((place) => secrets.test(posix.normalize(place)) || (isPattern && mayBeSecret(place)))
  if (isSecret || found.some(({ real }) => secrets.test(real)))
    refuse('secret', path, 'holds credentials, and what a command prints goes into the transcript')
}

/** Files below /dev may be on a memory disk. */
const ofKernel = /^\/(?:dev|(?:proc|sys)(?:\/.*)?)?$/s

/** The folder of a pattern, and the links and pipes that it may stand for; not those behind a folder that is a pattern. */
function patternPlaces(pattern: string, { places, oddNames }: RowContext): string[] {
  const names = pattern.split('/')
  const first = names.findIndex(isGlob)
  const folders = places(first === 0 ? '.' : names.slice(0, first).join('/') || '/')
  const name = toRegExp(names[first] ?? '')
  // Shells differ in what a character is.
  const mayBe = (odd: string): boolean => name.test(odd) || /[^ -~]/.test(odd)
  return [...folders, ...folders.flatMap((at) => oddNames(at).flatMap((odd) => (mayBe(odd) ? [`${at}/${odd}`] : [])))]
}

const isGlob = (name: string): boolean => /[*?[]/.test(name)

/** `/d?/zero`, `../?/x`: from the root, or from above, a pattern may lead to a device. */
function reachesTooFar(path: string): boolean {
  const names = path.split('/')
  const first = names.findIndex(isGlob)
  const isWholeDisk = path.startsWith('/') && !/^\/[^/*?[]+\//.test(posix.normalize(path))
  // Some shells take `.*` and `.?` for `..`, too.
  const isAbove = (name: string): boolean => name === '..' || (/^\.+[*?[]/.test(name) && toRegExp(name).test('..'))
  return isWholeDisk || names[first - 1] === '..' || names.slice(first).some(isAbove)
}

function mayBeSecret(path: string): boolean {
  const names = path.split('/')
  const patterns = names.filter((name) => isGlob(name) && !/^\*+$/.test(name)).map(toRegExp)
  return (
    names.some((name) => secretFolders.includes(name)) ||
    patterns.some((pattern) => secretNames.some((name) => pattern.test(name)))
  )
}

/** Where a bracket ends that is not as simple as `[a-z]`, only a shell knows, so what it fits is not limited. */
function toRegExp(name: string): RegExp {
  const simple = name.replace(/\[[!^]?[\w-]+\]/g, '?')
  const literal = simple.replace(/\[.*\]/, '*').replace(/[\\^$.+(){}|[\]]/g, '\\$&')
  return new RegExp(`^${literal.replaceAll('?', '.').replace(/\*+/g, '.*')}$`)
}

function isSpecial(path: string): boolean {
  const names: string[] = []
  let above = 0
  for (const name of path.split('/')) {
    if (name === '..' && names.pop() === undefined) above += 1
    else if (name !== '' && name !== '.' && name !== '..') names.push(name)
  }
  const [top = '', next = ''] = names
  if (path.startsWith('/'))
    return names.length === 0 || (special.includes(top) && !(top === 'dev' && next === 'null' && names.length === 2))
  return above > 0 && special.includes(top) && (deviceNames.test(next) || isGlob(next))
}
