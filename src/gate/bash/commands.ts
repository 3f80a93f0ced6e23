import { patternMark, refuse } from './refusal.ts'
import { about, type Call, type CommandRow, type Flags, hasFlag, numbers, reader, row } from './row.ts'

const grep = row('grep', 'files', about, numbers, {
  plain:
    '-E --extended-regexp -F --fixed-strings -G --basic-regexp -P --perl-regexp -i -y --ignore-case --no-ignore-case -v --invert-match -w --word-regexp -x --line-regexp -c --count -L --files-without-match -l --files-with-matches -o --only-matching -q --quiet --silent -s --no-messages -b --byte-offset -H --with-filename -h --no-filename -n --line-number -T --initial-tab -u --null -a --text -I -r --recursive -R --dereference-recursive -U --binary --line-buffered --no-group-separator -V',
  optional: '--color --colour',
  number: '-m --max-count -A --after-context -B --before-context -C --context',
  text: '--include --exclude --exclude-dir --label --binary-files -d --directories',
  any: '-e --regexp',
  file: '-f --file --exclude-from',
  firstIsProgram: '-e --regexp -f --file',
  readsStdin: '-r --recursive -R --dereference-recursive --help --version -V',
})

const sums = { plain: '-b -t --tag', refused: { loads: '-c --check' } }

const beginningOrEnd: Flags = {
  plain: '-q --quiet --silent -v --verbose -z --zero-terminated',
  number: '-n --lines -c --bytes',
}

