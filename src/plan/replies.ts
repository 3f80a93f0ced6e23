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
  const sections = markdown.headings.filter(({ level, title }) => level === 2 && /^review replies$/i.test(title))
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

/** Open findings that the author contests now, and contested in an earlier text of the cycle. */
export const contestedTwice = (
  { contested }: Replies,
  earlier: readonly string[],
  open: readonly { readonly id: string }[],
): readonly string[] =>
  contested.size === 0
    ? []
    : [...contested.keys()].filter(
        (id) =>
          open.some((finding) => finding.id === id) && earlier.some((text) => readReplies(text).contested.has(id)),
      )
