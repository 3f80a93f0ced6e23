import { type Call, type CommandRow, type Flags, type Problem, row } from './row.ts'

const about: Flags = { plain: '--help --version' }

/** Commands that list files without opening them, and `file`, which opens them to tell their type. */
export const fileCommands = [
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
  {
    ...row('tree', 'paths', about, {
      plain:
        '-a -d -l -f -x -q -N -Q -p -u -g -s -h -D -F -v -t -c -U -r -i -A -S -n -C -X -J --si --du --inodes --device --dirsfirst --filesfirst --noreport --matchdirs --metafirst --ignore-case --prune --gitignore --info --nolinks --fromfile',
      number: '-L --filelimit',
      text: '-P -I -T --charset --timefmt --sort',
    }),
    // `tree -Io pattern out.txt` writes out.txt: -I takes the next word, and -o is still read as a flag.
    splitsClusters: true,
    needsPipe: '--fromfile',
    refused: {
      '-o': ['writes a file', 'Leave it out: the tree is printed.'],
      '-R': ['writes a 00Tree.html into directories', 'Leave it out; set the depth by -L.'],
    },
  },
  {
    ...row('file', 'files', about, {
      plain:
        '-b --brief -i --mime --mime-type --mime-encoding --extension --apple -k --keep-going -L --dereference -h --no-dereference -n --no-buffer -N --no-pad -0 --print0 -r --raw -s --special-files -v -E',
      text: '-e --exclude --exclude-quiet -F --separator',
    }),
    refused: {
      '-C --compile': ['writes a compiled magic file', 'Leave it out.'],
      '-m --magic-file': ['loads other magic files', 'Leave it out; the system has its own.'],
      '-f --files-from': ['reads a list of names', 'Name the files.'],
      '-z --uncompress -Z --uncompress-noreport': ['runs decompressors', 'Leave it out: the kind of archive is told.'],
      '-p --preserve-date': ['writes the access times of the files', 'Leave it out.'],
    },
  },
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
] satisfies readonly CommandRow[]

const numbers: Flags = { plain: '-0 -1 -2 -3 -4 -5 -6 -7 -8 -9' }
const aboutSearchCommands: Flags = { plain: '--help --version' }

const rgFlags: readonly Flags[] = [
  aboutSearchCommands,
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
  },
]

const grepFlags: readonly Flags[] = [
  aboutSearchCommands,
  numbers,
  {
    plain:
      '-E --extended-regexp -F --fixed-strings -G --basic-regexp -P --perl-regexp -i -y --ignore-case --no-ignore-case -v --invert-match -w --word-regexp -x --line-regexp -c --count -L --files-without-match -l --files-with-matches -o --only-matching -q --quiet --silent -s --no-messages -b --byte-offset -H --with-filename -h --no-filename -n --line-number -T --initial-tab -u --null -a --text -I -r --recursive -R --dereference-recursive -U --binary --line-buffered --no-group-separator -V',
    optional: '--color --colour',
    number: '-m --max-count -A --after-context -B --before-context -C --context',
    text: '--include --exclude --exclude-dir --label --binary-files -D --devices -d --directories',
    any: '-e --regexp',
    file: '-f --file --exclude-from',
  },
]

const grep = {
  name: 'grep',
  flags: grepFlags,
  operands: 'files',
  firstIsProgram: { unless: '-e --regexp -f --file' },
  readsStdin: { unless: '-r --recursive -R --dereference-recursive --help --version -V' },
} satisfies CommandRow

/** `find` is in find.ts: its arguments are an expression. */
export const searchCommands = [
  {
    name: 'rg',
    flags: rgFlags,
    operands: 'files',
    firstIsProgram: { unless: '-e --regexp -f --file --files --type-list' },
    refused: {
      '--pre --pre-glob': ['runs a program on each file', 'Leave it out, and search the files as they are.'],
      '--hostname-bin': ['runs a program', 'Leave it out.'],
      '-z --search-zip': ['runs a decompressor on each archive', 'Leave it out; archives are skipped.'],
    },
  },
  grep,
  { ...grep, name: 'egrep' },
  { ...grep, name: 'fgrep' },
] satisfies readonly CommandRow[]

const aboutStreamCommands: Flags = { plain: '--help --version' }
const unlessAbout = { unless: '--help --version' }

