import { describe, expect, it } from 'vitest'
import { commands, gitSubcommands } from '../../../../src/gate/bash/check-command.ts'
import { flagKinds } from '../../../../src/gate/bash/row.ts'
import { checkWithParser, policy } from '../../../support/gate/bash/check-with-parser.ts'
import { families } from '../../../support/gate/bash/rows/all.ts'

describe('what a decision costs', () => {
  it('spreads a row of flags out once', () => {
    const { flags } = commands.get('rg') ?? { flags: [] }
    expect(flagKinds(flags)).toBe(flagKinds(flags))
    const { flags: log } = gitSubcommands.get('log') ?? { flags: [] }
    expect(flagKinds(log)).toBe(flagKinds(log))
  })

  it('grows no faster than the line', () => {
    const line = (times: number) => `git log ${'--oneline -n 5 -- src/a.ts docs/x.md '.repeat(times)}`.trim()
    const least = (command: string) => Math.min(...Array.from({ length: 30 }, () => microseconds([command])))
    expect(least(line(160)) / least(line(20))).toBeLessThan(40)
  })

  it('is a fraction of a millisecond', () => {
    const lines = Object.values(families).flatMap(({ allow }) => allow)
    for (let warm = 0; warm < 20; warm += 1) microseconds(lines)
    const average = microseconds(lines) / lines.length
    console.log(`${lines.length} allowed lines: ${average.toFixed(1)} µs each, warm`)
    expect(average).toBeLessThan(1_000)
  })
})

function microseconds(lines: readonly string[]): number {
  const start = performance.now()
  for (const line of lines) checkWithParser(line, policy)
  return (performance.now() - start) * 1_000
}
