import { describe, expect, it } from 'vitest'
import { applyEnvironment } from '../../../src/config/environment.ts'
import { defaultConfig } from '../../../src/config/schema.ts'

const { review } = defaultConfig
const flat = (env: { readonly [name: string]: string }) => {
  const applied = applyEnvironment(review, env)
  const { fast, timeout_seconds, multipass } = applied.review
  const { pass1_output, pass2_input, pass2_output, pass3_input } = multipass.budgets
  return {
    seen: [fast, timeout_seconds, multipass.adaptive, pass1_output, pass2_input, pass2_output, pass3_input],
    notices: applied.notices,
  }
}
const usual = [false, 600, true, 4000, 20_000, 6000, 6000] as const
const usualBut = (at: number, value: number | boolean) => usual.map((each, i) => (i === at ? value : each))

describe('applyEnvironment', () => {
  it('leaves everything as it is where nothing is set', () => {
    expect(applyEnvironment(review, { PATH: '/bin', PLAN_GATE_FAST: '' })).toEqual({ review, notices: [] })
  })

  it.each<[string, string, number, number | boolean]>([
    ['PLAN_GATE_FAST', '1', 0, true],
    ['PLAN_GATE_FAST', 'TRUE', 0, true],
    ['PLAN_GATE_FAST', 'off', 0, false],
    ['PLAN_GATE_TIMEOUT', '1', 1, 1],
    ['PLAN_GATE_TIMEOUT', '3600', 1, 3600],
    ['PLAN_GATE_ADAPTIVE', '0', 2, false],
    ['PLAN_GATE_ADAPTIVE', 'yes', 2, true],
    ['PLAN_GATE_PASS1_OUTPUT_BUDGET', '100', 3, 100],
    ['PLAN_GATE_PASS2_INPUT_BUDGET', '1000000', 4, 1_000_000],
    ['PLAN_GATE_PASS2_OUTPUT_BUDGET', '7000', 5, 7000],
    ['PLAN_GATE_PASS3_INPUT_BUDGET', '7000', 6, 7000],
  ])('%s=%s', (name, value, at, expected) => {
    expect(flat({ [name]: value })).toEqual({ seen: usualBut(at, expected), notices: [] })
  })

  it.each<[string, string, string]>([
    ['PLAN_GATE_FAST', 'maybe', 'PLAN_GATE_FAST is neither 1 nor 0, so it is ignored.'],
    ['PLAN_GATE_ADAPTIVE', '2', 'PLAN_GATE_ADAPTIVE is neither 1 nor 0, so it is ignored.'],
    ...['0', '-5', '1e3', '12.5', ' 7', '3601', '99999999', 'ten'].map((value): [string, string, string] => [
      'PLAN_GATE_TIMEOUT',
      value,
      'PLAN_GATE_TIMEOUT is not a whole number from 1 to 3600, so it is ignored.',
    ]),
    [
      'PLAN_GATE_PASS2_INPUT_BUDGET',
      '99',
      'PLAN_GATE_PASS2_INPUT_BUDGET is not a whole number from 100 to 1000000, so it is ignored.',
    ],
  ])('%s=%s is named, and does not count', (name, value, notice) => {
    expect(flat({ [name]: value })).toEqual({ seen: [...usual], notices: [notice] })
  })

  it('PLAN_GATE_EFFORT holds for every pass of every type', () => {
    const { effort } = applyEnvironment(review, { PLAN_GATE_EFFORT: 'Medium' }).review
    expect([effort.find, effort.plan.understand, effort.documents.verify]).toEqual(['medium', 'medium', 'medium'])
    const { notices } = flat({ PLAN_GATE_EFFORT: 'most' })
    expect(notices).toEqual(['PLAN_GATE_EFFORT is none of xhigh, high, medium, low, so it is ignored.'])
  })
})
