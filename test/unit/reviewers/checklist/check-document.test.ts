import { describe, expect, it } from 'vitest'
import { checkDocument } from '../../../../src/reviewers/checklist/plan.ts'

const findingsOf = (text: string, maxBytes = 100_000): string[] =>
  checkDocument(text, maxBytes).map(({ severity, section, problem, evidence }) =>
    [severity, section, problem, evidence].join(' | '),
  )

describe('a document', () => {
  it.each<[string, string, string[]]>([
    ['that says something', '# Login\n\n## Requirements\n\n- A wrong password is refused.\n', []],
    ['with text below smaller headings only', '# Login\n## Requirements\n### R1\nText.\n### R2\nText.\n', []],
    [
      'with tables, tasks and code',
      '# Sprint\n## Tasks\n- [ ] one\n- [x] two\n## Data\n| a | b |\n|---|---|\n| 1 | 2 |\n## Code\n```\nx\n```\n',
      [],
    ],
    ['with open questions', '# A\n## Open Questions\n| Which model? | TBD |\n', []],
    ['that is empty', ' \n', ['critical | Document | The document is empty. | There is no text from line 1 on.']],
    [
      'without headings',
      'Some text.\nMore text.\n',
      ['major | Document | The document has no headings. | Lines 1–3 have no heading.'],
    ],
    [
      'with an empty section',
      '# A\n\n## B\n\n## C\nText.\n',
      ['major | B | `## B` is empty. | Line 3 is the heading, and nothing follows it.'],
    ],
    [
      'with an empty section at the end',
      '# A\nText.\n## Appendix\n',
      ['major | Appendix | `## Appendix` is empty. | Line 3 is the heading, and nothing follows it.'],
    ],
    [
      'with a placeholder',
      '# A\n\n## Limits\nThe timeout is TBD.\n',
      ['major | Limits | "TBD" is a placeholder. | Line 4: The timeout is TBD.'],
    ],
    [
      'with a placeholder before the first heading',
      'TODO: a title\n\n# A\nText.\n',
      ['major | Beginning | "TODO" is a placeholder. | Line 1: TODO: a title'],
    ],
  ])('%s', (_, text, expected) => {
    expect(findingsOf(text)).toEqual(expected)
  })

  it('that is too long says where the limit is', () => {
    expect(findingsOf('# A\nText.\n', 5)).toEqual([
      'major | Size | The document has 10 bytes; at most 5 are reviewed. | Line 2 is where the limit is reached.',
    ])
  })

  it('with many empty sections names twelve and counts the others', () => {
    const findings = findingsOf('## A\n'.repeat(40))
    expect(findings).toHaveLength(13)
    expect(findings.at(-1)).toMatch(/28 more sections are empty\. \| Line 13, Line 14,.*, Line 32 and further\.$/)
  })
})
