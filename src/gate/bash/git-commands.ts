import { checkListMode } from './check-list-mode.ts'
import type { CommandRow } from './command-row.ts'
import { diffFlags, logFlags, numbers } from './git-flags.ts'
import { columnFlags, refFlags } from './git-list-flags.ts'

/** What any of diff, log and show refuses. */
const showing = {
  '--output': ['writes a file', 'Leave it out: the result is printed.'],
  '--ext-diff': ['runs an external diff program', 'Leave it out.'],
  '--textconv': ['runs a converter', 'Leave it out.'],
  '--show-signature': ['runs gpg', 'Leave it out.'],
  '--remerge-diff': ['writes temporary objects', 'Use --cc, or --first-parent.'],
  '--no-index': ['compares files outside of the repository', 'Use diff -u <file> <file>.'],
  '--stdin': ['waits for stdin', 'Write the revisions as arguments.'],
} as const

/** The subcommands of the first design; `git-more-commands.ts` has those that were added. */
export const gitCommands = [
  {
    name: 'status',
    operands: 'words',
    flags: [
      {
        // -vv converts by textconv, as a plain diff does: which programs that may run is what git-config watches.
        plain:
          '-s --short -b --branch --no-branch --show-stash --no-show-stash --porcelain --porcelain=v1 --porcelain=v2 --porcelain=1 --porcelain=2 --long -v --verbose -uno -unormal -uall -u -z --null --ahead-behind --no-ahead-behind --renames --no-renames --no-column',
        optional: '--untracked-files --ignored --ignore-submodules --column --find-renames -M',
      },
    ],
  },
  {
    name: 'diff',
    operands: 'files',
    flags: [...diffFlags, { plain: '--cached --staged --merge-base --base --ours --theirs' }],
    refused: showing,
  },
  { name: 'show', operands: 'files', flags: [...diffFlags, ...logFlags], refused: showing },
  { name: 'log', operands: 'files', flags: [...diffFlags, ...logFlags], refused: showing },
  {
    name: 'rev-parse',
    operands: 'words',
    flags: [
      {
        plain:
          '--show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir --git-common-dir --is-inside-git-dir --is-inside-work-tree --is-bare-repository --is-shallow-repository --verify -q --quiet --symbolic --symbolic-full-name --all --not --revs-only --no-revs --flags --no-flags --sq --path-format=absolute --path-format=relative --end-of-options --local-env-vars',
        optional:
          '--short --abbrev-ref --branches --tags --remotes --show-object-format --disambiguate --glob --exclude --since --after --until --before',
        text: '--default',
      },
    ],
  },
  {
    name: 'grep',
    operands: 'files',
    firstIsProgram: { unless: '-e -f' },
    flags: [
      numbers,
      {
        plain:
          '-n --line-number --no-line-number --column -i --ignore-case -v --invert-match -w --word-regexp -a --text --no-text -I -r --recursive --no-recursive -E --extended-regexp -G --basic-regexp -F --fixed-strings -P --perl-regexp -l --files-with-matches --name-only -L --files-without-match -z --null -o --only-matching -c --count -h -H --full-name -p --show-function -W --function-context -q --quiet --break --no-break --heading --no-heading --all-match --and --or --not --cached --untracked --no-index --exclude-standard --no-exclude-standard --no-color --no-textconv --recurse-submodules --no-recurse-submodules',
        optional: '--color',
        number: '-A --after-context -B --before-context -C --context -m --max-count --max-depth --threads',
        any: '-e',
        file: '-f',
      },
    ],
    refused: {
      '-O --open-files-in-pager': ['opens the matches in a program', 'Leave it out: the matches are printed.'],
      '--textconv': ['runs a converter', 'Leave it out.'],
    },
  },
  {
    name: 'branch',
    operands: 'words',
    check: checkListMode,
    flags: [
      refFlags,
      columnFlags,
      {
        plain: '-a --all -r --remotes --remote -v --verbose -l --list --show-current --no-abbrev',
        optional: '--abbrev',
      },
    ],
    refused: {
      '-d -D --delete -m -M --move -c -C --copy -f --force -u --set-upstream-to --unset-upstream --edit-description -t --track':
        ['changes branches', 'Leave it out; the branches can be listed.'],
    },
  },
] as const satisfies readonly CommandRow[]