/** Commands that read files, and print what is in them or about them. */
export const fileCommands: readonly CommandRow[] = [
  // Names and kinds of files.
  row('ls', 'paths', about, {
    plain:
      '-a --all -A --almost-all -b --escape -B --ignore-backups -c -C -d --directory -D --dired -f -F -g -G --no-group --group-directories-first -h --human-readable --si -H --dereference-command-line --dereference-command-line-symlink-to-dir -i --inode -k --kibibytes -l -L --dereference -m -n --numeric-uid-gid -N --literal -o -O -e -W -p -q --hide-control-chars --show-control-chars -Q --quote-name -r --reverse -R --recursive -s --size -S -t -u -U -v -x -X -y -Z --context -1 -@ -% --author --file-type --full-time --zero --indicator-style=slash',
    optional: '--color --classify --hyperlink',
    number: '-T --tabsize -w --width',
    text: '-I --ignore --hide --block-size --format --sort --time --time-style --indicator-style --quoting-style',
  }),
  row('stat', 'paths', about, {
    plain: '-L --dereference -f --file-system -t --terse -x -l -r -s -n -q -F',
    text: '-c --format --printf --cached',
  }),
  row('du', 'paths', about, {
    plain:
      '-0 --null -a --all --apparent-size -b --bytes -c --total -D --dereference-args -H -h --human-readable --inodes -k -L --dereference -l --count-links -m -g -P --no-dereference -S --separate-dirs --si -s --summarize -x --one-file-system',
    optional: '--time',
    number: '-d --max-depth -t --threshold',
    text: '-B --block-size --exclude --time-style',
  }),
  row('tree', 'paths', about, {
    plain:
      '-a -d -l -f -x -q -N -Q -p -u -g -s -h -D -F -v -t -c -U -r -i -A -S -n -C -X -J --si --du --inodes --device --dirsfirst --filesfirst --noreport --matchdirs --metafirst --ignore-case --prune --nolinks --fromfile',
    number: '-L --filelimit',
    text: '-P -I -T --charset --timefmt --sort',
    // `tree -Io pattern out.txt` writes out.txt: -I takes the next word, and -o is still read as a flag.
    splitsClusters: true,
    needsPipe: '--fromfile',
    check: checkTree,
    refused: { writes: '-o -R', loads: '--info --gitignore --gitfile --infofile' },
  }),
  row('file', 'files', about, {
    plain:
      '-b --brief -i --mime --mime-type --mime-encoding --extension --apple -k --keep-going -L --dereference -h --no-dereference -n --no-buffer -N --no-pad -0 --print0 -r --raw -s --special-files -v -E',
    text: '-e --exclude --exclude-quiet -F --separator',
    refused: {
      writes: '-C --compile -p --preserve-date',
      loads: '-m --magic-file -f --files-from',
      runs: '-z --uncompress -Z --uncompress-noreport',
    },
  }),
  row('readlink', 'paths', about, {
    plain: '-f -e -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --zero',
  }),
  row('df', 'paths', about, { plain: '-a -h -H -i -k -l -m -P -T --total --human-readable', text: '-t -x -B' }),
  row('pwd', 'none', about, { plain: '-L -P' }),
  row('which', 'words', { plain: '-a -s' }),
  row('basename', 'words', about, { plain: '-a --multiple -z --zero', text: '-s --suffix' }),
  row('dirname', 'words', about, { plain: '-z --zero' }),
  row('realpath', 'paths', about, {
    plain:
      '-e --canonicalize-existing -m --canonicalize-missing -L --logical -P --physical -q --quiet -s --strip --no-symlinks -z --zero',
    text: '--relative-to --relative-base',
  }),

  // Search.
  row(
    'rg',
    'files',
    about,
    {
      plain:
        '-F --fixed-strings -P --pcre2 -i --ignore-case -s --case-sensitive -S --smart-case -v --invert-match -w --word-regexp -x --line-regexp -U --multiline --multiline-dotall --crlf --null-data --no-unicode --no-pcre2-unicode --auto-hybrid-regex',
    },
    {
      plain:
        '-c --count --count-matches --include-zero -l --files-with-matches --files-without-match -o --only-matching -q --quiet --json --vimgrep --stats --passthru --passthrough -n --line-number -N --no-line-number -H --with-filename -I --no-filename --heading --no-heading --column --no-column -b --byte-offset -0 --null -p --pretty --trim --no-trim --max-columns-preview --no-messages --no-ignore-messages --line-buffered --block-buffered --no-context-separator --debug',
      number: '-A --after-context -B --before-context -C --context -M --max-columns -m --max-count',
      text: '--color --colors --context-separator --field-context-separator --field-match-separator --path-separator -r --replace --sort --sortr',
    },
    {
      plain:
        '--files --hidden -. --no-hidden --no-ignore --no-ignore-dot --no-ignore-exclude --no-ignore-files --no-ignore-global --no-ignore-parent --no-ignore-vcs --no-require-git --ignore-file-case-insensitive --glob-case-insensitive -L --follow --no-follow -u --unrestricted -a --text --no-text --binary --no-binary --one-file-system --type-list --sort-files --no-config --mmap --no-mmap --pcre2-version --stop-on-nonmatch -V -h',
      number: '-d --max-depth --maxdepth --max-filesize -j --threads --dfa-size-limit --regex-size-limit',
      text: '-g --glob --iglob -t --type -T --type-not --type-add --type-clear -E --encoding --engine',
      any: '-e --regexp',
      file: '-f --file --ignore-file',
      firstIsProgram: '-e --regexp -f --file --files --type-list',
      refused: { runs: '--pre --pre-glob --hostname-bin -z --search-zip' },
    },
  ),
  grep,
  { ...grep, name: 'egrep' },
  { ...grep, name: 'fgrep' },

  // Filters for pipes.
  reader('nl', {
    plain: '-p --no-renumber',
    text: '-i --line-increment -l --join-blank-lines -v --starting-line-number -w --number-width -b --body-numbering -d --section-delimiter -f --footer-numbering -h --header-numbering -n --number-format -s --number-separator',
  }),
  reader('tac', { plain: '-b --before -r --regex', text: '-s --separator' }),
  row('tr', 'words', about, {
    plain: '-c -C --complement -d --delete -s --squeeze-repeats -t --truncate-set1',
    check: checkPiped,
  }),
  reader('column', { plain: '-t -x -e', text: '-s --separator -o --output-separator', number: '-c' }),
  reader('fold', { plain: '-b -s', number: '-w' }),
  reader('paste', { plain: '-s -z', text: '-d' }),
  reader('comm', {
    plain: '-1 -2 -3 -i -z --total --check-order --nocheck-order',
    text: '--output-delimiter',
    mostOperands: 2,
  }),
  reader('cmp', { plain: '-b -l -s', number: '-n -i', check: checkTwoFiles, mostOperands: 4 }),
  reader('od', { plain: '-a -b -c -d -f -i -l -o -s -v -x', number: '-j -N', text: '-A -t', optional: '-w' }),
  // A second operand is the file that it writes, and -r turns it round.
  row('xxd', 'files', {
    plain: '-a -b -e -i -p -u',
    number: '-c -g -l -s',
    readsStdin: '',
    mostOperands: 1,
    hasNoClusters: true,
    check: checkFlagsFirst,
    refused: { writes: '-r' },
  }),
  row('hexdump', 'files', { plain: '-b -c -C -d -o -v -x', number: '-n -s', readsStdin: '' }),
  ...['md5sum', 'sha1sum', 'sha256sum', 'sha512sum', 'cksum'].map((name) => reader(name, sums)),
  reader('shasum', sums, { number: '-a' }),

  // Files, whole or in part.
  reader('cat', {
    plain:
      '-A --show-all -b --number-nonblank -e -E --show-ends -n --number -s --squeeze-blank -t -T --show-tabs -u -v --show-nonprinting',
  }),
  reader('head', numbers, beginningOrEnd, { mayReadNothing: true }),
  reader('tail', numbers, beginningOrEnd, {
    mayReadNothing: true,
    refused: { waits: '-f -F --follow --retry --pid -s --sleep-interval --max-unchanged-stats' },
  }),
  reader('wc', {
    plain: '-c --bytes -m --chars -l --lines -L --max-line-length -w --words',
    text: '--total',
    refused: { loads: '--files0-from' },
  }),
  reader('sort', {
    plain:
      '-b --ignore-leading-blanks -d --dictionary-order -f --ignore-case -g --general-numeric-sort -h --human-numeric-sort -i --ignore-nonprinting -M --month-sort -n --numeric-sort -R --random-sort -r --reverse -V --version-sort -c -C -m --merge -s --stable -u --unique -z --zero-terminated --debug',
    optional: '--check',
    number: '--parallel',
    text: '-k --key -t --field-separator --sort',
    refused: {
      writes: '-o --output -T --temporary-directory -S --buffer-size',
      runs: '--compress-program',
      loads: '--files0-from --random-source',
    },
  }),
  reader('uniq', {
    plain: '-c --count -d --repeated -D -i --ignore-case -u --unique -z --zero-terminated',
    optional: '--all-repeated --group',
    number: '-f --skip-fields -s --skip-chars -w --check-chars',
    mostOperands: 1,
    check: checkOneInput,
  }),
  reader('cut', {
    plain: '-n -s --only-delimited -z --zero-terminated --complement',
    text: '-b --bytes -c --characters -d --delimiter -f --fields --output-delimiter',
  }),
  row('diff', 'files', about, {
    plain:
      '-q --brief -s --report-identical-files -c -u -e --ed -n --rcs -y --side-by-side --normal -p --show-c-function -T --initial-tab -t --expand-tabs --suppress-common-lines --suppress-blank-empty --left-column -r --recursive --no-dereference -N --new-file --unidirectional-new-file -P --ignore-file-name-case --no-ignore-file-name-case -i --ignore-case -E --ignore-tab-expansion -Z --ignore-trailing-space -b --ignore-space-change -w --ignore-all-space -B --ignore-blank-lines -a --text --strip-trailing-cr -d --minimal --speed-large-files -v',
    optional: '--color --unified --context',
    number: '-U -C -W --width --tabsize --horizon-lines',
    text: '-L --label -F --show-function-line -I --ignore-matching-lines -x --exclude -D --ifdef --palette --line-format --old-line-format --new-line-format --unchanged-line-format --old-group-format --new-group-format --changed-group-format --unchanged-group-format',
    file: '-X --exclude-from -S --starting-file --from-file --to-file',
    refused: { runs: '-l --paginate' },
  }),
]

