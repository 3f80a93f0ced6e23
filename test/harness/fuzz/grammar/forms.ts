import type { Random } from '../random.ts'

const known = new Map<string, readonly string[]>()

/** `a ¦ b c ¦ ` is the list of `a`, `b c` and nothing. */
export function forms(text: string): readonly string[] {
  const list = known.get(text) ?? text.split(' ¦ ')
  known.set(text, list)
  return list
}

/** One of them. */
export const one = (random: Random, text: string): string => random.pick(forms(text))
