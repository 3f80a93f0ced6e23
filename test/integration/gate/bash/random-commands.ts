import fc from 'fast-check'
import { ruleFor } from '../../../support/gate/bash/check-with-parser.ts'
import { dangerous, known, letters, names, operands } from '../../../support/gate/bash/command-words.ts'

const command = fc.constantFrom(...names).chain((name) => {
  const flags = known[name] ?? []
  const flag = flags.length === 0 ? fc.constant('-n') : fc.constantFrom(...flags)
  const operand = fc.constantFrom(...operands)
  const letter = fc.constantFrom(...letters)
  const word = fc.oneof(
    flag,
    fc.tuple(flag, operand).map(([one, other]) => `${one} ${other}`),
    fc.tuple(flag, operand).map(([one, other]) => `${one}=${other}`),
    fc.tuple(letter, letter).map(([one, other]) => `-${one}${other}`),
    operand,
    operand,
    fc.constantFrom(...dangerous),
  )
  return fc.array(word, { maxLength: 5 }).map((words) => [name, ...words].join(' '))
})
const line = fc
  .tuple(fc.constantFrom('', '', '', 'cat list.txt | '), command, fc.constantFrom('', '', '', ' | head -3', ' && pwd'))
  .map((parts) => parts.join(''))

/** Lines that nobody would write, made of what the commands know and of what they must not be given; the allowed ones. */
export const randomCommands = (count: number, seed: number): string[] => [
  ...new Set(fc.sample(line, { numRuns: count, seed }).filter((source) => ruleFor(source) === 'allow')),
]