/** Filters for pipes. */
export const streamCommands = [
  {
    ...row('nl', 'files', aboutStreamCommands, {
      plain: '-p --no-renumber',
      text: '-i --line-increment -l --join-blank-lines -v --starting-line-number -w --number-width -b --body-numbering -d --section-delimiter -f --footer-numbering -h --header-numbering -n --number-format -s --number-separator',
    }),
    readsStdin: unlessAbout,
  },
  {
    ...row('tac', 'files', aboutStreamCommands, { plain: '-b --before -r --regex', text: '-s --separator' }),
    readsStdin: unlessAbout,
  },
  {
    ...row('tr', 'words', aboutStreamCommands, {
      plain: '-c -C --complement -d --delete -s --squeeze-repeats -t --truncate-set1',
    }),
    check: checkPiped,
  },
  {
    ...row('column', 'files', aboutStreamCommands, {
      plain: '-t -x -e',
      text: '-s --separator -o --output-separator',
      number: '-c',
    }),
    readsStdin: unlessAbout,
  },
  { ...row('fold', 'files', aboutStreamCommands, { plain: '-b -s', number: '-w' }), readsStdin: unlessAbout },
  { ...row('paste', 'files', aboutStreamCommands, { plain: '-s -z', text: '-d' }), readsStdin: unlessAbout },
  {
    ...row('comm', 'files', aboutStreamCommands, {
      plain: '-1 -2 -3 -i -z --total --check-order --nocheck-order',
      text: '--output-delimiter',
    }),
    readsStdin: unlessAbout,
    mostOperands: 2,
  },
  {
    ...row('cmp', 'files', aboutStreamCommands, { plain: '-b -l -s', number: '-n -i' }),
    readsStdin: unlessAbout,
    check: checkTwoFiles,
    mostOperands: 4,
  },
  {
    ...row('od', 'files', aboutStreamCommands, {
      plain: '-a -b -c -d -f -i -l -o -s -v -x',
      number: '-j -N',
      text: '-A -t',
      optional: '-w',
    }),
    readsStdin: unlessAbout,
  },
  {
    // A second operand is the file that it writes, and -r turns it round.
    ...row('xxd', 'files', { plain: '-a -b -e -i -p -u', number: '-c -g -l -s' }),
    readsStdin: { unless: '' },
    mostOperands: 1,
    refused: { '-r': ['writes what it decodes', 'Leave it out.'] },
  },
  { ...row('hexdump', 'files', { plain: '-b -c -C -d -o -v -x', number: '-n -s' }), readsStdin: { unless: '' } },
  ...['md5sum', 'sha1sum', 'sha256sum', 'sha512sum', 'shasum', 'cksum'].map((name) => ({
    ...row(name, 'files', aboutStreamCommands, {
      plain: '-b -t -c --check --quiet --status -w --warn --strict --ignore-missing --tag',
      ...(name === 'shasum' ? { number: '-a' } : {}),
    }),
    readsStdin: unlessAbout,
  })),
] satisfies readonly CommandRow[]

function checkTwoFiles({ isPiped, operands, name }: Call): Problem | undefined {
  return isPiped || operands.length > 1
    ? undefined
    : { rule: 'stdin', part: name, why: 'compares one file with stdin', hint: `Name two files: ${name} <file> <file>.` }
}

function checkPiped({ isPiped, name }: Call): Problem | undefined {
  return isPiped
    ? undefined
    : { rule: 'stdin', part: name, why: 'reads only stdin', hint: `Put it behind a |: cat <file> | ${name} ….` }
}

const aboutTextCommands: Flags = { plain: '--help --version' }
const numbersTextCommands: Flags = { plain: '-0 -1 -2 -3 -4 -5 -6 -7 -8 -9' }
const unlessAboutTextCommands = { unless: '--help --version' }
const neverEnds = ['never ends', 'Leave -f/--follow out, and look again later.'] as const

