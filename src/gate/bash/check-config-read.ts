import { type Call, hasFlag, type Problem } from './command-row.ts'

const reads = '--get --get-all --get-regexp --get-urlmatch'

/**
 * `git config key value` writes, and `git config set …` does in newer versions. With --get and a key that has a dot,
 * or --list and no operand, there is no version in which it does.
 */
export function checkConfigRead(call: Call): Problem | undefined {
  const [key] = call.operands
  if (hasFlag(call, '-l --list') && !hasFlag(call, reads) && key === undefined) return undefined
  if (hasFlag(call, reads) && !hasFlag(call, '-l --list') && key?.includes('.') && isAfterFlags(call)) return undefined
  return {
    rule: 'operand',
    part: key ?? 'git config',
    why: 'may set a value: nothing says that it only reads',
    instead: 'Use git config --get <section.key>, or git config --list.',
  }
}

const isAfterFlags = ({ flags }: Call): boolean => flags.every(({ operandsBefore }) => operandsBefore === 0)