function checkTwoFiles({ isPiped, operands, name }: Call): void {
  if (!isPiped && operands.length < 2)
    refuse('stdin', name, 'compares one file with stdin', `Name two files: ${name} <file> <file>.`)
}

function checkPiped({ isPiped, name }: Call): void {
  if (!isPiped) refuse('stdin', name, 'reads only stdin', `Put it behind a |: cat <file> | ${name} ….`)
}

/** `uniq in out` writes out. */
function checkOneInput(call: Call): void {
  const [, output] = call.operands
  if (output !== undefined)
    refuse('operand', output, 'is the file that uniq would write', 'Give uniq one file: what it finds is printed.')
  checkFlagsFirst(call)
}

/** Where options end at the first operand, as in xxd and on macOS, `xxd in -p` and `uniq in --` write a file. */
function checkFlagsFirst({ flags, name, hasDashes, operandsBeforeDashes }: Call): void {
  const dashes = hasDashes && operandsBeforeDashes > 0 ? '--' : undefined
  const late = flags.find(({ operandsBefore }) => operandsBefore > 0)?.name ?? dashes
  if (late !== undefined)
    refuse(
      'operand',
      late,
      'comes after the file, where it may be the name of a file to write',
      `Put the flags of ${name} before its file.`,
    )
}

