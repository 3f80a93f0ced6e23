import { parseMarkdown } from '../text/markdown.ts'

export type Replies = {
  /** The plan without the section. */
  readonly plan: string
  /** The items below `## Review replies`; null: there is none. */
  readonly replies: string | null
  /** The findings that the author contests, each with the line that says so. */
  readonly contested: ReadonlyMap<string, string>
}

/** The author's answers to findings stand in the plan, and are no part of it: they are cut out before it is reviewed. */
export function readReplies(text: string): Replies {
  const markdown = parseMarkdown(text)
  // The line of its heading is shown to nobody, so there may be nothing else in it.
  const sections = markdown.headings.filter(({ number }) => {
    const line = markdown.lines[number - 1]
    return /^##[ \t]+review replies[ \t]*\r?\n?$/i.test(text.slice(line?.start, line?.end))
  })
  const parts: string[] = []
  let [plan, end] = ['', 0]
  for (const { number, end: last } of sections) {
    const [first, below] = [markdown.lines[number - 1], markdown.lines.slice(number, last)]
    const stop = below.at(-1)?.end ?? first?.end ?? 0
    plan += text.slice(end, first?.start)
    parts.push(text.slice(first?.end, stop).trim())
    end = stop
  }
  const replies = parts.filter((part) => part !== '').join('\n\n')
  return {
    plan: plan + text.slice(end),
    replies: replies === '' ? null : replies,
    contested: new Map(replies.split('\n').flatMap(contestedIn)),
  }
}

/** `- F3: contest: src/a.ts:12 closes it.` */
function contestedIn(line: string): [id: string, line: string][] {
  const [, id = ''] = /^\W*(F\d{1,9})\b\W{0,8}(?:contest|disagree|reject|dispute|declin)/i.exec(line) ?? []
  return id === '' ? [] : [[id.toUpperCase(), line.trim()]]
}

/**
 * Open findings that the author contests now, and contested in one earlier text of the cycle. After more of them, a fresh
 * reader has decided.
 */
export const contestedTwice = (
  { contested }: Replies,
  earlier: readonly string[],
  open: readonly { readonly id: string }[],
): readonly string[] => {
  const before = contested.size === 0 ? [] : earlier.map((text) => readReplies(text).contested)
  return [...contested.keys()].filter(
    (id) => open.some((finding) => finding.id === id) && before.filter((replies) => replies.has(id)).length === 1,
  )
}
