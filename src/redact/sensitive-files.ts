import type { ReviewerAnswer } from '../schemas/review.ts'
import { parseDiff } from '../text/unified-diff.ts'
import { sensitiveFileTest } from './is-sensitive-file.ts'
import { marksIn } from './mask.ts'

/** A reviewer may have opened a sensitive file: its quotes of it are withheld, its findings stay. */
export function withholdFromAnswer(
  answer: ReviewerAnswer,
  sensitiveFiles: readonly string[],
): { readonly answer: ReviewerAnswer; readonly files: readonly string[] } {
  const files = new Set<string>()
  const clean = (text: string): string => {
    const withheld = withholdQuotes(text, sensitiveFiles)
    for (const file of withheld.files) files.add(file)
    return withheld.text
  }
  const cleaned: ReviewerAnswer = {
    ...answer,
    summary: clean(answer.summary),
    context_summary: answer.context_summary === null ? null : clean(answer.context_summary),
    question: answer.question === null ? null : clean(answer.question),
    findings: answer.findings.map((finding) => ({
      ...finding,
      problem: clean(finding.problem),
      evidence: clean(finding.evidence),
      fix: clean(finding.fix),
    })),
    previous_findings: answer.previous_findings.map((status) => ({ ...status, reason: clean(status.reason) })),
  }
  return { answer: cleaned, files: [...files] }
}

const pathCharacters = /[\w.@~+-]+(?:\/[\w.@~+-]+)*/g
const maxPathLength = 300

export const sensitiveFilesIn = (text: string, more: readonly string[]): readonly string[] =>
  filesIn(text, sensitiveFileTest(more))

function filesIn(text: string, isSensitive: (path: string) => boolean): readonly string[] {
  const named = new Set<string>()
  for (const [path] of text.matchAll(pathCharacters)) {
    // The full stop of a sentence is no part of a name.
    const name = path.length > maxPathLength ? '' : path.replace(/\.+$/, '')
    if (name !== '' && isSensitive(name)) named.add(name)
  }
  return [...named]
}

const withheld = '[withheld: the content of a file that holds secrets]'

/** That something was redacted stays visible; the marks hold nothing of it. */
const withhold = (content: string): string => [withheld, ...new Set(marksOf(content))].join(' ')

const marksOf = (content: string): string[] => marksIn(content).map(({ start, end }) => content.slice(start, end))

const withoutMarks = (content: string): string =>
  marksOf(content).reduce((rest, mark) => rest.replace(mark, ''), content)

/** Non-empty lines between the name of a file and a quote from it. */
const maxLinesBetween = 3

/**
 * Withholds quotes from sensitive files, and keeps what is said about them. A code block belongs to the file if the file
 * is named in one of the three lines before it, in its first line, or in the line right after it; quoted lines (`>`) if
 * it is named before them. In a line near the name, code in backticks with a `=` or a `:` is withheld as well, and the
 * value in `NAME=value`.
 */
export function withholdQuotes(
  text: string,
  more: readonly string[],
): { readonly text: string; readonly files: readonly string[] } {
  const isSensitive = sensitiveFileTest(more)
  const files = filesIn(text, isSensitive)
  if (files.length === 0) return { text, files }
  const lines = text.split('\n')
  const names = (line: string | undefined): boolean => line !== undefined && filesIn(line, isSensitive).length > 0
  const kept: string[] = []
  let near = 0
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    if (names(line)) near = maxLinesBetween + 1
    const end = endOfBlock(lines, at)
    if (end !== null) {
      const belongs = near > 0 || names(lines[at + 1]) || names(lines[end + 1])
      const block = lines.slice(at, end + 1)
      kept.push(...(belongs ? [withhold(block.join('\n'))] : block))
      at = end
    } else if (near > 0 && /^\s*>/.test(line)) {
      const quote = withhold(line)
      if (quote !== withheld || kept.at(-1)?.startsWith(withheld) !== true) kept.push(quote)
    } else {
      kept.push(near > 0 ? withoutValues(line) : line)
      if (line.trim() !== '') near -= 1
    }
  }
  return { text: kept.join('\n'), files }
}

/** The last line of the code block that begins here; one that is never closed goes on to the end. */
function endOfBlock(lines: readonly string[], start: number): number | null {
  const mark = /^\s*(?:>\s*)?(`{3,}|~{3,})/.exec(lines[start] ?? '')?.[1]
  if (mark === undefined) return null
  for (let end = start + 1; end < lines.length; end += 1)
    if (lines[end]?.replace(/^[\s>]+/, '').startsWith(mark)) return end
  return lines.length - 1
}

/** `[REDACTED:key]` has the form of a name and a value itself. */
const withoutValues = (line: string): string => {
  const code = withoutCode(line)
  const marks = marksIn(code)
  return code.replace(
    /\b([A-Z][A-Z0-9_]{2,60}\s{0,3}[=:]\s{0,3})([^\s`]+)/g,
    (whole, name: string, value: string, at: number) =>
      marks.some(({ start, end }) => start < at && at < end) || /^[.,;:!?)"']*$/.test(withoutMarks(value))
        ? whole
        : `${name}${withhold(value)}`,
  )
}

function withoutCode(line: string): string {
  const parts = line.split('`')
  for (let at = 1; at < parts.length - 1; at += 1) {
    const code = parts[at] ?? ''
    if (!/[=:]/.test(withoutMarks(code))) continue
    if (!isLocation(code)) parts[at] = withhold(code)
    // What follows stands between two pieces of code.
    at += 1
  }
  return parts.join('`')
}

/** `src/a.ts:12` is a location, not content. */
const isLocation = (code: string): boolean => code.length < maxPathLength && /^[^\s=]+:\d+(?::\d+|-\d+)?$/.test(code)

/** A diff without the contents of sensitive files; that they changed stays visible. */
export function withholdFromDiff(
  text: string,
  more: readonly string[],
): { readonly diff: string; readonly files: readonly string[] } {
  const files = parseDiff(text)?.files ?? []
  const isSensitive = sensitiveFileTest(more)
  const named = new Set<string>()
  const parts = files.map((file, index) => {
    const whole = text.slice(file.start, files[index + 1]?.start)
    const sensitive = [...file.names, ...file.suspectNames].filter(isSensitive)
    for (const name of sensitive) named.add(name)
    return sensitive.length === 0 ? whole : withoutContent(whole)
  })
  return { diff: text.slice(0, files[0]?.start) + parts.join(''), files: [...named] }
}

/** Of a file: its head, and where its hunks are. The words after the second @@ are a line of the file, too. */
function withoutContent(file: string): string {
  const lines = file.split('\n')
  const firstHunk = lines.findIndex((line) => line.startsWith('@@'))
  const head = lines.slice(0, firstHunk === -1 ? lines.length : firstHunk).filter((line) => headLine.test(line))
  const hunks = lines.flatMap((line) => /^@@+ [-+\d, ]+ @@+/.exec(line)?.[0] ?? [])
  return `${[...head, ...hunks.map((hunk) => `${hunk} ${withheld}`)].join('\n')}\n`
}

const headLine =
  /^(?:diff |index |--- |\+\+\+ |(?:new|deleted) file|old mode|new mode|similarity|rename |copy |Binary files)/
