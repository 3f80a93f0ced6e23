import { cutHead } from './cut-text.ts'
import { fitDiff } from './fit-diff.ts'
import { fitDocument } from './fit-document.ts'
import { fitJson, smallestJson } from './fit-json.ts'
import { fitLines } from './fit-lines.ts'
import type { Count, Fit, Fitted } from './fitted.ts'
import { isWithin } from './is-within.ts'
import { mayExceed } from './may-exceed.ts'
import type { Tokenizer } from './tokenizer.ts'

export type TextKind = 'document' | 'diff' | 'json' | 'text'

const fits: { readonly [kind in TextKind]: Fit } = {
  document: fitDocument,
  diff: fitDiff,
  json: fitJson,
  text: fitLines,
}

/** The text, or what matters most in it, in no more tokens than the budget has. */
export function fitText(text: string, budget: number, kind: TextKind, { count }: Tokenizer): Fitted {
  const limit = Math.max(0, Math.floor(budget))
  if (!mayExceed(text, limit) || isWithin(text, limit, count)) return { text, dropped: null }
  // Parts are counted one by one, and together they may come to a little more.
  for (let target = limit, tries = 0; target > 0 && tries < 5; tries++) {
    const fitted = fits[kind](text, target, count)
    const over = isWithin(fitted.text, limit, count) ? 0 : count(fitted.text) - limit
    if (over <= 0) return fitted
    target = Math.floor(target * 0.97) - over
  }
  return { text: bare(text, limit, kind, count), dropped: 'There was room for next to nothing.' }
}

/** Too little room even for a mark. */
const bare = (text: string, limit: number, kind: TextKind, count: Count): string => {
  const part = kind === 'json' ? smallestJson(text) : text.slice(0, cutHead(text, limit, count))
  return count(part) <= limit ? part : ''
}
