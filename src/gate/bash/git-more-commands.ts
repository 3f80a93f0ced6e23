import { checkListMode } from './check-list-mode.ts'
import { checkReflogOperand } from './check-reflog-operand.ts'
import { checkShortlogRevision } from './check-shortlog-revision.ts'
import type { CommandRow } from './command-row.ts'
import { diffFlags, logFlags } from './git-flags.ts'
import { columnFlags, refFlags } from './git-list-flags.ts'

const blame = {
  name: 'blame',
  operands: 'files',
  flags: [
    {
      plain:
        '-w -e --show-email -s -l -t -c -b -f --show-name -n --show-number -p --porcelain --line-porcelain --incremental --root --show-stats --score-debug --color-lines --color-by-age --minimal --first-parent --reverse --no-textconv --progress --no-progress --no-abbrev',
      optional: '-M -C --abbrev',
      text: '-L --date --since --ignore-rev --encoding',
      file: '--ignore-revs-file',
    },
  ],
  refused: {
    '--output': ['writes a file', 'Leave it out: the result is printed.'],
    '--contents': ['reads another file', 'Blame the file as it is in the repository.'],
    '--textconv': ['runs a converter', 'Leave it out.'],
  },
} as const satisfies CommandRow

/** The subcommands that agents need beside the first ones. A row of two words wins over a row of one. */
export const gitMoreCommands = [
  {
    name: 'ls-files',
    operands: 'words',
    flags: [
      {
        plain:
          '-c --cached -d --deleted -m --modified -o --others -i --ignored -s --stage -u --unmerged -k --killed -t -v -f -z --directory --no-empty-directory --eol --deduplicate --exclude-standard --error-unmatch --full-name --debug --sparse --resolve-undo',
        optional: '--abbrev',
        text: '-x --exclude --exclude-per-directory --format',
        file: '-X --exclude-from',
      },
    ],
  },
  blame,
  { ...blame, name: 'annotate' },
  {
    name: 'cat-file',
    operands: 'files',
    mostOperands: 1,
    flags: [{ plain: '-p -t -s -e --use-mailmap --no-use-mailmap --mailmap --no-mailmap' }],
    refused: {
      '--textconv --filters': ['runs a converter or a filter', 'Use git cat-file -p, or git show.'],
      '--batch --batch-check --batch-command': ['waits for stdin', 'Use git cat-file -p <object>.'],
    },
  },
  {
    name: 'describe',
    operands: 'words',
    flags: [
      {
        plain: '--all --tags --contains --long --always --first-parent --exact-match --debug',
        optional: '--abbrev --dirty --broken',
        number: '--candidates',
        text: '--match --exclude',
      },
    ],
  },
  {
    name: 'shortlog',
    operands: 'files',
    check: checkShortlogRevision,
    flags: [
      ...logFlags,
      { plain: '-s --summary -n --numbered -e --email -c --committer', optional: '-w', format: '--group' },
    ],
    refused: { '--output': ['writes a file', 'Leave it out.'] },
  },
  {
    name: 'merge-base',
    operands: 'words',
    flags: [{ plain: '-a --all --octopus --independent --is-ancestor --fork-point' }],
  },
  { name: 'remote', operands: 'none', flags: [{ plain: '-v --verbose' }] },
  { name: 'remote get-url', operands: 'words', flags: [{ plain: '--push --all' }] },
  {
    name: 'tag',
    operands: 'words',
    check: checkListMode,
    flags: [refFlags, columnFlags, { plain: '-l --list', optional: '-n' }],
    refused: {
      '-d --delete -f --force -a --annotate -s --sign -m --message -F --file -u --local-user': [
        'changes tags',
        'Leave it out; the tags can be listed.',
      ],
      '-v --verify': ['runs gpg', 'Use git show <tag>.'],
    },
  },
  { name: 'stash list', operands: 'words', flags: [...diffFlags, ...logFlags] },
  {
    name: 'stash show',
    operands: 'words',
    flags: [...diffFlags, { plain: '--include-untracked --no-include-untracked --only-untracked' }],
  },
  { name: 'reflog', operands: 'words', check: checkReflogOperand, flags: [...diffFlags, ...logFlags] },
  { name: 'reflog show', operands: 'words', flags: [...diffFlags, ...logFlags] },
  { name: 'worktree list', operands: 'none', flags: [{ plain: '--porcelain -z -v --verbose' }] },
] as const satisfies readonly CommandRow[]
