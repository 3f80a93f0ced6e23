import { checkPlaceholders } from './check-placeholders.ts'
import { isEmpty, linesUnder } from './check-sections.ts'
import { checkSize } from './check-size.ts'
import { type ChecklistFinding, finding, firstOf } from './finding.ts'
import { type Markdown, readMarkdown } from './read-markdown.ts'

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
