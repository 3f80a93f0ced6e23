import { readLineHere } from '../../../support/gate/bash/check-with-parser.ts'
import type { BashRun } from './run-in-bash.ts'

/** What the commands start besides themselves: git calls itself; egrep, fgrep and which are scripts, as is ugrep's grep. */
const helpers = ['bash', 'sh', 'dash', 'git', 'grep', 'claude']

/** Whether a program was started that the line does not name. */
export const startsAnother = ({ trace, command }: BashRun): boolean => {
  const line = readLineHere(command)
  const parts = line.kind === 'line' ? line.parts.map(({ words }) => words.map(({ text }) => text)) : []
  const named = parts.flatMap((words) => (words[0] === 'xargs' ? words : words.slice(0, 1)))
  return trace?.programs.some((program) => ![...helpers, ...named].includes(program)) ?? false
}
