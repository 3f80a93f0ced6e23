import { type Heading, isEmpty, linesUnder, type Markdown, parseMarkdown } from '../../text/markdown.ts'
import { checkChanges, type PlannedChange } from './changes.ts'
import { atLine, type ChecklistFinding, finding, limitFindings } from './finding.ts'
import { checkPlaceholders, placeholdersAlone } from './placeholders.ts'

export type ChecklistSetup = {
  /** The names of the `##` headings that a plan must have. */
  readonly requiredSections: readonly string[]
  readonly maxBytes: number
  readonly readChanges: (plan: string) => readonly PlannedChange[]
  /** Whether a file or folder exists in the worktree. */
  readonly exists: (path: string) => boolean
}

/** Checks the form of a plan: its sections, its paths, and text that is still to be written. */
export function checkPlan(plan: string, setup: ChecklistSetup): readonly ChecklistFinding[] {
  if (plan.trim() === '') return [emptyPlan(setup.requiredSections)]
  const markdown = parseMarkdown(plan)
  return [
    ...checkSize(plan, setup.maxBytes, 'plan'),
    ...checkSections(markdown, setup.requiredSections),
    ...checkChanges(markdown, sectionsNamed(markdown, 'Changes'), setup.readChanges(plan), setup.exists),
    ...checkPlaceholders(markdown, setup.requiredSections),
  ]
}

function emptyPlan(required: readonly string[]): ChecklistFinding {
  const headings = required.map((name) => `\`## ${name}\``).join(', ')
  return finding('critical', 'Plan', {
    problem: 'The plan is empty.',
    evidence: 'There is no text from line 1 on.',
    fix: headings === '' ? 'Write the plan.' : `Write the plan under these headings: ${headings}.`,
  })
}

function checkSections(markdown: Markdown, required: readonly string[]): ChecklistFinding[] {
  const missing = required.filter((name) => sectionsNamed(markdown, name).length === 0)
  const none = missing.length === required.length && required.length > 1
  return [
    ...(none ? [noSections(markdown, required)] : missing.map((name) => missingSection(markdown, name))),
    ...required.flatMap((name) => unwrittenSection(markdown, name)),
  ]
}

const sectionsNamed = ({ headings }: Markdown, name: string): Heading[] =>
  headings.filter(({ level, title }) => level === 2 && matchesName(title, name))

/** "Risks and mitigations" are "Risks", "Goals" are the "Goal". */
function matchesName(title: string, name: string): boolean {
  if (title.length < name.length) return false
  const [has, wanted] = [title.toLowerCase(), name.toLowerCase()]
  return (
    has === wanted ||
    has === `${wanted}s` ||
    (has.startsWith(wanted) && /^[^\p{L}\p{N}_-]/u.test(has.slice(wanted.length)))
  )
}

function unwrittenSection(markdown: Markdown, name: string): ChecklistFinding[] {
  const sections = sectionsNamed(markdown, name).map((heading) => ({ heading, lines: linesUnder(markdown, heading) }))
  const [section] = sections
  if (section === undefined) return []
  const { heading } = section
  if (sections.every(({ lines }) => isEmpty(lines)))
    return [emptySection(heading, `Write below it ${purposeOf(name)}.`)]
  const [alone] = sections.flatMap(({ lines }) => placeholdersAlone(lines))
  if (alone === undefined || sections.some(({ lines }) => !isEmpty(lines) && placeholdersAlone(lines).length === 0))
    return []
  return [
    finding('major', heading.title, {
      problem: `\`## ${heading.title}\` holds only a placeholder.`,
      evidence: atLine(alone),
      fix: `Put in its place ${purposeOf(name)}.`,
    }),
  ]
}

function missingSection(markdown: Markdown, name: string): ChecklistFinding {
  const near = markdown.headings.find(({ title }) => matchesName(title, name) || matchesName(`${title}s`, name))
  if (near !== undefined)
    return finding('major', name, {
      problem: `There is no \`## ${name}\`, but \`${'#'.repeat(near.level)} ${near.title}\`.`,
      evidence: `Line ${near.number}: ${'#'.repeat(near.level)} ${near.title}`,
      fix: `Write that heading as \`## ${name}\`.`,
    })
  return finding('major', name, {
    problem: `There is no \`## ${name}\` section.`,
    evidence: headingsOf(markdown),
    fix: `Add \`## ${name}\`: ${purposeOf(name)}.`,
  })
}

const noSections = (markdown: Markdown, required: readonly string[]): ChecklistFinding =>
  finding('major', 'Plan', {
    problem: 'None of the sections of a plan is there.',
    evidence: headingsOf(markdown),
    fix: `Write the plan under these headings: ${required.map((name) => `\`## ${name}\``).join(', ')}.`,
  })

function headingsOf({ lines, headings }: Markdown): string {
  const named = headings.slice(0, 12).map(({ title, number }) => `${title} (line ${number})`)
  const more = headings.length > named.length ? ` and ${headings.length - named.length} more` : ''
  return named.length === 0
    ? `Lines 1–${lines.length} have no heading.`
    : `The headings are: ${named.join(', ')}${more}.`
}

const purposeOf = (name: string): string => purposes[name.toLowerCase()] ?? 'what belongs there'

const purposes: { readonly [section: string]: string } = {
  goal: 'what is true when the work is done, and how one can tell',
  context: 'what the code does today, with file and line',
  approach: 'the way you chose, and why not the nearest other one',
  changes: 'one line for each file, with its path in backticks and whether it is new, changed, deleted or renamed',
  risks: 'what could go wrong and what would show it, or "None known"',
  'open questions': 'what the user has to decide, or "None"',
}

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
const emptySections = (markdown: Markdown): readonly ChecklistFinding[] =>
  limitFindings(
    markdown.headings
      .filter((heading, index) => {
        const next = markdown.headings[index + 1]
        return (next === undefined || next.level <= heading.level) && isEmpty(linesUnder(markdown, heading))
      })
      .map((heading) => emptySection(heading, 'Write the section, or take the heading out.')),
    12,
    (count) => `${count} more sections are empty.`,
  )

const emptySection = ({ level, title, number }: Heading, fix: string): ChecklistFinding =>
  finding('major', title, {
    problem: `\`${'#'.repeat(level)} ${title}\` is empty.`,
    evidence: `Line ${number} is the heading, and nothing follows it.`,
    fix,
  })

/** A reviewer that gets too much reads the beginning, and does not mention the rest. */
function checkSize(text: string, maxBytes: number, name: string): ChecklistFinding[] {
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxBytes) return []
  const line = Buffer.from(text).subarray(0, maxBytes).toString('utf8').split('\n').length
  return [
    finding('major', 'Size', {
      problem: `The ${name} has ${bytes.toLocaleString('en-US')} bytes; at most ${maxBytes.toLocaleString('en-US')} are reviewed.`,
      evidence: `Line ${line} is where the limit is reached.`,
      fix: 'Move listings and logs out of it, or split the work in two.',
    }),
  ]
}
