import { type ChecklistFinding, finding, firstOf, quote } from './finding.ts'
import { type DiffFile, type DiffLine, longestRead, placeOf } from './read-diff.ts'

export const checkDeletedTests = (files: readonly DiffFile[]): ChecklistFinding[] => [
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
    lines.filter(({ text }) => text.length <= longestRead && testCase.test(text))
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
        finding('minor', placeOf(path, first.number), {
          problem: `The file has ${fewer === 1 ? 'one test' : `${fewer} tests`} fewer than before.`,
          evidence: `Line ${first.number} before the change: ${quote(first.text)}`,
          fix: 'Say what tests this behaviour now, or keep the tests.',
        }),
      ]
    })
    .slice(0, 8)
}
