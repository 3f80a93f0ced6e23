import type { Call, Problem } from './command-row.ts'

/** `uniq in out` writes; and where options end at the first operand (macOS), `uniq in -c` writes a file named -c. */
export function checkOneInput({ operands, flags }: Call): Problem | undefined {
  const [, output] = operands
  if (output !== undefined)
    return {
      rule: 'operand',
      part: output,
      why: 'is the file that uniq would write',
      instead: 'Give uniq one file: what it finds is printed.',
    }
  const late = flags.find(({ operandsBefore }) => operandsBefore > 0)
  if (late !== undefined)
    return {
      rule: 'operand',
      part: late.name,
      why: 'stands behind the file, where some systems take it for a file to write',
      instead: 'Put the flags of uniq before its file.',
    }
  return undefined
}
