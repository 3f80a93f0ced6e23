import { clipEnd, clipMiddle } from '../review/clip-text.ts'
import { type ProseVerdict, parseVerdict } from '../review/contract/parse-verdict.ts'
import type { Prompt } from '../review/prompts/compose-prompt.ts'
import { fence, fenceTag } from '../safety/fence.ts'
import { withholdQuotes } from '../safety/sensitive-files.ts'
import { dataRule } from './reflection-kinds.ts'

/** Only `readReflection` makes one, so that nothing is condensed before its verdict was read. */
export type ToCondense = { readonly text: string; readonly [wasJudged]: true }
declare const wasJudged: unique symbol

export type ReadReflection = {
  readonly verdict: ProseVerdict
  readonly toCondense: ToCondense
  /** Files with secrets that the answer names; what it quoted of them is gone. */
  readonly files: readonly string[]
}

/** The verdict first, from the answer as it came: condensing may lose or turn it. An empty answer is UNCERTAIN. */
export function readReflection(raw: string, sensitiveFiles: readonly string[]): ReadReflection {
  const verdict = parseVerdict(raw)
  const { text, files } = withholdQuotes(withoutVerdict(raw.trim()), sensitiveFiles)
  return { verdict, toCondense: asJudged(text.trim()), files }
}

const asJudged = (text: string): ToCondense => ({ text }) as ToCondense

/** A first line that holds the word alone has been read; what stands behind it there has not. */
const withoutVerdict = (text: string): string =>
  text.replace(/^[*_`#\s]*(?:verdict:?[*_`\s]*)?(?:PASS|FAIL|UNCERTAIN)[*_`.:!]*[ \t]*(?:\r?\n|$)/i, '')

/** The request for five points; null when the text is short enough as it is. */
export function composeCondensing({ text }: ToCondense, limit: number, random: () => string): Prompt | null {
  if (text.length <= limit) return null
  const content = clipMiddle(text, mostToCondense)
  const tag = fenceTag([content], random)
  return {
    system: [
      `You shorten what a reviewer has written. Answer with at most ${mostPoints} points, each a line that begins with "- ": the gravest first, each with its file:line, what is wrong and what to do. Leave out praise, retelling and what is only taste. Add nothing of your own, and no line before or after.`,
      dataRule(tag),
    ].join('\n\n'),
    user: `${fence(content, 'the review', tag)}\n\nAnswer with the points now, in ${limit.toLocaleString('en-US')} characters at most.`,
  }
}

const mostPoints = 5
const mostToCondense = 60_000

/** `answer` is null when nobody was asked, or nobody answered: then the text is cut. */
export function condensed({ text }: ToCondense, answer: string | null, limit: number): string {
  if (text.length <= limit) return text
  const points = (answer ?? '')
    .split(/\r?\n/)
    .filter((line) => /^\s*(?:[-*•]|\d{1,2}[.)])\s+\S/.test(line))
    .slice(0, mostPoints)
    .map((line) => line.replace(/^\s*(?:[-*•]|\d{1,2}[.)])\s+/, '- ').trimEnd())
  return clipEnd(points.length === 0 ? text : points.join('\n'), limit)
}
