import type { Answer, AskReviewer, Question } from '../../schemas/review.ts'
import { type Markdown, readMarkdown } from '../../text/markdown.ts'
import { type DiffFile, type DiffLine, formatLocation, maxLineLength, readDiff } from '../../text/unified-diff.ts'
import { type ChecklistFinding, finding, firstOf, quote } from './finding.ts'
import {
  type ChecklistSetup,
  checkPlaceholders,
  checkPlan,
  checkSize,
  isEmpty,
  linesUnder,
  type PlannedChange,
} from './plan.ts'

/** A reviewer without a network, a key or an opinion: it sees what is missing, and always sees the same. */
export const checklistReviewer =
  (setup: ChecklistSetup): AskReviewer =>
  async (question, { signal, onProgress }) => {
    if (signal.aborted)
      return failed('cancelled', 'The review was stopped.', 'Start the review again when you are ready.')
    onProgress('going through the checklist')
    try {
      const checked = check(question.subject, setup)
      const text = JSON.stringify(answerOf(question, checked))
      return { kind: 'answered', text, usage: null, model: null, thread: null, notices: [] }
    } catch (error) {
      return failed(
        'crashed',
        `The checklist failed: ${String(error).slice(0, 300)}`,
        'Use another reviewer, and report this.',
      )
    }
  }

type Checked = { readonly findings: readonly ChecklistFinding[]; readonly what: string; readonly files: number }

function check({ type, content }: Question['subject'], setup: ChecklistSetup): Checked {
  switch (type) {
    case 'plan': {
      const changes = setup.readChanges(content)
      return { findings: checkPlan(content, setup), what: describePlan(setup, changes), files: changes.length }
    }
    case 'code':
      return { findings: checkDiff(content), what: 'no leftovers of work in progress', files: readDiff(content).length }
    case 'prd':
    case 'sdd':
    case 'sprint':
      return { findings: checkDocument(content, setup.maxBytes), what: 'no gaps and no placeholders', files: 0 }
  }
}

function describePlan({ requiredSections }: ChecklistSetup, changes: readonly PlannedChange[]): string {
  const sections = counted(requiredSections.length, 'section')
  const paths = new Set(changes.map(({ pattern }) => pattern)).size
  const rest = `no placeholders, and ${counted(paths, 'path')} in order`
  return requiredSections.length === 0 ? rest : `all ${sections}, ${rest}`
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

const modesty = 'The checklist looks at the form; whether the idea is good is for people to judge.'

const outcomes = ['critical', 'major'] as const

function answerOf({ schema }: Question, { findings, what, files }: Checked): object {
  const hard = findings.filter(({ severity }) => outcomes.some((outcome) => outcome === severity)).length
  const isFine = hard === 0
  return {
    ...(schema?.$id === 'first-pass' ? firstPass(files) : {}),
    verdict: isFine ? 'APPROVED' : 'CHANGES_REQUIRED',
    is_optimal: isFine,
    summary: `${summaryOf(hard, findings.length - hard, what)} ${modesty}`,
    question: null,
    findings,
    previous_findings: [],
  }
}

/** All of it is known after one pass. */
const firstPass = (files: number): object => ({
  context_summary: 'Only the form was checked.',
  complexity: { risk_area_count: 0, files_affected: files, scope_category: 'low' },
})

function summaryOf(hard: number, soft: number, what: string): string {
  const hints = soft === 0 ? '' : ` There ${soft === 1 ? 'is one hint' : `are ${soft} hints`} besides.`
  if (hard === 0) return `The form is right: ${what}.${hints}`
  return `${hard === 1 ? 'One thing has' : `${hard} things have`} to be mended first.${hints}`
}

const failed = (failure: 'cancelled' | 'crashed', why: string, nextStep: string): Answer => ({
  kind: 'failed',
  failure,
  why,
  nextStep,
  retryAfterMs: null,
  thread: null,
  notices: [],
})

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
      finding(rule.severity, formatLocation(path, line.number), {
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
              .map(({ path, line }) => formatLocation(path, line.number))
              .join(', '),
            fix: rule.fix,
          }),
        ]),
  ]
}

