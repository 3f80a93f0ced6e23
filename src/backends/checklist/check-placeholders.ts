import { linesUnder, placeholdersAlone } from './check-sections.ts'
import { findPlaceholder } from './find-placeholders.ts'
import { atLine, type ChecklistFinding, finding, firstOf } from './finding.ts'
import type { Markdown } from './read-markdown.ts'

/** Every place that is still to be written; a section that is nothing else is reported as a whole, by its name. */
export function checkPlaceholders(markdown: Markdown, reported: readonly string[]): ChecklistFinding[] {
  const silent = new Set(
    markdown.headings
      .filter(
        ({ level, title }) =>
          level === 2 && reported.some((name) => title.toLowerCase().startsWith(name.toLowerCase())),
      )
      .flatMap((heading) => placeholdersAlone(linesUnder(markdown, heading)))
      .map(({ number }) => number),
  )
  const headingAt = headingsByLine(markdown)
  const found = markdown.lines
    .filter(({ number }) => !silent.has(number))
    .flatMap((line) => {
      const section = headingAt(line.number)
      const placeholder = findPlaceholder(line, /^open\b|questions?$/i.test(section))
      return placeholder === null ? [] : [{ ...placeholder, section }]
    })
  const { shown, more } = firstOf(found, 12)
  return [
    ...shown.map(({ line, mark, section }) =>
      finding('major', section, {
        problem: `"${mark}" stands for something that is still to be written.`,
        evidence: atLine(line.number, line.raw),
        fix: 'Write it, or take the line out; what only the user can decide belongs under Open Questions.',
      }),
    ),
    ...(more.length === 0
      ? []
      : [
          finding('major', more[0]?.section ?? '', {
            problem: `${more.length} more places are still to be written.`,
            evidence: `Lines ${more
              .slice(0, 40)
              .map(({ line }) => line.number)
              .join(', ')}${more.length > 40 ? ' and further' : ''}.`,
            fix: 'Write them, or take the lines out.',
          }),
        ]),
  ]
}

/** The heading that a line stands under; lines are asked for in their order. */
function headingsByLine({ headings }: Markdown): (number: number) => string {
  let at = 0
  return (number) => {
    while ((headings[at]?.number ?? Number.POSITIVE_INFINITY) <= number) at += 1
    return headings[at - 1]?.title ?? 'Beginning'
  }
}
