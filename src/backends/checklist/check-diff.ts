import { checkDeletedTests } from './check-deleted-tests.ts'
import { type ChecklistFinding, finding, firstOf, quote } from './finding.ts'
import { type DiffFile, type DiffLine, longestRead, placeOf, readDiff } from './read-diff.ts'

/** What hardly ever is meant to stay in code. */
export function checkDiff(diff: string): readonly ChecklistFinding[] {
  if (diff.trim() === '')
    return [
      finding('major', 'Diff', {
        problem: 'There is no change to look at.',
        evidence: 'The diff is empty from line 1 on.',
        fix: 'Check which commits or files were meant to be reviewed.',
      }),
    ]
  const files = readDiff(diff)
  return [...rules.flatMap((rule) => checkRule(rule, files)), ...checkDeletedTests(files)]
}

type Rule = {
  readonly severity: ChecklistFinding['severity']
  readonly files: RegExp
  /** Not where the match stands in a string or, but for remarks, in a comment. */
  readonly place: 'anywhere' | 'code' | 'comment'
  readonly pattern: RegExp
  readonly problem: string
  readonly fix: string
}

const script = /\.(?:[cm]?[jt]sx?|vue|svelte)$|^$/
const anyFile = /^/

const rules: readonly Rule[] = [
  {
    severity: 'critical',
    files: anyFile,
    place: 'anywhere',
    pattern: /^(?:<{7}|>{7}|\|{7})(?: |$)/,
    problem: 'A conflict of a merge is left in the file.',
    fix: 'Settle the conflict and take its marks out.',
  },
  {
    severity: 'major',
    files: script,
    place: 'code',
    pattern: /^\s*debugger\s*;?\s*$/,
    problem: 'A debugger statement stops the program here.',
    fix: 'Take it out.',
  },
  {
    severity: 'major',
    files: /\.py$|^$/,
    place: 'code',
    pattern: /^\s*(?:breakpoint\(\)|(?:import|from) i?pdb\b|i?pdb\.set_trace\()/,
    problem: 'A call of the debugger stops the program here.',
    fix: 'Take it out.',
  },
  {
    severity: 'major',
    files: /\.(?:rb|erb|rake)$/,
    place: 'code',
    pattern: /^\s*(?:binding\.(?:pry|irb|b)\b|byebug\b|debugger\b)/,
    problem: 'A call of the debugger stops the program here.',
    fix: 'Take it out.',
  },
  {
    severity: 'major',
    files: script,
    place: 'code',
    pattern:
      /\b(?:describe|it|test|suite|context|specify|bench)(?:\.\w+){0,3}\.only\b|(?:^|[\s;{])(?:fit|fdescribe)\s*\(/,
    problem: 'Only this test runs; all others in the file are passed over.',
    fix: 'Take the focus out, so that the whole file runs.',
  },
  {
    severity: 'minor',
    files: script,
    place: 'code',
    pattern: /\b(?:describe|it|test|suite|context|specify)(?:\.\w+){0,3}\.(?:skip|todo)\s*\(/,
    problem: 'This test does not run.',
    fix: 'Let it run, or say beside it why it cannot and what would change that.',
  },
  {
    severity: 'minor',
    files: script,
    place: 'code',
    pattern: /(?:^|[\s;{])(?:xit|xdescribe|xtest)\s*\(/,
    problem: 'This test does not run.',
    fix: 'Let it run, or say beside it why it cannot and what would change that.',
  },
  {
    severity: 'minor',
    files: /\.(?:py|go|rs|java|kt)$/,
    place: 'code',
    pattern: /^\s*(?:@(?:pytest\.mark|unittest)\.skip\b|@(?:Disabled|Ignore)\b|#\[ignore\b|t\.Skip(?:Now)?\()/,
    problem: 'This test does not run.',
    fix: 'Let it run, or say beside it why it cannot and what would change that.',
  },
  {
    severity: 'minor',
    files: /(?<!\.(?:md|mdx|txt|rst|adoc))$/,
    place: 'comment',
    pattern: /(?<![\w./-])(?:TODO|FIXME|XXX)\b(?!\s*\()/,
    problem: 'A note says that something is still to be done, but not where that is kept.',
    fix: 'Do it now, or name an issue, such as TODO(#123).',
  },
]

function checkRule(rule: Rule, files: readonly DiffFile[]): ChecklistFinding[] {
  const hits = files
    .filter(({ path, isDeleted }) => !isDeleted && rule.files.test(path))
    .flatMap(({ path, added }) => added.filter((line) => isHit(rule, line)).map((line) => ({ path, line })))
  const { shown, more } = firstOf(hits, 8)
  return [
    ...shown.map(({ path, line }) =>
      finding(rule.severity, placeOf(path, line.number), {
        problem: rule.problem,
        evidence: `Line ${line.number}: ${quote(line.text)}`,
        fix: rule.fix,
      }),
    ),
    ...(more.length === 0
      ? []
      : [
          finding(rule.severity, more[0]?.path || 'Diff', {
            problem: `In ${more.length} more places: ${rule.problem}`,
            evidence: more
              .slice(0, 20)
              .map(({ path, line }) => placeOf(path, line.number))
              .join(', '),
            fix: rule.fix,
          }),
        ]),
  ]
}

function isHit(rule: Rule, { text }: DiffLine): boolean {
  if (text.length > longestRead) return false
  const match = rule.pattern.exec(text)
  if (match === null) return false
  const before = text.slice(0, match.index)
  switch (rule.place) {
    case 'anywhere':
      return true
    case 'code':
      return !isInString(before) && !commentStart.test(before)
    case 'comment':
      return commentStart.test(before) && !reference.test(text)
  }
}

const commentStart = /\/\/|\/\*|^\s*\*|(?:^|\s)#|<!--|(?:^|\s)--(?:\s|$)|^\s*(?:;|%)/

/** An issue, a link, or somebody's name right behind the word. */
const reference = /#\d|[A-Z][A-Z0-9]{1,9}-\d|https?:\/\//

const isInString = (before: string): boolean => ["'", '"', '`'].some((mark) => before.split(mark).length % 2 === 0)
