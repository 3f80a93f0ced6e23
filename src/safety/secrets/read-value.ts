import type { Range } from './found.ts'
import { goesOn } from './goes-on.ts'
import { type Break, breakAt } from './join-split-text.ts'

/** What a name is given: the text of it, put together, and the parts in which it stands. */
export type Value = {
  readonly text: string
  readonly parts: readonly Range[]
  readonly form: 'quoted' | 'bare' | 'block'
}

const longest = 4_000

/** The value that begins here: in quotes, without them, or as a block of indented lines below. */
export function readValue(text: string, at: number): Value | null {
  const quoted = execAt(openQuote, text, at)
  if (quoted) return readQuoted(text, at + quoted[0].length, quoted[1] ?? '')
  const block = execAt(blockHeader, text, at)
  return block ? readBlock(text, at + block[0].length) : readBare(text, at, bareRun)
}

/** Without quotes, whatever it is: what stands in a header. */
export const readBareValue = (text: string, at: number): Value | null => readBare(text, at, bareRun)

/** Up to the next space, since in an environment file a password may hold brackets and commas. */
export const readWideValue = (text: string, at: number): Value | null => readBare(text, at, quotedRun)

/** The letters of Python and C# before a quote, then the quote, escaped where it stands in a quoted text itself. */
const openQuote = /[brfuBRFU@$]{0,2}(\\{0,4}["'`])/y
const blockHeader = /[|>][+-]?\d?[ \t]{0,40}\r?\n/y
const quotedRun = /[^\s"'`\\]{1,4000}/y
/** A few `=` at most: more of them are names with values of their own. */
const bareRun = /[^\s"'`<>,;(){}[\]&|\\=]{1,2000}(?:={1,2}[^\s"'`<>,;(){}[\]&|\\=]{0,2000}){0,3}/y
const blockLine = /[+-]?[ \t]{1,200}([^\s"'`:]{1,4000})[ \t]{0,40}(?:\r?\n|$)/y

function readQuoted(text: string, start: number, open: string): Value | null {
  const parts: Range[] = []
  let from = start
  let close = open
  while (parts.length < 100) {
    const end = endOfLineOrQuote(text, from, close)
    if (end === null) return null
    parts.push({ start: from, end })
    const isClosed = text.startsWith(close, end)
    const next = breakAt(text, end)
    if (isClosed && (next === null || !isMore(text, next))) return asValue(text, parts, 'quoted')
    if (next === null || /\s/.test(text.slice(from, end))) return null
    from = next.end
    if (isClosed) close = execAt(openQuote, text, lastQuote(text, from))?.[1] ?? close
  }
  return null
}

/** The next string belongs to this one if an operator says so, or if it is the rest of something cut in the middle. */
function isMore(text: string, next: Break): boolean {
  const part = execAt(quotedRun, text, next.end)?.[0] ?? ''
  return next.isContinuation || goesOn(text, next.end, part, [])
}

const lastQuote = (text: string, end: number): number => {
  let at = end - 1
  while (text[at - 1] === '\\') at -= 1
  return at
}

/** Where the quoted text ends, or its part on this line does. */
function endOfLineOrQuote(text: string, from: number, close: string): number | null {
  const escapes = close.length - 1
  const limit = Math.min(text.length, from + longest)
  for (let at = from; at < limit; at += 1) {
    const character = text[at]
    if (character === '\n') return text[at - 1] === '\r' ? at - 1 : at
    if (character === close.at(-1) && escapes === 0) return at
    if (character !== '\\') continue
    const run = lengthOfRun(text, at)
    if (text[at + run] === '\n' || text[at + run] === '\r') return at
    if (escapes > 0 && run === escapes && text[at + run] === close.at(-1)) return at
    // In plain quotes each backslash takes the next character with it; in escaped ones a longer run is an inner quote.
    at += escapes === 0 ? 1 : run
  }
  return null
}

const lengthOfRun = (text: string, at: number): number => {
  let end = at
  while (text[end] === '\\') end += 1
  return end - at
}

function readBlock(text: string, start: number): Value | null {
  const parts: Range[] = []
  let at = start
  while (parts.length < 100) {
    const line = execAt(blockLine, text, at)
    if (line === null) break
    const word = line[1] ?? ''
    const from = at + line[0].indexOf(word, line[0].search(/[ \t]/))
    parts.push({ start: from, end: from + word.length })
    at += line[0].length
  }
  return parts.length === 0 ? null : asValue(text, parts, 'block')
}

function readBare(text: string, start: number, run: RegExp): Value | null {
  const parts: Range[] = []
  let from = start
  let isContinued = true
  while (parts.length < 100) {
    const part = execAt(run, text, from)?.[0] ?? ''
    if (part === '' || !(isContinued || goesOn(text, from, part, parts.map(asLength)))) break
    const end = from + part.length
    parts.push({ start: from, end })
    const next = breakAt(text, end)
    if (next === null) break
    from = next.end
    isContinued = next.isContinuation
  }
  return parts.length === 0 ? null : asValue(text, parts, 'bare')
}

const asLength = ({ start, end }: Range): { length: number } => ({ length: end - start })

const asValue = (text: string, parts: readonly Range[], form: Value['form']): Value => ({
  text: parts.map(({ start, end }) => text.slice(start, end)).join(''),
  parts,
  form,
})

function execAt(form: RegExp, text: string, at: number): RegExpExecArray | null {
  form.lastIndex = at
  return form.exec(text)
}
