/** Places in a text: from the opening brace to behind the closing one. */
export type Span = { readonly start: number; readonly end: number }

export type Objects = {
  /** Balanced, and in no other braces. */
  readonly whole: readonly Span[]
  /** From where on everything stands in an object that never ends. */
  readonly unfinished: readonly Span[]
}

/**
 * The objects in a text of which parts may be prose. One way through it, whatever it is: braces are matched by a stack,
 * and texts in quotes count only inside of braces, where they end with their line, as JSON's do.
 */
export function findObjects(text: string): Objects {
  const whole: Span[] = []
  const unfinished: Span[] = []
  for (const part of betweenFences(text)) {
    const found = scan(text, part)
    for (const span of found.whole) whole.push(span)
    unfinished.push(...found.unfinished)
  }
  return { whole, unfinished }
}

/** No object reaches over the edge of a fenced block, so that a brace in the prose before it can do no harm. */
function betweenFences(text: string): Span[] {
  const parts: Span[] = []
  let start = 0
  for (const { index, 0: line } of text.matchAll(/^[ \t>]*(?:`{3,}|~{3,})[^`{}\n]*$/gm)) {
    parts.push({ start, end: index })
    start = index + line.length
  }
  return [...parts, { start, end: text.length }]
}

/** `{"verdict":""}` is the shortest that matters. */
const shortest = 14

function scan(text: string, { start, end }: Span): Objects {
  const whole: Span[] = []
  const open: number[] = []
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === quote && open.length > 0) at = endOfString(text, at, end)
    else if (code === opening) open.push(at)
    else if (code === closing) close(whole, open.pop(), at + 1)
  }
  // A brace of prose that nobody closed hides nothing; an object that breaks off hides what stands in it.
  const broken = open.find((at) => beginsObject(text, at))
  if (broken === undefined) return { whole, unfinished: [] }
  return { whole: whole.filter((span) => span.start < broken), unfinished: [{ start: broken, end }] }
}

const [quote, backslash, lineFeed, opening, closing] = [34, 92, 10, 123, 125]

/** The last unit of a text in quotes: its quote, or the end of its line. */
function endOfString(text: string, from: number, end: number): number {
  for (let at = from + 1; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === quote || code === lineFeed) return at
    if (code === backslash && text.charCodeAt(at + 1) !== lineFeed) at++
  }
  return end
}

function close(whole: Span[], start: number | undefined, end: number): void {
  if (start === undefined) return
  while ((whole.at(-1)?.start ?? -1) > start) whole.pop()
  if (end - start >= shortest) whole.push({ start, end })
}

const beginsObject = (text: string, at: number): boolean => {
  const begin = /\{\s*(?:["']|[\w$]{1,40}\s*:)/y
  begin.lastIndex = at
  return begin.test(text)
}
