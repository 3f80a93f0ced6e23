import { checkJqProgram } from './check-jq-program.ts'
import { checkOneInput } from './check-one-input.ts'
import type { CommandRow, Flags } from './command-row.ts'

const about: Flags = { plain: '--help --version' }
const numbers: Flags = { plain: '-0 -1 -2 -3 -4 -5 -6 -7 -8 -9' }
const unlessAbout = { unless: '--help --version' }

const neverEnds = ['never ends', 'Leave -f/--follow out, and look again later.'] as const

/** Commands that print what is in files, whole or in part. */
export const textCommands = [
  {
    name: 'cat',
    operands: 'files',
    readsStdin: unlessAbout,
    flags: [
      about,
      {
        plain:
          '-A --show-all -b --number-nonblank -e -E --show-ends -n --number -s --squeeze-blank -t -T --show-tabs -u -v --show-nonprinting',
      },
    ],
  },
  {
    name: 'head',
    operands: 'files',
    readsStdin: unlessAbout,
    mayReadNothing: true,
    flags: [
      about,
      numbers,
      { plain: '-q --quiet --silent -v --verbose -z --zero-terminated', number: '-n --lines -c --bytes' },
    ],
  },
  {
    name: 'tail',
    operands: 'files',
    readsStdin: unlessAbout,
    mayReadNothing: true,
    flags: [
      about,
      numbers,
      { plain: '-q --quiet --silent -v --verbose -z --zero-terminated', number: '-n --lines -c --bytes' },
    ],
    refused: {
      '-f -F --follow --retry': neverEnds,
      '--pid -s --sleep-interval --max-unchanged-stats': neverEnds,
    },
  },
  {
    name: 'wc',
    operands: 'files',
    readsStdin: unlessAbout,
    flags: [about, { plain: '-c --bytes -m --chars -l --lines -L --max-line-length -w --words', text: '--total' }],
    refused: { '--files0-from': ['reads a list of names', 'Name the files.'] },
  },
  {
    name: 'sort',
    operands: 'files',
    readsStdin: unlessAbout,
    flags: [
      about,
      {
        plain:
          '-b --ignore-leading-blanks -d --dictionary-order -f --ignore-case -g --general-numeric-sort -h --human-numeric-sort -i --ignore-nonprinting -M --month-sort -n --numeric-sort -R --random-sort -r --reverse -V --version-sort -c -C -m --merge -s --stable -u --unique -z --zero-terminated --debug',
        optional: '--check',
        number: '--parallel --batch-size',
        text: '-k --key -t --field-separator --sort',
      },
    ],
    refused: {
      '-o --output': ['writes a file', 'Leave it out: the sorted lines are printed.'],
      '--compress-program': ['runs a program', 'Leave it out.'],
      '-T --temporary-directory -S --buffer-size': ['decides where sort writes temporary files', 'Leave it out.'],
      '--files0-from': ['reads a list of names', 'Name the files.'],
      '--random-source': ['reads from a device', 'Leave it out.'],
    },
  },
  {
    name: 'uniq',
    operands: 'files',
    readsStdin: unlessAbout,
    check: checkOneInput,
    flags: [
      about,
      {
        plain: '-c --count -d --repeated -D -i --ignore-case -u --unique -z --zero-terminated',
        optional: '--all-repeated --group',
        number: '-f --skip-fields -s --skip-chars -w --check-chars',
      },
    ],
  },
  {
    name: 'cut',
    operands: 'files',
    readsStdin: unlessAbout,
    flags: [
      about,
      {
        plain: '-n -s --only-delimited -z --zero-terminated --complement',
        text: '-b --bytes -c --characters -d --delimiter -f --fields --output-delimiter',
      },
    ],
  },
  {
    name: 'diff',
    operands: 'files',
    flags: [
      about,
      {
        plain:
          '-q --brief -s --report-identical-files -c -u -e --ed -n --rcs -y --side-by-side --normal -p --show-c-function -T --initial-tab -t --expand-tabs --suppress-common-lines --suppress-blank-empty --left-column -r --recursive --no-dereference -N --new-file --unidirectional-new-file -P --ignore-file-name-case --no-ignore-file-name-case -i --ignore-case -E --ignore-tab-expansion -Z --ignore-trailing-space -b --ignore-space-change -w --ignore-all-space -B --ignore-blank-lines -a --text --strip-trailing-cr -d --minimal --speed-large-files -v',
        optional: '--color --unified --context',
        number: '-U -C -W --width --tabsize --horizon-lines',
        text: '-L --label -F --show-function-line -I --ignore-matching-lines -x --exclude -D --ifdef --palette --line-format --old-line-format --new-line-format --unchanged-line-format --old-group-format --new-group-format --changed-group-format --unchanged-group-format',
        file: '-X --exclude-from -S --starting-file --from-file --to-file',
      },
    ],
    refused: { '-l --paginate': ['runs pr', 'Leave it out: the output is not paged.'] },
  },
  {
    name: 'jq',
    operands: 'files',
    firstIsProgram: { unless: '' },
    readsStdin: { unless: '-n --null-input --help --version -h -V' },
    check: checkJqProgram,
    flags: [
      about,
      {
        plain:
          '-c --compact-output -n --null-input -e --exit-status -s --slurp -r --raw-output --raw-output0 -R --raw-input -C --color-output -M --monochrome-output -S --sort-keys -a --ascii-output -j --join-output -h -V --tab --unbuffered --stream --stream-errors --seq',
        number: '--indent',
        pair: '--arg --argjson',
      },
    ],
    refused: {
      '-f --from-file': ['runs a program that the gate cannot see', "Write the filter in quotes: jq '.name' <file>."],
      '-L': ['loads modules', 'Leave it out.'],
      '--args --jsonargs': ['takes the files for strings, and waits for stdin', 'Use --arg name value.'],
      '--slurpfile --rawfile --argfile': ['reads another file', 'Name the files as arguments.'],
    },
  },
] as const satisfies readonly CommandRow[]
