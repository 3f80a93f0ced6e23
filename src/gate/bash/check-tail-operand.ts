import type { Call, Problem } from './command-row.ts'

/** Where the old syntax lives on (macOS), `tail +1f file` follows the file. */
export function checkTailOperand({ operands }: Call): Problem | undefined {
  const [first = ''] = operands
  if (!first.startsWith('+')) return undefined
  return { rule: 'operand', part: first, why: 'is the old way to give a number', instead: 'Use tail -n +10 <file>.' }
}
