import { patternMark, refuse } from './refusal.ts'
import { about, type Call, type CommandRow, checkFile, checkRow, hasFlag, type RowContext, reader, row } from './row.ts'

/** Commands with a language: a program has to be one of a few forms that every version reads alike. And find, xargs. */

/** Seds differ in where a delimiter inside of `[…]` or behind a backslash ends; so these may not stand there. */
const upTo = (delimiter: string): string => String.raw`[^\\[\];\u0000-\u001f\u007f-\uffff${delimiter}]`
const address = String.raw`(?:\d+|\$|/${upTo('/')}+/)`
const substitutions = ['/', '|', '#', ',', '@'].map((delimiter) => {
  const text = `${upTo(delimiter)}*[${delimiter}]`
  return `s[${delimiter}]${text}${text}[gpI0-9]{0,5}`
})
const sedCommand = new RegExp(
  String.raw`^ *(?:${address}(?:,(?:\+\d+|${address}))? *!? *)?(?:[pdq=]|${substitutions.join('|')}) *$`,
)

function checkSedScript(call: Call): void {
  const given = call.flags.filter(({ name }) => /^(-e|--expression)$/.test(name))
  // Behind an operand, -e is one itself where options end there (macOS, POSIXLY_CORRECT), and that operand the script.
  const isFirst = given.some(({ operandsBefore }) => operandsBefore === 0)
  const scripts = [...given.map(({ value = '' }) => value), ...(isFirst ? [] : call.operands.slice(0, 1))]
  // sed opens the files that a script writes while it parses the script, so a later --help is too late.
  if (scripts.length === 0 && hasFlag(call, '--help --version')) return
  const unknown = scripts.flatMap((script) => script.split(';')).find((one) => !sedCommand.test(one))
  if (unknown === undefined && scripts.length > 0) return
  refuse(
    'program',
    unknown ?? 'sed',
    'is not one of the sed commands that only print and that every sed reads alike',
    "Use sed -n '10,20p' <file>, /words/ and s/…/…/g without [ ] and backslashes, or the Read tool.",
  )
}

const jqString = String.raw`"(?:[^"\\]|\\["\\/bfnrt])*"`
/** Everything that jq gives a name and that neither leaves its input nor goes on for ever. */
const jqWords =
  'add all and any arrays as ascii_downcase ascii_upcase booleans capture contains elif else empty end endswith false first flatten from_entries fromjson group_by has if implode in index indices inside join keys keys_unsorted last length map map_values match max max_by min min_by not null nulls numbers objects or paths reverse rindex scalars select sort sort_by split startswith strings sub gsub test then to_entries tojson tonumber tostring transpose true try catch type unique unique_by values with_entries'.split(
    ' ',
  )
const jqTokens = new RegExp(
  String.raw`\s+|\.\.|\.?${jqString}|\.[A-Za-z_]\w*|\.|\d+(?:\.\d+)?|@(?:base64|base64d|csv|html|json|sh|text|tsv|uri)\b|\$(?!ENV\b|__)[A-Za-z_]\w*|[A-Za-z_]\w*|[|,:;?()[\]{}+*/%<>=!-]`,
  'y',
)

/** It matches at least one character, also where blanks do not count. */
const jqPattern = /^"\^?(?:(?:[\w:;,.@%&=<>~'!/ -]|\\\\[./dws-]|\[\^?[\w :;,.@%/-]+\])\+?)+\$?"$/

/** The environment, other files and endless loops all begin with a word that is not on the list. */
function checkJqFilter({ operands }: Call): void {
  const [filter = ''] = operands
  const opened: string[] = []
  let [before, beforeThat] = ['', '']
  jqTokens.lastIndex = 0
  for (let at = 0; at < filter.length; at = jqTokens.lastIndex) {
    const token = jqTokens.exec(filter)?.[0]
    if (token === undefined) return refuseFilter(filter.slice(at, at + 20))
    if (/^\s/.test(token)) continue
    // `{name}` and `{name: …}` are keys; from jq 1.8 on not in `{a: if b then c,name else d end}`.
    const isKey = opened.at(-1) === '{' && /^[{,]$/.test(before)
    if (opened.at(-1) === '{' && !isKey && /^(?:if|try)$/.test(token)) refuseFilter(token)
    if (/^[A-Za-z_]/.test(token) && !isKey && !jqWords.includes(token)) refuseFilter(token)
    // Up to jq 1.6 they never end where the pattern may match nothing, as a blank may with the flag x.
    const argument = opened.at(-1) ?? ''
    if (argument === '(sub' && !(before === '(' ? jqPattern : /^;$/).test(token)) refuseFilter(token)
    if (argument === '(sub;;' && !(before === ';' ? /^"[gin]*"$/ : /^\)$/).test(token)) refuseFilter(token)
    if (/^(?:r?index|indices)$/.test(beforeThat) && before === '(' && !/^"[^"]/.test(token)) refuseFilter(token)
    if (token === ';' && argument.startsWith('(sub')) opened[opened.length - 1] = `${argument};`
    if (/^[([{]$/.test(token)) opened.push(token === '(' && /^g?sub$/.test(before) ? '(sub' : token)
    if (/^[)\]}]$/.test(token)) opened.pop()
    beforeThat = before
    before = token
  }
}

