import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkPlainCommand } from '../../../../src/gate/bash/check-command.ts'
import { policy, ruleFor } from '../../../support/gate/bash/check-with-parser.ts'
import { commandLine } from '../../../support/gate/bash/command-lines.ts'
import { families } from '../../../support/gate/bash/rows/all.ts'

const rows = Object.values(families).flatMap(({ allow, deny }) => [...allow, ...Object.values(deny).flat()])

/** What is decided without the parser; null where it is needed. */
const decidedPlainly = (command: string): string | null => checkPlainCommand(command, policy)?.kind ?? null
const agrees = (command: string): boolean => {
  const plain = decidedPlainly(command)
  return plain === null || (plain === 'allow') === (ruleFor(command) === 'allow')
}

describe('a line that needs no parser', () => {
  it('is decided as with one', () => {
    expect(rows.filter((command) => !agrees(command))).toEqual([])
    fc.assert(fc.property(commandLine, agrees), { numRuns: 4_000 })
  })

  it('is the usual one', () => {
    expect(rows.filter((command) => decidedPlainly(command) === 'allow').length).toBeGreaterThan(250)
  })
})
