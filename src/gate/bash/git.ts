import { refuse } from './refusal.ts'
import { type Call, type CommandRow, type Flags, hasFlag, numbers, row } from './row.ts'

/** Each of these makes `git branch` and `git tag` list, whatever else is given. */
const listing = '-l --list --contains --no-contains --merged --no-merged --points-at'

/** `git branch name` creates a branch; with a flag that lists, the name is a pattern. */
function checkListMode(call: Call): void {
  const [operand] = call.operands
  if (operand === undefined || hasFlag(call, listing)) return
  refuse('operand', operand, `is a name that ${call.name} would make`, `To list: ${call.name} --list '${operand}'.`)
}

/** How a difference is shown: diff, show, log, stash show and their plumbing. */
const diffFlags: readonly Flags[] = [
  numbers,
  {
    plain:
      '-p -u --patch -s --no-patch --raw --patch-with-raw --patch-with-stat --numstat --shortstat --summary --compact-summary --no-compact-summary --cumulative --name-only --name-status --check --binary --full-index --no-full-index -z -q --quiet --exit-code --no-prefix --default-prefix -W --function-context --no-function-context --no-color --no-color-moved --no-color-moved-ws --no-abbrev',
    optional:
      '-U --unified --stat --dirstat -X --dirstat-by-file --color --color-words --word-diff --color-moved --abbrev --relative --ignore-submodules',
    number: '--stat-width --stat-name-width --stat-graph-width --stat-count --inter-hunk-context -l',
    text: '--src-prefix --dst-prefix --line-prefix --word-diff-regex --ws-error-highlight --color-moved-ws --output-indicator-new --output-indicator-old --output-indicator-context --diff-filter --find-object --anchored --diff-algorithm --skip-to --rotate-to',
  },
  {
    plain:
      '--no-renames --rename-empty --no-rename-empty --find-copies-harder -D --irreversible-delete --minimal --no-minimal --patience --histogram --indent-heuristic --no-indent-heuristic -R -a --text -b --ignore-space-change -w --ignore-all-space --ignore-space-at-eol --ignore-cr-at-eol --ignore-blank-lines --pickaxe-all --pickaxe-regex --no-relative --no-ext-diff --no-textconv --submodule=log --submodule=short --ita-visible-in-index --ita-invisible-in-index -m -c --cc --combined-all-paths -r -t --root',
    optional: '-M --find-renames -C --find-copies -B --break-rewrites',
    text: '-S -G -I --ignore-matching-lines',
    file: '-O',
  },
]

/** Which commits, in which order, and how each is shown: log, show, stash list, reflog show. */
const logFlags: readonly Flags[] = [
  {
    plain:
      '--all --reflog --merge --boundary --left-right --left-only --right-only --cherry --cherry-mark --cherry-pick -g --walk-reflogs --merges --no-merges --first-parent --exclude-first-parent-only --not --bisect --follow --no-follow --full-history --dense --sparse --simplify-merges --simplify-by-decoration --show-pulls --remove-empty --do-walk --ignore-missing --single-worktree --no-min-parents --no-max-parents',
    optional: '--branches --tags --remotes --ancestry-path --no-walk --min-parents --max-parents',
    number: '-n --max-count --skip --max-age --min-age',
    text: '--glob --exclude --since --since-as-filter --after --until --before',
  },
  {
    plain:
      '-i --regexp-ignore-case -E --extended-regexp -F --fixed-strings -P --perl-regexp --basic-regexp --all-match --invert-grep',
    text: '--author --committer --grep --grep-reflog -L',
  },
  {
    plain:
      '--oneline --graph --no-graph --reverse --date-order --author-date-order --topo-order --in-commit-order --source --no-source --log-size --abbrev-commit --no-abbrev-commit --no-decorate --clear-decorations --no-expand-tabs --no-notes --relative-date --parents --children --use-mailmap --no-use-mailmap --mailmap --no-mailmap --no-show-signature --dd --no-diff-merges --diff-merges=off --diff-merges=none --diff-merges=on --diff-merges=first-parent --diff-merges=separate --diff-merges=combined --diff-merges=dense-combined',
    optional: '--decorate --expand-tabs --notes --show-notes --show-linear-break',
    text: '--date --encoding --decorate-refs --decorate-refs-exclude',
  },
  { optionalFormat: '--pretty --format' },
]

