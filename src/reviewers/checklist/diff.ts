import { changedLines, parseDiff } from '../../text/diff.ts'
import { atLine, type ChecklistFinding, finding, limitFindings, quote } from './finding.ts'

/** Leftovers of work in progress, and tests that disappear. */
export function checkDiff(diff: string): readonly ChecklistFinding[] {
  if (diff.trim() === '')
    return [
      finding('major', 'Diff', {
        problem: 'There is no change to review.',
        evidence: 'The diff is empty from line 1 on.',
        fix: 'Check which commits or files were meant to be reviewed.',
      }),
    ]
  const files = diffFiles(diff)
  return [...rules.flatMap((rule) => checkRule(rule, files)), ...deletedTests(files), ...fewerTests(files)]
}

type NumberedLine = { readonly number: number; readonly raw: string }
type CheckedFile = {
  readonly path: string
  readonly isDeleted: boolean
  readonly added: readonly NumberedLine[]
  readonly removed: readonly NumberedLine[]
}

/** A text that is no diff counts as one file that is all new. */
export function diffFiles(text: string): readonly CheckedFile[] {
  const diff = parseDiff(text)
  if (diff === null) {
    const added = text.split(/\r?\n/).map((line, at) => ({ number: at + 1, raw: line }))
    return [{ path: '', isDeleted: false, removed: [], added }]
  }
  return diff.files.map((file) => {
    const lines = [...changedLines(text, file)].map(({ text: raw, ...line }) => ({ ...line, raw }))
    const [added, removed] = [lines.filter(({ sign }) => sign === '+'), lines.filter(({ sign }) => sign === '-')]
    return { path: file.path, isDeleted: file.isDeleted, added, removed }
  })
}

type Rule = Pick<ChecklistFinding, 'severity' | 'problem' | 'fix'> & {
  readonly files: RegExp
  /** `code`: neither in a string nor in a comment. */
  readonly context: 'anywhere' | 'code' | 'comment'
  readonly pattern: RegExp
}

const script = /\.(?:[cm]?[jt]sx?|vue|svelte)$|^$/

const debuggerLeft = {
  severity: 'major',
  context: 'code',
  problem: 'A call of the debugger stops the program here.',
  fix: 'Take it out.',
} as const
const skippedTest = {
  severity: 'minor',
  context: 'code',
  problem: 'This test does not run.',
  fix: 'Let it run, or say beside it why it cannot and what would change that.',
} as const