function isHit(rule: Rule, { text }: DiffLine): boolean {
  if (text.length > maxLineLength) return false
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

const checkDeletedTests = (files: readonly DiffFile[]): ChecklistFinding[] => [
  ...deletedFiles(files),
  ...fewerTests(files),
]

const isTestFile = (path: string): boolean => testFiles.some((pattern) => pattern.test(path))

const testFiles = [
  /(?:^|\/)(?:tests?|spec|__tests__)\//,
  /[._-](?:test|spec)\.[a-z]+$/,
  /(?:^|\/)test_[^/]+\.py$/,
  /_test\.(?:go|py)$/,
  /Tests?\.(?:java|kt|cs)$/,
] as const

/** A feature that goes takes its tests along; tests that go alone leave something untested. */
function deletedFiles(files: readonly DiffFile[]): ChecklistFinding[] {
  const deleted = files.filter(({ isDeleted }) => isDeleted)
  const isFeature = deleted.some(({ path }) => !isTestFile(path))
  const tests = deleted.filter(({ path }) => isTestFile(path))
  const { shown, more } = firstOf(tests, 8)
  const severity = isFeature ? 'minor' : 'major'
  const fix = 'Say what tests this behaviour now, or keep the file.'
  return [
    ...shown.map(({ path, removed }) =>
      finding(severity, path, {
        problem: 'A file of tests is deleted.',
        evidence: `Lines 1–${Math.max(1, removed.at(-1)?.number ?? 1)} of ${quote(path)} are gone.`,
        fix,
      }),
    ),
    ...(more.length === 0
      ? []
      : [
          finding(severity, more[0]?.path ?? 'Diff', {
            problem: `${more.length} more files of tests are deleted.`,
            evidence: more
              .slice(0, 20)
              .map(({ path }) => quote(path))
              .join(', '),
            fix,
          }),
        ]),
  ]
}

const testCase = /^\s*(?:(?:it|test)(?:\.\w+){0,2}\s*\(|(?:async )?def test_|func Test[A-Z]|#\[test\]|@Test\b)/

function fewerTests(files: readonly DiffFile[]): ChecklistFinding[] {
  const count = (lines: readonly DiffLine[]): DiffLine[] =>
    lines.filter(({ text }) => text.length <= maxLineLength && testCase.test(text))
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
        finding('minor', formatLocation(path, first.number), {
          problem: `The file has ${fewer === 1 ? 'one test' : `${fewer} tests`} fewer than before.`,
          evidence: `Line ${first.number} before the change: ${quote(first.text)}`,
          fix: 'Say what tests this behaviour now, or keep the tests.',
        }),
      ]
    })
    .slice(0, 8)
}

/** Requirements, designs and sprint plans: no sections are prescribed, but those that are there say something. */
export function checkDocument(text: string, maxBytes: number): readonly ChecklistFinding[] {
  if (text.trim() === '')
    return [
      finding('critical', 'Document', {
        problem: 'The document is empty.',
        evidence: 'There is no text from line 1 on.',
        fix: 'Write it, or name another file.',
      }),
    ]
  const markdown = readMarkdown(text)
  return [
    ...checkSize(text, maxBytes, 'document'),
    ...checkHeadings(markdown),
    ...emptySections(markdown),
    ...checkPlaceholders(markdown, []),
  ]
}

const checkHeadings = ({ lines, headings }: Markdown): ChecklistFinding[] =>
  headings.length > 0
    ? []
    : [
        finding('major', 'Document', {
          problem: 'The document has no headings.',
          evidence: `Lines 1–${lines.length} have no line that begins with #.`,
          fix: 'Give each part a heading, such as `## Requirements`, so that findings can say where they belong.',
        }),
      ]

/** A heading whose text is all below smaller headings is not empty. */
function emptySections(markdown: Markdown): ChecklistFinding[] {
  const empty = markdown.headings.filter((heading, index) => {
    const next = markdown.headings[index + 1]
    return (next === undefined || next.level <= heading.level) && isEmpty(linesUnder(markdown, heading))
  })
  const { shown, more } = firstOf(empty, 12)
  const findings = shown.map(({ level, title, number }) =>
    finding('major', title, {
      problem: `\`${'#'.repeat(level)} ${title}\` is empty.`,
      evidence: `Line ${number} is the heading, and nothing follows it.`,
      fix: 'Write the section, or take the heading out.',
    }),
  )
  if (more.length === 0) return findings
  const evidence = `Lines ${more
    .slice(0, 40)
    .map(({ number }) => number)
    .join(', ')}${more.length > 40 ? ' and further' : ''}.`
  const problem = `${more.length} more sections are empty.`
  return [
    ...findings,
    finding('major', more[0]?.title ?? '', { problem, evidence, fix: 'Write them, or take the headings out.' }),
  ]
}
