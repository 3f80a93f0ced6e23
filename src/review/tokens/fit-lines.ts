import { cutHead, cutTail } from './cut-text.ts'
import type { Count, Fitted } from './fitted.ts'
import { amountOf, leftOut, lineEndOf } from './left-out.ts'

/** The beginning says what a text is about and the end what came of it, so what goes is between them. */
export function fitLines(text: string, budget: number, count: Count): Fitted {
  const room = budget - markRoom
  if (room < markRoom) {
    const end = cutHead(text, budget, count)
    return { text: text.slice(0, end), dropped: `All but the beginning was left out: ${amountOf(text.slice(end))}.` }
  }
  const end = cutHead(text, Math.floor(room * 0.6), count)
  const start = Math.max(end, cutTail(text, Math.floor(room * 0.4), count))
  const amount = amountOf(text.slice(end, start))
  const [head, tail] = [text.slice(0, end), text.slice(start)]
  const eol = lineEndOf(text)
  const before = head === '' || head.endsWith('\n') ? '' : eol
  return {
    text: `${head}${before}${leftOut(amount)}${eol}${tail}`,
    dropped: `The middle was left out: ${amount}.`,
  }
}

/** What the mark and the line ends around it cost at most. */
const markRoom = 20
