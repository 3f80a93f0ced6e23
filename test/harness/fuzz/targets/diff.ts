import { withholdFromDiff } from '../../../../src/redact/sensitive-files.ts'
import { measureContent } from '../../../../src/review/complexity.ts'
import { fitText } from '../../../../src/review/fit.ts'
import { checkDiff } from '../../../../src/reviewers/checklist/diff.ts'
import { changedLines, parseDiff } from '../../../../src/text/diff.ts'
import { demand, same, type Target } from '../target.ts'

const diff = `diff --git a/src/a.ts b/src/a.ts
index 1..2 100644
--- a/src/a.ts
+++ b/src/a.ts
@@ -1,3 +1,4 @@
 one
-two
+two and a half
+// TODO later
 three
diff --git a/test/a.test.ts b/test/a.test.ts
deleted file mode 100644
--- a/test/a.test.ts
+++ /dev/null
@@ -1,2 +0,0 @@
-it('works', () => {})
-it.only('x')
`
/** A change of code that is to be reviewed. */
export const codeDiff: Target = {
  name: 'diff',
  seeds: [
    diff,
    diff.replaceAll('\n', '\r\n'),
    'no diff\n<<<<<<< HEAD\n',
    '',
    'diff --git "a/\\303\\274" "b/\\303\\274"\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n',
    ...diff.split('diff '),
  ],
  pieces: [
    '\n',
    'diff --git a/x b/x\n',
    '--- a/x\n',
    '+++ b/x\n',
    '+++ /dev/null\n',
    '@@ -1 +1 @@\n',
    '@@ -1,999999999 +1,5 @@\n',
    '+',
    '-',
    ' ',
    '\\ No newline',
    'deleted file mode 100644\n',
    'rename from a\n',
    'GIT binary patch\n',
    '+debugger\n',
    '+it.only(',
    '+<<<<<<< x\n',
    '// TODO',
    'FIXME',
    '"',
    "'",
    '`',
    'def test_x',
    '.py',
    '.test.ts',
  ],
  parses: 7,
  open: () => ({ look }),
}

function look(text: string): string {
  const diff = parseDiff(text)
  const found = checkDiff(text)
  demand(found.length < 200 && found.every(({ evidence }) => evidence.length < 5_000), 'a checklist without an end')
  for (const file of diff?.files ?? []) {
    const lines = [...changedLines(text, file)]
    same(lines.filter(({ sign }) => sign === '+').length, file.added, 'other added lines are listed than counted')
    same(lines.filter(({ sign }) => sign === '-').length, file.removed, 'other removed lines are listed than counted')
    demand(
      file.hunks.every(({ start, end }, index) => start >= (file.hunks[index - 1]?.end ?? file.headEnd) && end > start),
      'hunks that overlap',
    )
  }
  const count = (part: string): number => Math.ceil(part.length / 4)
  withholdFromDiff(text, ['*.secret'])
  const { level } = measureContent('code', text, () => [])
  const fitted = fitText(text, 200, 'diff', count)
  return `${level} ${diff?.files.length} ${found
    .map(({ severity }) => severity[0])
    .join('')
    .slice(0, 6)} ${JSON.stringify(diff).length >> 6} ${JSON.stringify(fitted).length >> 7}`
}