/** Commands that print files, whole or in part. */
export const textCommands = [
  {
    ...row('cat', 'files', aboutTextCommands, {
      plain:
        '-A --show-all -b --number-nonblank -e -E --show-ends -n --number -s --squeeze-blank -t -T --show-tabs -u -v --show-nonprinting',
    }),
    readsStdin: unlessAboutTextCommands,
  },
  {
    ...row('head', 'files', aboutTextCommands, numbersTextCommands, {
      plain: '-q --quiet --silent -v --verbose -z --zero-terminated',
      number: '-n --lines -c --bytes',
    }),
    readsStdin: unlessAboutTextCommands,
    mayReadNothing: true,
  },
  {
    ...row('tail', 'files', aboutTextCommands, numbersTextCommands, {
      plain: '-q --quiet --silent -v --verbose -z --zero-terminated',
      number: '-n --lines -c --bytes',
    }),
    readsStdin: unlessAboutTextCommands,
    mayReadNothing: true,
    refused: { '-f -F --follow --retry': neverEnds, '--pid -s --sleep-interval --max-unchanged-stats': neverEnds },
  },
  {
    ...row('wc', 'files', aboutTextCommands, {
      plain: '-c --bytes -m --chars -l --lines -L --max-line-length -w --words',
      text: '--total',
    }),
    readsStdin: unlessAboutTextCommands,
    refused: { '--files0-from': ['reads a list of names', 'Name the files.'] },
  },
  {
    ...row('sort', 'files', aboutTextCommands, {
      plain:
        '-b --ignore-leading-blanks -d --dictionary-order -f --ignore-case -g --general-numeric-sort -h --human-numeric-sort -i --ignore-nonprinting -M --month-sort -n --numeric-sort -R --random-sort -r --reverse -V --version-sort -c -C -m --merge -s --stable -u --unique -z --zero-terminated --debug',
      optional: '--check',
      number: '--parallel --batch-size',
      text: '-k --key -t --field-separator --sort',
    }),
    readsStdin: unlessAboutTextCommands,
    refused: {
      '-o --output': ['writes a file', 'Leave it out: the sorted lines are printed.'],
      '--compress-program': ['runs a program', 'Leave it out.'],
      '-T --temporary-directory -S --buffer-size': ['decides where sort writes temporary files', 'Leave it out.'],
      '--files0-from': ['reads a list of names', 'Name the files.'],
      '--random-source': ['reads from a device', 'Leave it out.'],
    },
  },
  {
    ...row('uniq', 'files', aboutTextCommands, {
      plain: '-c --count -d --repeated -D -i --ignore-case -u --unique -z --zero-terminated',
      optional: '--all-repeated --group',
      number: '-f --skip-fields -s --skip-chars -w --check-chars',
    }),
    readsStdin: unlessAboutTextCommands,
    mostOperands: 1,
    check: checkOneInput,
  },
  {
    ...row('cut', 'files', aboutTextCommands, {
      plain: '-n -s --only-delimited -z --zero-terminated --complement',
      text: '-b --bytes -c --characters -d --delimiter -f --fields --output-delimiter',
    }),
    readsStdin: unlessAboutTextCommands,
  },
  {
    ...row('diff', 'files', aboutTextCommands, {
      plain:
        '-q --brief -s --report-identical-files -c -u -e --ed -n --rcs -y --side-by-side --normal -p --show-c-function -T --initial-tab -t --expand-tabs --suppress-common-lines --suppress-blank-empty --left-column -r --recursive --no-dereference -N --new-file --unidirectional-new-file -P --ignore-file-name-case --no-ignore-file-name-case -i --ignore-case -E --ignore-tab-expansion -Z --ignore-trailing-space -b --ignore-space-change -w --ignore-all-space -B --ignore-blank-lines -a --text --strip-trailing-cr -d --minimal --speed-large-files -v',
      optional: '--color --unified --context',
      number: '-U -C -W --width --tabsize --horizon-lines',
      text: '-L --label -F --show-function-line -I --ignore-matching-lines -x --exclude -D --ifdef --palette --line-format --old-line-format --new-line-format --unchanged-line-format --old-group-format --new-group-format --changed-group-format --unchanged-group-format',
      file: '-X --exclude-from -S --starting-file --from-file --to-file',
    }),
    refused: { '-l --paginate': ['runs pr', 'Leave it out: the output is not paged.'] },
  },
] satisfies readonly CommandRow[]

/**
 * `uniq in out` writes out; and where options end at the first operand (macOS), `uniq in -c` writes a file named -c.
 */
function checkOneInput({ operands, flags }: Call): Problem | undefined {
  const [, output] = operands
  if (output !== undefined)
    return {
      rule: 'operand',
      part: output,
      why: 'is the file that uniq would write',
      hint: 'Give uniq one file: what it finds is printed.',
    }
  const late = flags.find(({ operandsBefore }) => operandsBefore > 0)
  if (late !== undefined)
    return {
      rule: 'operand',
      part: late.name,
      why: 'comes after the file, where some systems take it for a file to write',
      hint: 'Put the flags of uniq before its file.',
    }
  return undefined
}
