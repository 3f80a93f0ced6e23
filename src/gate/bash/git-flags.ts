import type { Flags } from './command-row.ts'

/** `-1` … `-9`: so many commits; for diff and grep so much context. */
export const numbers: Flags = { plain: '-0 -1 -2 -3 -4 -5 -6 -7 -8 -9' }

/** How a difference is shown: diff, show, log, stash show and the plumbing below them. */
export const diffFlags: readonly Flags[] = [
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
export const logFlags: readonly Flags[] = [
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
