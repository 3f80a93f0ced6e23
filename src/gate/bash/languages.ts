import { type Call, type CommandRow, type Flags, hasFlag, type Problem, row } from './row.ts'

/**
 * Commands whose first operand is a program. Their languages can write files, run programs or never end, so a program has
 * to be one of a few forms that every version of the command reads alike.
 */
const about: Flags = { plain: '--help --version' }
const unlessAbout = { unless: '--help --version' }

/**
 * What sed reads up to the delimiter. Where a delimiter stands inside of `[…]` or behind a backslash, seds differ in
 * whether it ends there; without these, and without a line end, there is nothing to differ about.
 */
const upTo = (delimiter: string): string => String.raw`[^\\[\];\u0000-\u001f\u007f-\uffff${delimiter}]`
const address = String.raw`(?:\d+|\$|/${upTo('/')}+/)`
const substitutions = ['/', '|', '#', ',', '@'].map((delimiter) => {
  const text = `${upTo(delimiter)}*[${delimiter}]`
  return `s[${delimiter}]${text}${text}[gpI0-9]{0,5}`
})
const sedCommand = new RegExp(
  String.raw`^ *(?:${address}(?:,(?:\+\d+|${address}))? *!? *)?(?:[pdq=]|${substitutions.join('|')}) *$`,
)

function checkSedScript(call: Call): Problem | undefined {
  const given = call.flags.flatMap(({ name, value }) => (/^(-e|--expression)$/.test(name) ? [value ?? ''] : []))
  const scripts = given.length > 0 ? given : call.operands.slice(0, 1)
  // sed opens the files that a script writes while it parses the script, so a later --help is too late.
  if (scripts.length === 0 && hasFlag(call, '--help --version')) return undefined
  const unknown = scripts.flatMap((script) => script.split(';')).find((one) => !sedCommand.test(one))
  if (unknown === undefined && scripts.length > 0) return undefined
  return {
    rule: 'program',
    part: unknown ?? 'sed',
    why: 'is not one of the sed commands that only print and that every sed reads alike',
    hint: "Use sed -n '10,20p' <file>, /words/ and s/…/…/g without [ ] and backslashes, or the Read tool.",
  }
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

/** The environment, other files and endless loops all begin with a word that is not on the list. */
function checkJqFilter({ operands }: Call): Problem | undefined {
  const [filter = ''] = operands
  const opened: string[] = []
  let before = ''
  jqTokens.lastIndex = 0
  for (let at = 0; at < filter.length; at = jqTokens.lastIndex) {
    const token = jqTokens.exec(filter)?.[0]
    if (token === undefined) return unknownFilter(filter.slice(at, at + 20))
    if (/^\s/.test(token)) continue
    // `{name}` and `{name: …}` are keys.
    const isKey = opened.at(-1) === '{' && /^[{,]$/.test(before)
    if (/^[A-Za-z_]/.test(token) && !isKey && !jqWords.includes(token)) return unknownFilter(token)
    if (/^[([{]$/.test(token)) opened.push(token)
    if (/^[)\]}]$/.test(token)) opened.pop()
    before = token
  }
  return undefined
}

const unknownFilter = (part: string): Problem => ({
  rule: 'program',
  part,
  why: 'is not a jq filter that the gate knows',
  hint: 'Use paths, select, map, keys, length and the like; a field of that name is ."…".',
})

const awkText = String.raw`"(?:[^"\\\u0000-\u001f\u007f-\uffff]|\\[tn])*"`
const awkField = String.raw`(?:\$(?:\d+|NF)|NR|NF|${awkText})`
const awkTest = String.raw`(?:(?:NR|NF|\$\d+|length(?:\(\$\d+\))?) ?(?:[<>]=?|[!=]=) ?(?:\d+|${awkText})|/[A-Za-z0-9 _.,:=@%^$-]+/|NF)`
/** `{print $1, $2}`, perhaps behind a comparison. */
const awkProgram = new RegExp(
  String.raw`^ *(?:END ?|${awkTest}(?: ?(?:&&|\|\||,) ?${awkTest})* *)?(?:\{ *print(?: *${awkField}(?: *,? *${awkField})*)? *;? *(?:exit *;? *)?\} *)?$`,
)

function checkAwkProgram({ operands }: Call): Problem | undefined {
  const [program = '', ...files] = operands
  // For awk these are assignments, and for gawk connections.
  const assigned = files.find((file) => file.includes('=') || file.startsWith('/inet'))
  if (program.trim() !== '' && awkProgram.test(program) && assigned === undefined) return undefined
  return {
    rule: 'program',
    part: assigned ?? program,
    why: 'is not one of the awk programs that the gate can prove to only print',
    hint: "Use awk '{print $1, $2}' <file>, perhaps behind NR==…, or cut, grep and the Read tool.",
  }
}

export const programCommands = [
  {
    ...row('sed', 'files', about, {
      plain: '-n --quiet --silent -E -r --regexp-extended -z --null-data -u --unbuffered',
      any: '-e --expression',
    }),
    firstIsProgram: { unless: '-e --expression --help --version' },
    readsStdin: unlessAbout,
    check: checkSedScript,
    refused: {
      '-i -I --in-place': ['changes the files', 'Leave it out: the result is printed.'],
      '-f --file': ['runs a script that the gate cannot see', "Write the script in quotes: sed -n '1,20p' <file>."],
    },
  },
  {
    ...row('jq', 'files', about, {
      plain:
        '-c --compact-output -n --null-input -e --exit-status -s --slurp -r --raw-output --raw-output0 -R --raw-input -C --color-output -M --monochrome-output -S --sort-keys -a --ascii-output -j --join-output -h -V --tab --unbuffered --stream --stream-errors --seq',
      number: '--indent',
      pair: '--arg --argjson',
    }),
    firstIsProgram: { unless: '' },
    readsStdin: { unless: '-n --null-input --help --version -h -V' },
    check: checkJqFilter,
    refused: {
      '-f --from-file': ['runs a program that the gate cannot see', "Write the filter in quotes: jq '.name' <file>."],
      '-L': ['loads modules', 'Leave it out.'],
      '--args --jsonargs': ['takes the files for strings, and waits for stdin', 'Use --arg name value.'],
      '--slurpfile --rawfile --argfile': ['reads another file', 'Name the files as arguments.'],
    },
  },
  {
    ...row('awk', 'files', { text: '-F' }),
    firstIsProgram: { unless: '' },
    readsStdin: { unless: '' },
    check: checkAwkProgram,
    refused: {
      '-f -i': ['runs a program that the gate cannot see', "Write the program in quotes: awk '{print $1}' <file>."],
    },
  },
] satisfies readonly CommandRow[]
