import { isEmpty, linesUnder, type Markdown, parseMarkdown } from '../../text/markdown.ts'
import { type ChecklistFinding, checkSize, finding, limitFindings, listLines } from './finding.ts'
import { checkPlaceholders } from './placeholders.ts'

/** Requirements, designs and sprint plans: no sections are required, but each that is there has a text. */
export function checkDocument(text: string, maxBytes: number): readonly ChecklistFinding[] {
  if (text.trim() === '')
    return [
      finding('critical', 'Document', {
        problem: 'The document is empty.',
        evidence: 'There is no text from line 1 on.',
        fix: 'Write it, or name another file.',
      }),
    ]
  const markdown = parseMarkdown(text)
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
const emptySections = (markdown: Markdown): ChecklistFinding[] =>
  limitFindings(
    markdown.headings.filter((heading, index) => {
      const next = markdown.headings[index + 1]
      return (next === undefined || next.level <= heading.level) && isEmpty(linesUnder(markdown, heading))
    }),
    12,
    ({ level, title, number }) =>
      finding('major', title, {
        problem: `\`${'#'.repeat(level)} ${title}\` is empty.`,
        evidence: `Line ${number} is the heading, and nothing follows it.`,
        fix: 'Write the section, or take the heading out.',
      }),
    (rest, { title }) =>
      finding('major', title, {
        problem: `${rest.length} more sections are empty.`,
        evidence: listLines(rest),
        fix: 'Write them, or take the headings out.',
      }),
  )