/** How branch, tag and for-each-ref select, sort and print refs. */
const refFlags: Flags = {
  plain: '--no-color -i --ignore-case --omit-empty',
  optional: '--color',
  textUnlessLast: '--contains --no-contains --merged --no-merged',
  text: '--points-at',
  sortKey: '--sort',
  format: '--format',
}

const columnFlags: Flags = { plain: '--no-column', optional: '--column' }

/** Refused for each of diff, log and show. */
const showing = {
  writes: '--output --remerge-diff',
  runs: '--ext-diff --textconv --show-signature',
  waits: '--stdin',
} as const

const blame = row('blame', 'files', {
  plain:
    '-w -e --show-email -s -l -t -c -b -f --show-name -n --show-number -p --porcelain --line-porcelain --incremental --root --show-stats --score-debug --color-lines --color-by-age --minimal --first-parent --reverse --no-textconv --progress --no-progress --no-abbrev',
  optional: '-M -C --abbrev',
  text: '-L --date --since --ignore-rev --encoding',
  file: '--ignore-revs-file',
  refused: { writes: '--output', loads: '--contents', runs: '--textconv' },
})

const treeDiff = [
  ...diffFlags,
  { plain: '--cached --merge-base --no-commit-id -v --always', optionalFormat: '--pretty' },
]

