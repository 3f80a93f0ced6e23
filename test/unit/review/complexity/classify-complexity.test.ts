import { describe, expect, it } from 'vitest'
import { defaultConfig } from '../../../../src/config/schema.ts'
import { classifyComplexity, modelSignal } from '../../../../src/review/complexity.ts'
import type { Complexity } from '../../../../src/schemas/review.ts'

const measure = (level: Complexity, securityPaths: readonly string[] = []) => ({
  level,
  files: 1,
  lines: 1,
  securityPaths,
})

describe('classifyComplexity', () => {
  it.each<[Complexity, Complexity, Complexity]>([
    ['low', 'low', 'low'],
    ['low', 'medium', 'medium'],
    ['low', 'high', 'high'],
    ['medium', 'low', 'medium'],
    ['medium', 'medium', 'medium'],
    ['medium', 'high', 'high'],
    ['high', 'low', 'medium'],
    ['high', 'medium', 'medium'],
    ['high', 'high', 'high'],
  ])('counted %s, said to be %s → %s', (counted, said, expected) => {
    expect(classifyComplexity(measure(counted), said)).toBe(expected)
  })

  it.each<Complexity>(['low', 'medium', 'high'])('a security-sensitive path is high, called %s', (said) => {
    expect(classifyComplexity(measure('high', ['.env']), said)).toBe('high')
  })
})

describe('modelSignal', () => {
  const { thresholds } = defaultConfig.review.multipass

  it.each<[number | null, number, Complexity]>([
    [0, 0, 'low'],
    [3, 500, 'low'],
    [4, 500, 'medium'],
    [3, 501, 'medium'],
    [6, 2000, 'medium'],
    [7, 0, 'high'],
    [0, 2001, 'high'],
    [null, 0, 'medium'],
    [null, 5000, 'medium'],
  ])('%s risk areas in %s tokens → %s', (risks, tokens, expected) => {
    const complexity = risks === null ? null : { risk_area_count: risks, files_affected: 1 }
    expect(modelSignal(complexity, tokens, thresholds)).toBe(expected)
  })

  it('counts by the thresholds of the configuration', () => {
    const own = { low_risk_areas: 0, low_scope_tokens: 10, high_risk_areas: 1, high_scope_tokens: 20 }
    const signal = (risk_area_count: number, tokens: number) =>
      modelSignal({ risk_area_count, files_affected: 0 }, tokens, own)
    expect([signal(0, 10), signal(1, 10), signal(2, 10), signal(0, 20), signal(0, 21)]).toEqual([
      'low',
      'medium',
      'high',
      'medium',
      'high',
    ])
  })
})
