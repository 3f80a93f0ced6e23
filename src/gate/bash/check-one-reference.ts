import type { Call, Problem } from './command-row.ts'

/** `git symbolic-ref HEAD other` moves HEAD. A plain name is one word in every shell, whatever its options are. */
export function checkOneReference({ operands }: Call): Problem | undefined {
  const [name = ''] = operands
  if (/^[\w./-]+$/.test(name)) return undefined
  return { rule: 'operand', part: name, why: 'is no plain name of a reference', instead: 'Use git symbolic-ref HEAD.' }
}