/** A row of two words wins over a row of one. None of them can write with these flags. */
export const gitCommands: readonly CommandRow[] = [
  row('status', 'words', {
    // -vv runs textconv, as a plain diff does; the keys that name such programs are checked by `untrustedGitKeys`.
    plain:
      '-s --short -b --branch --no-branch --show-stash --no-show-stash --porcelain --porcelain=v1 --porcelain=v2 --porcelain=1 --porcelain=2 --long -v --verbose -uno -unormal -uall -u -z --null --ahead-behind --no-ahead-behind --renames --no-renames --no-column',
    optional: '--untracked-files --ignored --ignore-submodules --column --find-renames -M',
  }),
  row('diff', 'files', ...diffFlags, {
    plain: '--cached --staged --merge-base --base --ours --theirs --no-index',
    refused: showing,
  }),
  row('show', 'files', ...diffFlags, ...logFlags, { refused: showing }),
  row('log', 'files', ...diffFlags, ...logFlags, { refused: showing }),
  row('rev-parse', 'words', {
    plain:
      '--show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir --git-common-dir --is-inside-git-dir --is-inside-work-tree --is-bare-repository --is-shallow-repository --verify -q --quiet --symbolic --symbolic-full-name --all --not --revs-only --no-revs --flags --no-flags --sq --path-format=absolute --path-format=relative --end-of-options --local-env-vars',
    optional:
      '--short --abbrev-ref --branches --tags --remotes --show-object-format --disambiguate --glob --exclude --since --after --until --before',
    text: '--default',
  }),
  row('grep', 'files', numbers, {
    plain:
      '-n --line-number --no-line-number --column -i --ignore-case -v --invert-match -w --word-regexp -a --text --no-text -I -r --recursive --no-recursive -E --extended-regexp -G --basic-regexp -F --fixed-strings -P --perl-regexp -l --files-with-matches --name-only -L --files-without-match -z --null -o --only-matching -c --count -h -H --full-name -p --show-function -W --function-context -q --quiet --break --no-break --heading --no-heading --all-match --and --or --not --cached --untracked --no-index --exclude-standard --no-exclude-standard --no-color --no-textconv --recurse-submodules --no-recurse-submodules',
    optional: '--color',
    number: '-A --after-context -B --before-context -C --context -m --max-count --max-depth --threads',
    any: '-e',
    file: '-f',
    firstIsProgram: '-e -f',
    refused: { runs: '-O --open-files-in-pager --textconv' },
  }),
  row('branch', 'words', refFlags, columnFlags, {
    plain: '-a --all -r --remotes --remote -v --verbose -l --list --show-current --no-abbrev',
    optional: '--abbrev',
    check: checkListMode,
    refused: {
      changes:
        '-d -D --delete -m -M --move -c -C --copy -f --force -u --set-upstream-to --unset-upstream --edit-description -t --track',
    },
  }),
  row('ls-files', 'words', {
    plain:
      '-c --cached -d --deleted -m --modified -o --others -i --ignored -s --stage -u --unmerged -k --killed -t -v -f -z --directory --no-empty-directory --eol --deduplicate --exclude-standard --error-unmatch --full-name --debug --sparse --resolve-undo',
    optional: '--abbrev',
    text: '-x --exclude --format',
    file: '-X --exclude-from',
  }),
  blame,
  { ...blame, name: 'annotate' },
  row('cat-file', 'files', {
    plain: '-p -t -s -e --use-mailmap --no-use-mailmap --mailmap --no-mailmap',
    mostOperands: 1,
    refused: { runs: '--textconv --filters', waits: '--batch --batch-check --batch-command' },
  }),
  row('describe', 'words', {
    plain: '--all --tags --contains --long --always --first-parent --exact-match --debug',
    optional: '--abbrev',
    number: '--candidates',
    text: '--match --exclude',
  }),
  row('shortlog', 'files', ...logFlags, {
    plain: '-s --summary -n --numbered -e --email -c --committer',
    optional: '-w',
    format: '--group',
    check: checkShortlogRevision,
    refused: { writes: '--output' },
  }),
  row('merge-base', 'words', { plain: '-a --all --octopus --independent --is-ancestor --fork-point' }),
  row('remote', 'none', { plain: '-v --verbose' }),
  row('remote get-url', 'words', { plain: '--push --all' }),
  row('tag', 'words', refFlags, columnFlags, {
    plain: '-l --list',
    optional: '-n',
    check: checkListMode,
    refused: {
      changes: '-d --delete -f --force -a --annotate -s --sign -m --message -F --file -u --local-user',
      runs: '-v --verify',
    },
  }),
  row('stash list', 'words', ...diffFlags, ...logFlags, { check: checkStashOperands }),
  row('stash show', 'words', ...diffFlags, { plain: '--include-untracked --no-include-untracked --only-untracked' }),
  row('reflog', 'words', ...diffFlags, ...logFlags, { check: checkReflogOperand }),
  row('reflog show', 'words', ...diffFlags, ...logFlags),
  row('worktree list', 'none', { plain: '--porcelain -z -v --verbose' }),
  row('check-ignore', 'words', { plain: '-q --quiet -v --verbose -n --non-matching --no-index' }),
  row('cherry', 'words', { plain: '-v --verbose', optional: '--abbrev' }),
  row('config', 'words', {
    plain:
      '-l --list --get --get-all --get-regexp --get-urlmatch --global --system --local --worktree --show-origin --show-scope --name-only -z --null --includes --no-includes --bool --int --bool-or-int --path',
    text: '--type --default',
    check: checkConfigRead,
    refused: {
      runs: '-e --edit',
      changes: '--add --unset --unset-all --replace-all --rename-section --remove-section',
    },
  }),
  row('count-objects', 'none', { plain: '-v --verbose -H --human-readable' }),
  row('diff-files', 'files', ...treeDiff),
  row('diff-index', 'files', ...treeDiff),
  row('diff-tree', 'files', ...treeDiff),
  row('for-each-ref', 'words', refFlags, {
    plain: '-s --shell -p --perl --python --tcl',
    number: '--count',
    text: '--exclude',
  }),
  row('ls-tree', 'words', {
    plain: '-d -r -t -l --long -z --name-only --name-status --object-only --full-name --full-tree',
    optional: '--abbrev',
    text: '--format',
  }),
  row('name-rev', 'words', {
    plain: '--all --tags --name-only --undefined --no-undefined --always --annotate-stdin',
    text: '--refs --exclude',
    needsPipe: '--annotate-stdin',
  }),
  row('range-diff', 'words', ...diffFlags, {
    plain: '--no-dual-color --left-only --right-only --no-notes',
    number: '--creation-factor',
  }),
  row(
    'rev-list',
    'words',
    ...logFlags,
    { plain: '--count --objects --timestamp --header --no-commit-header --quiet --unpacked --objects-edge' },
    { plain: '-0 -1 -2 -3 -4 -5 -6 -7 -8 -9', optional: '--abbrev --disk-usage' },
  ),
  row('show-branch', 'words', {
    plain:
      '-a --all -r --remotes --current --topo-order --date-order --sparse --list --merge-base --independent --no-name --sha1-name --topics --no-color',
    optional: '--color --more -g --reflog',
  }),
  row('show-ref', 'words', {
    plain: '--head --heads --branches --tags -d --dereference -s --verify -q --quiet --exists',
    optional: '--hash --abbrev',
  }),
  row('symbolic-ref', 'words', {
    plain: '-q --quiet --short --recurse --no-recurse',
    mostOperands: 1,
    check: checkOneReference,
  }),
]