const version: Flags = { plain: '--version' }

/** `-v` evaluates a subscript, and some shells what is compared as numbers. */
function checkTest({ name, operands, flags }: Call): void {
  const values = name === '[' ? operands.slice(0, -1) : operands
  if (name === '[' && operands.at(-1) !== ']') refuse('operand', '[', 'has no ] at its end', 'Close it.')
  const isNumeric = flags.some(({ name: flag }) => /^-(?:eq|ne|[gl][te])$/.test(flag))
  const allowed = isNumeric ? /^(?:\d+|!)$/ : /^(?:[\w./@%+,: -]*|!?=|==|!)$/
  refuseOdd(values, allowed, 'is more than a plain value to test', 'Compare plain words, and numbers with numbers.')
}

const testFlags: Flags = { plain: '-a -d -e -ef -eq -f -ge -gt -h -L -le -lt -n -ne -nt -o -ot -r -s -S -w -x -z' }

function refuseOdd(values: readonly string[], allowed: RegExp, why: string, hint: string): void {
  const odd = values.find((value) => !allowed.test(value))
  if (odd !== undefined) refuse('operand', odd, why, hint)
}

/** Each operand has to look like this. */
const only =
  (pattern: RegExp, why: string, hint: string) =>
  ({ operands }: Call): void =>
    refuseOdd(operands, pattern, why, hint)

/** A step of 0 never ends in busybox. */
function checkSeq({ operands }: Call): void {
  const [, step = '1'] = operands.length > 2 ? operands : []
  refuseOdd(
    [...operands, step === '0' ? '' : step],
    /^(?!0.)\d{1,4}$/,
    'is not a small number',
    'Count to 9999 at most.',
  )
}

/** What is named there is a list of files. */
function checkTree(call: Call): void {
  if (!hasFlag(call, '--fromfile') || call.operands.length === 0) return
  refuse('operand', call.operands[0] ?? '', 'is read, and printed', 'Give the list on stdin.')
}

/** zsh evaluates what is printed as a number. */
const checkPrintf = ({ operands: [format = ''] }: Call): void =>
  refuseOdd([format], /^(?:[^%]|%%|%-?\d{0,3}s)*$/, 'is a format with more than %s', 'Use %s, or echo.')

function checkDate({ flags, operands }: Call): void {
  refuseOdd(operands, /^\+/, 'would set the clock', 'Begin a format with +.')
  const days = flags.filter(({ name }) => /^(?:-d|--date)$/.test(name)).map(({ value = '' }) => value)
  refuseOdd(
    days,
    /^[\w :+.,@/-]*$/,
    'is more than a time: TZ="…" names a file',
    'Give a plain time, such as 2026-01-31.',
  )
}

/**
 * Where ps cannot follow its arguments it reads all of them again as BSD's letters, where e is the environment of programs.
 * An e is left in what it always follows.
 */
function checkPs({ operands, flags }: Call): void {
  const [why, hint] = ['may print the environment of programs', 'Use ps aux, ps -ef, or ps -p <pid> -o pid,command.']
  refuseOdd(operands, /^(?:[acfjlmrsTuvwx]+|\d+)$/, why, hint)
  const values = flags.map(({ value = '' }) => value)
  refuseOdd(values, /^(?!.*env)[\w,=%: .+-]*$/i, why, hint)
  const mayBeEnvironment = flags.some(
    ({ name, value = '' }) => name === '-e' || (value.includes('e') && !['-o', '--format', '--sort'].includes(name)),
  )
  const isFollowed = psForms.some((form) => flags.every(({ name }) => form.split(' ').includes(name)))
  if (mayBeEnvironment && (operands.length > 0 || !isFollowed)) refuse('operand', 'ps', why, hint)
}

