import { checkOperands } from './check-operands.ts'
import type { CommandRow } from './command-row.ts'
import { readFlags } from './read-flags.ts'
import { isRefusal, type Refusal } from './refusal.ts'

/** The words behind a command's name, against its row. */
export function judgeRow(
  row: CommandRow,
  name: string,
  words: readonly string[],
  isPiped: boolean,
): Refusal | undefined {
  const call = readFlags(words, row, name, isPiped)
  if (isRefusal(call)) return call
  const problem = row.check?.(call)
  if (problem !== undefined) return { kind: 'refused', ...problem }
  return checkOperands(call, row)
}
