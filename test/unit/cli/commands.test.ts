import { expect, it } from 'vitest'
import { discardables } from '../../../bootstrap/finish.ts'
import commands from '../../../src/cli/commands.json' with { type: 'json' }
import { shells } from '../../../src/cli/completion.ts'
import { reviewers } from '../../../src/install/prerequisites.ts'
import { reviewTypes } from '../../../src/schemas/review.ts'
import { commandNames } from '../../../src/text/own-commands.ts'

it('has a row for each command, in the order of the help', () => {
  expect(Object.keys(commands)).toEqual(commandNames)
})

it.each([
  ['bootstrap --reviewer', commands.bootstrap.options['--reviewer <who>'].choices, reviewers],
  ['install --reviewer', commands.install.options['--reviewer <who>'].choices, reviewers],
  ['finish --discard', commands.finish.options['--discard <what>'].choices, discardables],
  ['review --type', commands.review.options['--type <type>'].choices, reviewTypes],
  ['completion [shell]', commands.completion.arguments['[shell]'].choices, shells],
])('%s takes what the code knows', (_, choices, known) => {
  expect(choices).toEqual([...known])
})

it('has examples that are aligned, and a --json for each', () => {
  for (const { examples, options } of Object.values(commands)) {
    const columns = examples.flatMap((line) => {
      const column = /\S {2,}(?=\S)/.exec(line)
      return column === null ? [] : [column.index + column[0].length]
    })
    expect([...new Set(columns)].length).toBeLessThanOrEqual(1)
    expect(options['--json']).toBeTypeOf('string')
  }
})
