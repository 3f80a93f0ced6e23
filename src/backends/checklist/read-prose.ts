/** Stands where code or a quotation was, so that a line that is nothing else is not taken for empty. */
export const codeMark = '\ufffc'

/** What the author of a line says, with everything else blanked; columns stay as they are. */
export function readProse(
  line: string,
  isInComment: boolean,
  mayStayOpen: boolean,
): { prose: string; isInComment: boolean } {
  const spoken = withoutComments(withoutCodeSpans(line), isInComment, mayStayOpen)
  return { prose: withoutQuotations(spoken.text).trimEnd(), isInComment: spoken.isOpen }
}

function withoutCodeSpans(line: string): string {
  if (!line.includes('`')) return line
  const runs = [...line.matchAll(/`+/g)].map((run) => ({ at: run.index, length: run[0].length }))
  const closing = closingRuns(runs)
  let [text, end] = ['', 0]
  for (const [i, { at }] of runs.entries()) {
    const close = runs[closing[i] ?? -1]
    if (at < end || close === undefined) continue
    const stop = close.at + close.length
    text += line.slice(end, at) + codeMark.repeat(stop - at)
    end = stop
  }
  return text + line.slice(end)
}

/** For each run of backticks, the next one of the same length. */
function closingRuns(runs: readonly { length: number }[]): (number | undefined)[] {
  const nearest = new Map<number, number>()
  const closing = runs.map((): number | undefined => undefined)
  for (let i = runs.length - 1; i >= 0; i -= 1) {
    const length = runs[i]?.length ?? 0
    closing[i] = nearest.get(length)
    nearest.set(length, i)
  }
  return closing
}

function withoutComments(line: string, isOpen: boolean, mayStayOpen: boolean): { text: string; isOpen: boolean } {
  if (!isOpen && !line.includes('<!--')) return { text: line, isOpen }
  let [text, rest, open] = ['', line, isOpen]
  for (;;) {
    const at = rest.indexOf(open ? '-->' : '<!--')
    const isText = at === -1 || (!open && !mayStayOpen && rest.indexOf('-->', at) === -1)
    if (isText) return { text: open ? text : text + rest, isOpen: open }
    text += open ? ' '.repeat(at + 3) : rest.slice(0, at)
    rest = rest.slice(open ? at + 3 : at)
    open = !open
  }
}

function withoutQuotations(text: string): string {
  if (!/["'\u201c\u00ab(]/.test(text)) return text
  return text
    .replace(/"[^"]{1,80}"|\u201c[^\u201d]{1,80}\u201d|\u00ab[^\u00bb]{1,80}\u00bb/g, blank)
    .replace(/(?<!\w)'[^']{1,80}'(?!\w)/g, blank)
    .replace(/\]\([^()\s]{1,300}\)/g, blank)
}

const blank = (text: string): string => codeMark.repeat(text.length)