const refuseFilter = (part: string): never =>
  refuse(
    'program',
    part,
    'is not a jq filter that the gate knows',
    'Use paths, select, map, keys, length and the like; a field of that name is ."…".',
  )

const awkText = String.raw`"(?:[^"\\\u0000-\u001f\u007f-\uffff]|\\[tn])*"`
const awkField = String.raw`(?:\$(?:\d+|NF)|NR|NF|${awkText})`
const awkTest = String.raw`(?:(?:NR|NF|\$\d+|length(?:\(\$\d+\))?) ?(?:[<>]=?|[!=]=) ?(?:\d+|${awkText})|/[A-Za-z0-9 _.,:=@%^$-]+/|NF)`
/** `{print $1, $2}`, perhaps behind a comparison. */
const awkProgram = new RegExp(
  String.raw`^ *(?:END ?|${awkTest}(?: ?(?:&&|\|\||,) ?${awkTest})* *)?(?:\{ *print(?: *${awkField}(?: *,? *${awkField})*)? *;? *(?:exit *;? *)?\} *)?$`,
)

function checkAwkProgram({ operands }: Call): void {
  const [program = '', ...files] = operands
  // For awk these are assignments, and for gawk connections.
  const assigned = files.find(
    (file) =>
      file.includes('=') || file.startsWith('/inet') || (file.startsWith(patternMark) && !/^[^*?[]*\//.test(file)),
  )
  if (program.trim() !== '' && awkProgram.test(program) && assigned === undefined) return
  refuse(
    'program',
    assigned ?? program,
    'is not one of the awk programs that the gate can prove to only print',
    "Use awk '{print $1, $2}' <file>, perhaps behind NR==…, or cut, grep and the Read tool.",
  )
}

export const programCommands: readonly CommandRow[] = [
  reader('sed', {
    plain: '-n --quiet --silent -E -r --regexp-extended -z --null-data -u --unbuffered',
    any: '-e --expression',
    firstIsProgram: '-e --expression --help --version',
    check: checkSedScript,
    refused: { changes: '-i -I --in-place', loads: '-f --file' },
  }),
  row('jq', 'files', about, {
    plain:
      '-c --compact-output -n --null-input -e --exit-status -s --slurp -r --raw-output --raw-output0 -R --raw-input -C --color-output -M --monochrome-output -S --sort-keys -a --ascii-output -j --join-output -h -V --tab --unbuffered --stream --stream-errors --seq',
    number: '--indent',
    pair: '--arg --argjson',
    firstIsProgram: '',
    readsStdin: '-n --null-input --help --version -h -V',
    check: checkJqFilter,
    refused: { loads: '-f --from-file -L --slurpfile --rawfile --argfile', waits: '--args --jsonargs' },
  }),
  row('awk', 'files', {
    text: '-F',
    firstIsProgram: '',
    readsStdin: '',
    check: checkAwkProgram,
    refused: { loads: '-f -i' },
  }),
]

const links = /^-([HLP]|O[0-3])$/
/** `-perm -u=x` means all of the bits; a format may begin with any character. */
const mayBeginWithDash = ['-perm', '-printf']
const aboutFind = ['--help', '--version', '-help', '-version']

/** The arguments of `find`: start folders, then an expression of known tests only. */
export function checkFind(words: readonly string[]): void {
  if (words.length === 1 && aboutFind.includes(words[0] ?? '')) return
  let index = 0
  while (links.test(words[index] ?? '')) index += 1
  while (index < words.length && !beginsExpression(words[index] ?? '')) index += 1
  while (index < words.length) index += readTest(words[index] ?? '', words[index + 1])
}

const beginsExpression = (word: string): boolean => word.startsWith('-') || listed(word, findWords.alone)

/** How many words the test takes. */
function readTest(word: string, value: string | undefined): number {
  if (listed(word, findWords.alone)) return 1
  if (!listed(word, findWords.withValue) && !newerThan.test(word)) return refuseTest(word)
  if (value === undefined)
    refuse('value', word, 'is the last word of find, but needs a value', `Say which: ${word} <value>.`)
  // For a find that does not know the test, or takes no value for it, `-name -delete` would be two tests.
  if (actionOf(value) !== undefined) refuseTest(value)
  if (/^-(?!\d|$)/.test(value) && !mayBeginWithDash.includes(word))
    refuse('value', `${word} ${value}`, 'gives a value that looks like a test', 'Begin the pattern with [-].')
  return 2
}

function refuseTest(word: string): never {
  if (!word.startsWith('-'))
    refuse('operand', word, 'is inside the expression of find', 'Put the directories first: find src -name …')
  const does = actionOf(word)
  if (does !== undefined)
    refuse('flag', word, does, 'Leave it out: find prints what it finds. Search in files by rg or the Grep tool.')
  const why = 'is not a test of find that the gate knows'
  refuse('flag', word, why, 'Use tests such as -name, -type, -maxdepth, -mtime.')
}

const actionOf = (word: string): string | undefined =>
  Object.entries(findActions).find(([words]) => listed(word, words))?.[1]
const listed = (word: string, words: string): boolean => words.split(' ').includes(word)

/** The words of a find expression that only test or print. All others write, run a program or are unknown. */
export const findWords = {
  alone:
    '( ) ! , -not -a -and -o -or -depth -xdev -mount -daystart -follow -noleaf -warn -nowarn -ignore_readdir_race -noignore_readdir_race -empty -true -false -nouser -nogroup -readable -writable -executable -print -print0 -ls -prune -quit',
  withValue:
    '-maxdepth -mindepth -regextype -amin -anewer -atime -cmin -cnewer -ctime -fstype -gid -group -ilname -iname -inum -ipath -iregex -iwholename -links -lname -mmin -mtime -name -newer -path -perm -regex -samefile -size -type -uid -used -user -wholename -xtype -printf',
} as const

/** `-newermt 2026-01-01`: which time of the file is compared with which time. */
const newerThan = /^-newer[aBcm][aBcmt]$/

/** Actions that change files, run programs, or read names from a file. */
const findActions: { readonly [words: string]: string } = {
  '-delete -rm': 'deletes files',
  '-exec -execdir -ok -okdir': 'runs a program',
  '-fprint -fprint0 -fprintf -fls': 'writes a file',
  '-files0-from': 'reads a list of names',
}

/** No name of a file can be a flag of these that does more than read. Not grep: ugrep has --filter=…. */
const starts = ['basename', 'dirname', 'ls', 'stat']
/** It opens what it is given, and prints none of it; that has to come from a command that lists files. */
const counter = 'wc'
const lister =
  /^(?:find|ls|git ls-files|(?:rg|grep)(?: .*)? -[a-zA-Z]*l[a-zA-Z]*|rg(?: .*)? --files(?:-with-matches)?)(?: |$)/
/** Flags with which nothing is printed but names of files. */
const listing =
  /^-(?:[a-zA-Z0-9]{1,3}|-?(?:name|iname|path|type|not|and|size|mtime|maxdepth|mindepth|print0?|files|hidden|cached|others|exclude-standard|files-with-matches|glob|(?:include|exclude|exclude-dir)=.*))$/

const plain = /^(?:-[0rtx]+|--null|--no-run-if-empty|--verbose)$/
const valued = /^-(?:([nLP])(\d*)|(I)((?:\{\}|[%@])?)|(d)(.*))$/s
const values: { readonly [flag: string]: RegExp } = {
  n: /^\d+$/,
  L: /^\d+$/,
  P: /^\d+$/,
  I: /^(?:\{\}|[%@])$/,
  d: /^(?:.|\\[n0t])$/s,
}

/** `xargs -0 -n 1 wc -l`. What it replaces by -I cannot be the command. */
export function checkXargs(
  words: readonly string[],
  context: RowContext,
  commands: ReadonlyMap<string, CommandRow>,
  source: readonly string[],
): void {
  if (!context.isPiped) refuse('stdin', 'xargs', 'reads only stdin')
  let index = 0
  for (; index < words.length; index += 1) {
    const word = words[index] ?? ''
    if (plain.test(word)) continue
    if (!word.startsWith('-')) break
    const [flag = '', glued = ''] = (valued.exec(word) ?? []).slice(1).filter((part) => part !== undefined)
    const value = glued === '' ? words[index + 1] : glued
    if (flag === '' || value === undefined || values[flag]?.test(value) !== true)
      refuse('flag', word, 'is not on the list of xargs flags', 'Use -0, -r, -n <number>, -L <number> or -I {}.')
    if (glued === '') index += 1
  }
  const [name = '', ...rest] = words.slice(index)
  const row = [...starts, counter].includes(name) ? commands.get(name) : undefined
  if (row === undefined)
    return refuse(
      'command',
      name,
      'is not a command that xargs may start',
      `Allowed are ${[...starts, counter].join(', ')}.`,
    )
  if (name === counter) {
    const isList = lister.test(source.join(' ')) && source.every((word) => !word.startsWith('-') || listing.test(word))
    if (!isList)
      refuse(
        'operand',
        name,
        'would read files that only the command before it knows',
        'Begin with find, ls, git ls-files or rg -l.',
      )
    for (const word of source) if (!word.startsWith('-')) checkFile(word, context)
  }
  checkRow(row, name, rest, context)
}
