import { safeCut } from './cut-text.ts'
import type { Count } from './fitted.ts'

const stride = 16_384

/** Whether a text has at most so many tokens; of one that is far too long only the beginning is counted. */
export function isWithin(text: string, budget: number, count: Count): boolean {
  if (text.length <= stride) return count(text) <= budget
  return countUpTo(text, budget * 1.02 + 10, count) <= budget * 1.02 + 10 && count(text) <= budget
}

/** The tokens of a text, nearly; once there are more than `limit`, the rest is not looked at. */
export function countUpTo(text: string, limit: number, count: Count): number {
  let total = 0
  for (let at = 0; at < text.length && total <= limit; ) {
    const end = safeCut(text, at + stride)
    total += count(text.slice(at, end))
    at = end
  }
  return total
}