const rules: readonly Rule[] = [
  {
    severity: 'critical',
    files: /^/,
    context: 'anywhere',
    pattern: /^(?:<{7}|>{7}|\|{7})(?: |$)/,
    problem: 'A merge conflict is left in the file.',
    fix: 'Resolve the conflict and remove its markers.',
  },
  { ...debuggerLeft, files: script, pattern: /^\s*debugger\s*;?\s*$/ },
  { ...debuggerLeft, files: /\.py$|^$/, pattern: /^\s*(?:breakpoint\(\)|(?:import|from) i?pdb\b|i?pdb\.set_trace\()/ },
  { ...debuggerLeft, files: /\.(?:rb|erb|rake)$/, pattern: /^\s*(?:binding\.(?:pry|irb|b)\b|byebug\b|debugger\b)/ },
  {
    severity: 'major',
    files: script,
    context: 'code',
    pattern:
      /\b(?:describe|it|test|suite|context|specify|bench)(?:\.\w+){0,3}\.only\b|(?:^|[\s;{])(?:fit|fdescribe)\s*\(/,
    problem: 'Only this test runs; all others in the file are passed over.',
    fix: 'Take the focus out, so that the whole file runs.',
  },
  {
    ...skippedTest,
    files: script,
    pattern:
      /\b(?:describe|it|test|suite|context|specify)(?:\.\w+){0,3}\.(?:skip|todo)\s*\(|(?:^|[\s;{])(?:xit|xdescribe|xtest)\s*\(/,
  },
  {
    ...skippedTest,
    files: /\.(?:py|go|rs|java|kt)$/,
    pattern: /^\s*(?:@(?:pytest\.mark|unittest)\.skip\b|@(?:Disabled|Ignore)\b|#\[ignore\b|t\.Skip(?:Now)?\()/,
  },
  {
    severity: 'minor',
    files: /(?<!\.(?:md|mdx|txt|rst|adoc))$/,
    context: 'comment',
    pattern: /(?<![\w./-])(?:TODO|FIXME|XXX)\b(?!\s*\()/,
    problem: 'A note says that something is still to be done, but not where that is kept.',
    fix: 'Do it now, or name an issue, such as TODO(#123).',
  },
]

function checkRule({ severity, problem, fix, ...rule }: Rule, files: readonly CheckedFile[]) {
  const found = files
    .filter(({ path, isDeleted }) => !isDeleted && rule.files.test(path))
    .flatMap(({ path, added }) =>
      added
        .filter((line) => isHit(rule, line))
        .map((line) => finding(severity, locationOf(path, line.number), { problem, evidence: atLine(line), fix })),
    )
  return limitFindings(found, 8, (count) => `In ${count} more places: ${problem}`, sectionOf)
}

const sectionOf = ({ section }: ChecklistFinding): string => section

const locationOf = (path: string, number: number): string => (path === '' ? `line ${number}` : `${path}:${number}`)

/** Longer ones are generated code. */
const maxLineLength = 2_000

function isHit(rule: Pick<Rule, 'pattern' | 'context'>, { raw }: NumberedLine): boolean {
  if (raw.length > maxLineLength) return false
  const match = rule.pattern.exec(raw)
  if (match === null) return false
  const before = raw.slice(0, match.index)
  switch (rule.context) {
    case 'anywhere':
      return true
    case 'code':
      return !isInString(before) && !commentStart.test(before)
    case 'comment':
      return commentStart.test(before) && !reference.test(raw)
  }
}

const commentStart = /\/\/|\/\*|^\s*\*|(?:^|\s)#|<!--|(?:^|\s)--(?:\s|$)|^\s*(?:;|%)/

/** An issue or a link. */
const reference = /#\d|[A-Z][A-Z0-9]{1,9}-\d|https?:\/\//
const isInString = (before: string): boolean => ["'", '"', '`'].some((mark) => before.split(mark).length % 2 === 0)

const isTestFile = (path: string): boolean => testFiles.some((pattern) => pattern.test(path))

const testFiles = [
  /(?:^|\/)(?:tests?|spec|__tests__)\//,
  /[._-](?:test|spec)\.[a-z]+$/,
  /(?:^|\/)test_[^/]+\.py$/,
  /_test\.(?:go|py)$/,
  /Tests?\.(?:java|kt|cs)$/,
] as const

const sayWhatTests = 'Say what tests this behaviour now, or keep the tests.'

/** Deleted with code, tests are a hint; deleted alone, they leave something untested. */
function deletedTests(files: readonly CheckedFile[]) {
  const deleted = files.filter(({ isDeleted }) => isDeleted)
  const severity = deleted.some(({ path }) => !isTestFile(path)) ? 'minor' : 'major'
  const found = deleted
    .filter(({ path }) => isTestFile(path))
    .map(({ path, removed }) =>
      finding(severity, path, {
        problem: 'A file of tests is deleted.',
        evidence: `Lines 1–${Math.max(1, removed.at(-1)?.number ?? 1)} of ${quote(path)} are gone.`,
        fix: sayWhatTests,
      }),
    )
  return limitFindings(found, 8, (count) => `${count} more files of tests are deleted.`, sectionOf)
}

const testCase = /^\s*(?:(?:it|test)(?:\.\w+){0,2}\s*\(|(?:async )?def test_|func Test[A-Z]|#\[test\]|@Test\b)/

function fewerTests(files: readonly CheckedFile[]): ChecklistFinding[] {
  const count = (lines: readonly NumberedLine[]): NumberedLine[] =>
    lines.filter(({ raw }) => raw.length <= maxLineLength && testCase.test(raw))
  const moved =
    files.flatMap(({ added }) => count(added)).length - files.flatMap(({ removed }) => count(removed)).length
  if (moved >= 0) return []
  return files
    .filter(({ path, isDeleted }) => !isDeleted && isTestFile(path))
    .flatMap(({ path, added, removed }) => {
      const gone = count(removed)
      const fewer = gone.length - count(added).length
      const [first] = gone
      if (fewer <= 0 || first === undefined) return []
      return [
        finding('minor', locationOf(path, first.number), {
          problem: `The file has ${fewer === 1 ? 'one test' : `${fewer} tests`} fewer than before.`,
          evidence: `Line ${first.number} before the change: ${quote(first.raw)}`,
          fix: sayWhatTests,
        }),
      ]
    })
    .slice(0, 8)
}
