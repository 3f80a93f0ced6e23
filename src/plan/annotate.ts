import { bySeverity, countSeverities, foundBy } from '../review/findings.ts'
import { locateFinding, type PlanText, readPlanText } from '../review/locate-finding.ts'
import type { EarlierFinding, Finding, ReviewResult } from '../schemas/review.ts'
import { splitLines } from '../text/clean.ts'

type Annotated = 'verdict' | 'summary' | 'question' | 'findings' | 'previous_findings' | 'notices' | 'stuck'

export type ReviewToAnnotate = Pick<ReviewResult, Annotated> & { readonly revision: number; readonly date: string }

/**
 * The plan with the review written into it: the verdict at the top, each finding at its place. Each line of the review
 * begins with a mark that no line of the plan begins with, between blank lines, so that the plan can be taken out again
 * byte for byte. Text of the reviewer is escaped.
 */
export function annotatePlan(plan: string, review: ReviewToAnnotate): string {
  const text = readPlanText(plan)
  const lines = splitLines(plan)
  const mark = unusedMark(lines)
  const eol = /\r?\n/.exec(plan)?.[0] ?? '\n'
  const quoted = (content: readonly string[]): string =>
    content.map((line) => `${mark}${line === '' ? '' : ` ${line}`}${eol}`).join('')
  const isUnended = plan !== '' && !plan.endsWith('\n')
  const { stillOpen } = text.outline
  const notes = placeNotes(review.findings, text)
  const body = lines.map((line, index) => {
    const note = index + 1 < lines.length ? notes.placed.get(index + 1) : undefined
    return note === undefined ? line : `${line}${eol}${quoted(note)}${eol}`
  })
  const head = [...formatHead(review), '', legend(mark, isUnended, stillOpen !== '')]
  return [
    `${quoted(head)}${eol}`,
    ...body,
    isUnended ? eol : '',
    stillOpen === '' ? '' : `${stillOpen}${eol}`,
    `${eol}${quoted(formatTail(review.revision, notes.placed.get(lines.length) ?? [], notes.unplaced))}`,
  ].join('')
}

/** `>` is familiar; a plan with quotes of its own gets more of them, and a number only as a last resort. */
function unusedMark(lines: readonly string[]): string {
  const isFree = (mark: string): boolean => !lines.some((line) => line.startsWith(mark))
  const usual = ['>', '>>', '>>>'].find(isFree)
  if (usual !== undefined) return usual
  let number = 1
  while (!isFree(`>${number}`)) number += 1
  return `>${number}`
}

function formatHead(review: ReviewToAnnotate): readonly string[] {
  const { revision, date, verdict, summary, question, findings, previous_findings: previous = [] } = review
  return [
    `# Review of docs/plan.md, revision ${revision}`,
    '',
    `**${verdict}** · ${inertLine(date)} · ${countSeverities(findings)}`,
    ...paragraph('', summary),
    ...paragraph('**For the user to decide:** ', question ?? ''),
    ...list('Stuck:', review.stuck ?? []),
    ...list('Earlier findings:', previous.map(formatPreviousFinding)),
    ...list('Notes:', review.notices ?? []),
  ]
}

const statusWords: { readonly [S in EarlierFinding['status']]: string } = {
  fixed: 'fixed',
  rejected: 'dropped',
  withdrawn: 'withdrawn',
  not_fixed: 'still open',
}

const formatPreviousFinding = ({ id, status, reason }: EarlierFinding): string =>
  `${id} ${statusWords[status]}${reason === '' ? '' : `: ${reason}`}`

/** Two spaces at the end of a line are a line break in Markdown. */
function paragraph(label: string, text: string): readonly string[] {
  const lines = inertMarkdown(text)
  if (lines.length === 0) return []
  return ['', ...lines.map((line, n) => `${n === 0 ? label : ''}${line}${n < lines.length - 1 ? '  ' : ''}`)]
}

const list = (title: string, items: readonly string[]): readonly string[] =>
  items.length === 0 ? [] : ['', title, '', ...items.map((item) => `- ${inertLine(item)}`)]

const legend = (mark: string, isUnended: boolean, isClosed: boolean): string =>
  [
    `Lines that begin with \`${mark}\` are the review, the others are the plan`,
    isUnended ? ', which has no newline at its end' : '',
    isClosed ? '; after it a line is added that closes what it leaves open' : '',
    '.',
  ].join('')

/** `placed`: by the number of the line that they follow. */
function placeNotes(findings: readonly Finding[], text: PlanText) {
  const placed = new Map<number, readonly string[]>()
  let unplaced: readonly string[] = []
  for (const finding of bySeverity(findings)) {
    const place = locateFinding(text, finding)
    const line = place === null ? undefined : (place.lines[0] ?? place.section?.from)
    if (line === undefined) unplaced = joined(unplaced, noteOn(finding))
    else placed.set(text.outline.gapAfter(line), joined(placed.get(text.outline.gapAfter(line)) ?? [], noteOn(finding)))
  }
  return { placed, unplaced }
}

const joined = (before: readonly string[], note: readonly string[]): readonly string[] =>
  before.length === 0 ? note : [...before, '', ...note]

const noteOn = ({ id, severity, section, problem, evidence, fix, sources = [] }: Finding): readonly string[] => [
  `**${inertLine(id)} · ${severity}** · ${inertLine(section) || 'no place named'}${inertLine(foundBy({ sources }))}`,
  ...paragraph('', problem),
  ...paragraph('**Evidence:** ', evidence),
  ...paragraph('**Fix:** ', fix),
]

const formatTail = (revision: number, atEnd: readonly string[], unplaced: readonly string[]): readonly string[] => {
  const rest = unplaced.length === 0 ? atEnd : joined(atEnd, ['## Not placed', '', ...unplaced])
  return joined(rest, [`End of docs/plan.md, revision ${revision}.`])
}

/**
 * Text of the reviewer as escaped Markdown: no HTML, links, images, headings, lists or rules, nothing that ends a quote.
 * A code span within a line stays one. Blank lines are left out.
 */
export const inertMarkdown = (text: string): readonly string[] =>
  text
    .split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/)
    .map((line) => line.replace(/\t/g, '  ').replace(invisible, '\ufffd').trimEnd())
    .filter((line) => line.trim() !== '')
    // An indented first line would be a code block.
    .map((line, index) => (index === 0 ? line.trimStart() : line))
    .map((line) => escapeStart(escapeInline(line)))

export const inertLine = (text: string): string =>
  inertMarkdown(text)
    .map((line) => line.trim())
    .join(' ')

const invisible = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

function escapeInline(line: string): string {
  if (line.includes('``')) return escapeMarks(line)
  const parts = line.split(/(`[^`]+`)/)
  return parts.map((part, index) => (index % 2 === 1 ? part : escapeMarks(part))).join('')
}

const escapeMarks = (text: string): string => text.replace(/\\(?=[!-/:-@[-`{-~]|$)|[`<[]|&(?=[#\w])/g, '\\$&')

/** The marks that begin a heading, a list, a rule, a table or a definition. */
const escapeStart = (line: string): string =>
  /^\s*[*_](?:\s|$)|^[\s*_]+$/.test(line)
    ? line.replace(/[*_]/, '\\$&')
    : line.replace(/^(\s*)([#>+=~|:-])/, '$1\\$2').replace(/^(\s*\d{1,9})([.)])/, '$1\\$2')