const psForms = [
  '-e -f -F -j -l -w -H --forest --no-headers --sort',
  '-e -f -F -l -w -L --no-headers --sort',
  '-e -C -w -o --format --no-headers --sort',
]

/** Behind a name it is a flag of that program, which is run. */
function checkCommandName({ flags, name }: Call): void {
  const isAsked = flags.length > 0 && flags.every(({ operandsBefore }) => operandsBefore === 0)
  if (!isAsked) refuse('operand', name, 'without -v -V runs a program', 'Use command -v <name>.')
}

/** node takes a folder, or a name without its ending, for what package.json names. */
function isScript(operand: string, { places, look }: Call): boolean {
  const found = places(operand).flatMap((place) => look(place) ?? [])
  return found.length > 0 ? found.every(({ isFolder }) => !isFolder) : /\.\w+$/.test(operand)
}

/** `bash -n file` reads a script without running it, as long as nothing turns -n off again. */
const checkSyntaxOnly = (flag: string, mayBeMore: boolean) => (call: Call) => {
  const { flags, operands, name } = call
  if (operands.length === 0 && hasFlag(call, '--version -v') && flags.length === 1) return
  const isFirst = flags.every(({ operandsBefore }) => operandsBefore === 0)
  const isPlain =
    operands.length > 0 &&
    !operands.some((operand) => /^[-+]|^$/.test(operand) || operand.startsWith(patternMark)) &&
    (mayBeMore || operands.every((operand) => isScript(operand, call)))
  const isOnly = flags.length === 1 && hasFlag(call, flag) && isFirst && isPlain
  const hint = `Only ${name} ${flag.split(' ')[0]} <file> and ${name} --version are allowed.`
  if (!isOnly || (!mayBeMore && operands.length > 1)) refuse('operand', name, 'would run a program', hint)
}

const isoDates = ['', '=date', '=hours', '=minutes', '=seconds', '=ns']

/** Built-in commands of the shell, and what tells about the system. */
export const shellCommands: readonly CommandRow[] = [
  row('true', 'words'),
  row(':', 'words'),
  row('test', 'words', testFlags, { check: checkTest }),
  row('[', 'words', testFlags, { check: checkTest }),
  row('printf', 'words', { check: checkPrintf }),
  row('command', 'words', { plain: '-v -V', check: checkCommandName }),
  row('type', 'words', { plain: '-a -p -P -t' }),
  row('sleep', 'words', about, {
    mostOperands: 1,
    check: only(/^\d{1,2}(?:\.\d+)?s?$/, 'is not a short time', 'Sleep for less than 100 seconds.'),
  }),
  row('seq', 'words', about, { plain: '-w', text: '-s', check: checkSeq }),
  row('date', 'words', about, {
    plain: [
      '-u --utc --universal -R --rfc-email -I -Idate -Ihours -Iminutes -Iseconds',
      ...isoDates.map((unit) => `--iso-8601${unit}`),
      '--rfc-3339=date --rfc-3339=seconds',
    ].join(' '),
    text: '-d --date',
    file: '-r --reference',
    mostOperands: 1,
    check: checkDate,
  }),
  row('uname', 'none', about, { plain: '-a -i -m -n -o -p -r -s -v --all' }),
  row('whoami', 'none', about),
  row('nproc', 'none', about, { plain: '--all' }),
  row('hostname', 'none', { plain: '-s' }),
  row('uptime', 'none', about, { plain: '-p --pretty -s --since' }),
  row('free', 'none', about, { plain: '-b -k -m -g -h --human -t --total -w --wide' }),
  row('id', 'words', about, { plain: '-g -G -n -r -u' }),
  row('ps', 'words', about, {
    plain: '-a -A -c -d -e -f -F -H -j -l -L -T -w -x --forest --no-headers',
    text: '-C -G -o -p -t -u -U --format --pid --ppid --sort --user',
    check: checkPs,
  }),
  row('bash', 'files', { plain: '-n' }, version, { check: checkSyntaxOnly('-n', true) }),
  row('sh', 'files', { plain: '-n', check: checkSyntaxOnly('-n', true) }),
  row('node', 'files', { plain: '-v -c --check' }, version, { check: checkSyntaxOnly('--check -c', false) }),
]