/** It passes them on to `git log`, without the `--` before them. */
function checkStashOperands({ operands }: Call): void {
  const flag = operands.find((word) => word.startsWith('-'))
  if (flag !== undefined) refuse('operand', flag, 'is a flag for git stash list behind -- as well', `Write ./${flag}.`)
}

/** `git reflog expire`, `delete` and `drop`, and whatever later versions add, are not names of references. */
function checkReflogOperand({ operands }: Call): void {
  const [ref] = operands
  if (ref === undefined || /^HEAD\b|[/@~^]/.test(ref)) return
  refuse('operand', ref, 'may be a subcommand of git reflog that changes it', `Write git reflog show ${ref}.`)
}

/** A bare word may be a path, and with paths only, git shortlog reads a log from stdin. */
const revision = /^(HEAD|@|main$|master$|origin\/|refs\/)|\.\.|[~^]/

function checkShortlogRevision(call: Call): void {
  const named = call.operands.slice(0, call.operandsBeforeDashes).some((word) => revision.test(word))
  // The reflog is not a revision for shortlog, and --tags may match nothing.
  if (call.isPiped || ((named || hasFlag(call, '--all')) && !hasFlag(call, '-g --walk-reflogs'))) return
  refuse('stdin', 'git shortlog', 'names no revision and would wait for a log on stdin', 'Name one, such as HEAD.')
}

const reads = '--get --get-all --get-regexp --get-urlmatch'

/** `git config key value` and `git config set …` write; --get with a dotted key, and --list alone, never do. */
function checkConfigRead(call: Call): void {
  const [key] = call.operands
  if (hasFlag(call, '-l --list') && !hasFlag(call, reads) && key === undefined) return
  if (hasFlag(call, reads) && !hasFlag(call, '-l --list') && key?.includes('.') && isAfterFlags(call)) return
  refuse('operand', key ?? 'git config', 'may set a value', 'Use git config --get <section.key>, or git config --list.')
}

const isAfterFlags = ({ flags }: Call): boolean => flags.every(({ operandsBefore }) => operandsBefore === 0)

/** `git symbolic-ref HEAD other` moves HEAD. A plain name is one word in every shell. */
function checkOneReference({ operands }: Call): void {
  const [name = ''] = operands
  if (/^[\w./-]+$/.test(name)) return
  refuse('operand', name, 'is not a plain reference name', 'Use git symbolic-ref HEAD.')
}
