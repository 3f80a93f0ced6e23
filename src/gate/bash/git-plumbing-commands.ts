import { checkConfigRead } from './check-config-read.ts'
import { checkOneReference } from './check-one-reference.ts'
import type { CommandRow } from './command-row.ts'
import { diffFlags, logFlags } from './git-flags.ts'
import { refFlags } from './git-list-flags.ts'

const treeDiff = [
  ...diffFlags,
  { plain: '--cached --merge-base --no-commit-id -v --always', optionalFormat: '--pretty' },
]

/** Below the everyday commands: what scripts and careful agents ask. None of them can write with these flags. */
export const gitPlumbingCommands = [
  {
    name: 'check-ignore',
    operands: 'words',
    flags: [{ plain: '-q --quiet -v --verbose -n --non-matching --no-index' }],
  },
  { name: 'cherry', operands: 'words', flags: [{ plain: '-v --verbose', optional: '--abbrev' }] },
  {
    name: 'config',
    operands: 'words',
    check: checkConfigRead,
    flags: [
      {
        plain:
          '-l --list --get --get-all --get-regexp --get-urlmatch --global --system --local --worktree --show-origin --show-scope --name-only -z --null --includes --no-includes --bool --int --bool-or-int --path',
        text: '--type --default',
      },
    ],
    refused: {
      '-e --edit': ['opens an editor', 'Use git config --list.'],
      '--add --unset --unset-all --replace-all --rename-section --remove-section': [
        'changes the configuration',
        'Leave it out; it can be read by --get.',
      ],
    },
  },
  { name: 'count-objects', operands: 'none', flags: [{ plain: '-v --verbose -H --human-readable' }] },
  { name: 'diff-files', operands: 'files', flags: treeDiff },
  { name: 'diff-index', operands: 'files', flags: treeDiff },
  { name: 'diff-tree', operands: 'files', flags: treeDiff },
  {
    name: 'for-each-ref',
    operands: 'words',
    flags: [refFlags, { plain: '-s --shell -p --perl --python --tcl', number: '--count', text: '--exclude' }],
  },
  {
    name: 'ls-tree',
    operands: 'words',
    flags: [
      {
        plain: '-d -r -t -l --long -z --name-only --name-status --object-only --full-name --full-tree',
        optional: '--abbrev',
        text: '--format',
      },
    ],
  },
  {
    name: 'name-rev',
    operands: 'words',
    needsPipe: '--annotate-stdin',
    flags: [
      {
        plain: '--all --tags --name-only --undefined --no-undefined --always --annotate-stdin',
        text: '--refs --exclude',
      },
    ],
  },
  {
    name: 'range-diff',
    operands: 'words',
    flags: [
      ...diffFlags,
      { plain: '--no-dual-color --left-only --right-only --no-notes', number: '--creation-factor' },
    ],
  },
  {
    name: 'rev-list',
    operands: 'words',
    flags: [
      ...logFlags,
      { plain: '--count --objects --timestamp --header --no-commit-header --quiet --unpacked --objects-edge' },
      { plain: '-0 -1 -2 -3 -4 -5 -6 -7 -8 -9', optional: '--abbrev --disk-usage' },
    ],
  },
  {
    name: 'show-branch',
    operands: 'words',
    flags: [
      {
        plain:
          '-a --all -r --remotes --current --topo-order --date-order --sparse --list --merge-base --independent --no-name --sha1-name --topics --no-color',
        optional: '--color --more -g --reflog',
      },
    ],
  },
  {
    name: 'show-ref',
    operands: 'words',
    flags: [
      {
        plain: '--head --heads --branches --tags -d --dereference -s --verify -q --quiet --exists',
        optional: '--hash --abbrev',
      },
    ],
  },
  {
    name: 'symbolic-ref',
    operands: 'words',
    mostOperands: 1,
    check: checkOneReference,
    flags: [{ plain: '-q --quiet --short --recurse --no-recurse' }],
  },
] as const satisfies readonly CommandRow[]
