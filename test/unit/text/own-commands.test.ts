import { expect, it } from 'vitest'
import { commandNames, withCommand } from '../../../src/text/own-commands.ts'

const start = "node '/home/me/a b/dist/cli.mjs'"

it.each([
  ['See `plan-gate status`.', `See \`${start} status\`.`],
  ['Name it: plan-gate completion bash', `Name it: ${start} completion bash`],
  ['(plan-gate doctor)', `(${start} doctor)`],
  [
    'plan-gate continue, plan-gate waive, or plan-gate approve',
    `${start} continue, ${start} waive, or ${start} approve`,
  ],
  ['In your own repository:\n  npx plan-gate bootstrap x.md', `In your own repository:\n  ${start} bootstrap x.md`],
  ['\u001b[2mplan-gate open\u001b[22m', `\u001b[2m${start} open\u001b[22m`],
  ['See `plan-gate --help`.', `See \`${start} --help\`.`],
  ['plan-gate guards this worktree.', null],
  ['plan-gate: the gate is closed', null],
  ['the plan-gate configuration', null],
  ['a gate of plan-gate reviewed', null],
  ['/opt/plan-gate status', null],
  ['my-plan-gate status', null],
])('%j with a start of its own → %j', (text, expected) => {
  expect(withCommand(text, start)).toBe(expected ?? text)
})

it('knows every command', () => {
  expect(commandNames.map((name) => withCommand(`plan-gate ${name}`, 'x'))).toEqual(
    commandNames.map((name) => `x ${name}`),
  )
})
