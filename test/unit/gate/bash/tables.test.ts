import { describe, expect, it } from 'vitest'
import { ruleFor } from '../../../support/gate/bash/check-with-parser.ts'
import { families } from '../../../support/gate/bash/rows/all.ts'

describe.each(Object.entries(families))('%s', (_family, { allow, deny }) => {
  it.each(allow)('allows %j', (command) => {
    expect(ruleFor(command)).toBe('allow')
  })

  const denied = Object.entries(deny).flatMap(([rule, commands]) => commands.map((command) => ({ rule, command })))
  it.each(denied)('denies $command by $rule', ({ rule, command }) => {
    expect(ruleFor(command)).toBe(rule)
  })
})
