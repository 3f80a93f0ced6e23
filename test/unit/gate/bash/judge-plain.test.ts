import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { judgePlain } from '../../../../src/gate/bash/check-plain-command.ts'
import { commandLine } from '../../../support/gate/bash/command-lines.ts'
import { judged, policy } from '../../../support/gate/bash/judged.ts'
import { families } from '../../../support/gate/bash/rows/all.ts'

const rows = Object.values(families).flatMap(({ allow, deny }) => [...allow, ...Object.values(deny).flat()])

/** What the way without a parser decides. */
const plainly = (command: string): string => {
  const verdict = judgePlain(command, policy)
  return verdict.kind === 'refused' ? 'denied' : verdict.kind
}
const agrees = (command: string): boolean => {
  const plain = plainly(command)
  return plain === 'unread' || (plain === 'allowed') === (judged(command) === 'allow')
}

describe('a line that is judged without a parser', () => {
  it('is judged as with one', () => {
    expect(rows.filter((command) => !agrees(command))).toEqual([])
    fc.assert(fc.property(commandLine, agrees), { numRuns: 4_000 })
  })

  it('is the usual one', () => {
    expect(rows.filter((command) => plainly(command) === 'allowed').length).toBeGreaterThan(250)
  })
})
