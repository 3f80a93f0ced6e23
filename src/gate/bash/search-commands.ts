import type { CommandRow, Flags } from './command-row.ts'

const numbers: Flags = { plain: '-0 -1 -2 -3 -4 -5 -6 -7 -8 -9' }
const about: Flags = { plain: '--help --version' }

const rgFlags: readonly Flags[] = [
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
  },
]

const grepFlags: readonly Flags[] = [
  about,
  numbers,
  {
    plain:
      '-E --extended-regexp -F --fixed-strings -G --basic-regexp -P --perl-regexp -i -y --ignore-case --no-ignore-case -v --invert-match -w --word-regexp -x --line-regexp -c --count -L --files-without-match -l --files-with-matches -o --only-matching -q --quiet --silent -s --no-messages -b --byte-offset -H --with-filename -h --no-filename -n --line-number -T --initial-tab -u -Z --null -z --null-data -a --text -I -r --recursive -R --dereference-recursive -U --binary --line-buffered --no-group-separator -V',
    optional: '--color --colour',
    number: '-m --max-count -A --after-context -B --before-context -C --context',
    text: '--include --exclude --exclude-dir --label --binary-files -D --devices -d --directories --group-separator',
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
} as const satisfies CommandRow

/** `find` stands in a file of its own: its arguments are an expression. */
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
] as const satisfies readonly CommandRow[]
