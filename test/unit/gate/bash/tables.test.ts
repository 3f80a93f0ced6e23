import { describe, expect, it } from 'vitest'
import { judged } from '../../../support/gate/bash/judged.ts'
import { families } from '../../../support/gate/bash/rows/all.ts'

describe.each(Object.entries(families))('%s', (_family, { allow, deny }) => {
  it.each(allow)('allows %j', (command) => {
    expect(judged(command)).toBe('allow')
  })

  const denied = Object.entries(deny).flatMap(([rule, commands]) => commands.map((command) => ({ rule, command })))
  it.each(denied)('denies $command by $rule', ({ rule, command }) => {
    expect(judged(command)).toBe(rule)
  })
})
