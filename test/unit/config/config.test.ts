import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { configSchema, defaultConfig } from '../../../src/config/schema.ts'
import type { Schema } from '../../../src/schemas/schema.ts'

describe('the schema of plan-gate.yaml', () => {
  const ajv = new Ajv({ strict: true, allowUnionTypes: true, allErrors: true })

  it('is a valid JSON Schema', () => {
    expect(() => ajv.compile(configSchema)).not.toThrow()
  })

  const properties = propertiesOf(configSchema, '')

  it.each(properties)('describes $path and accepts its default', ({ schema }) => {
    expect(schema.description).toMatch(/\.$/)
    if ('default' in schema) expect(ajv.validate(schema, schema.default)).toBe(true)
  })

  it('has a default for everything but a route table', () => {
    const without = properties.filter(({ schema }) => !('default' in schema)).map(({ path }) => path)
    const row = [
      ...['backend', 'name', 'model', 'base_url', 'api_key_env', 'api', 'allow_http'],
      ...['price', 'price.input', 'price.cached', 'price.output', 'when', 'capabilities', 'timeout'],
    ].map((key) => `review.routes[].${key}`)
    expect(without).toEqual(['review.routes', ...row, 'review.guidelines[].file'])
  })

  it('accepts no key that it does not name', () => {
    const open = properties.filter(({ schema }) => schema.properties && schema.additionalProperties !== false)
    expect(open).toEqual([])
  })

  it('needs nothing of the run time of ajv', () => {
    const used = JSON.stringify(configSchema)
    expect(used).not.toMatch(/"(maxLength|minLength|uniqueItems|format)":/)
  })
})

const auto = { understand: 'auto', find: 'auto', verify: 'auto' } as const

describe('the defaults', () => {
  it('are these', () => {
    expect(defaultConfig).toEqual({
      plan: {
        max_revisions: 5,
        deadline_seconds: 1500,
        notify: 'off',
        exit_plan_mode: 'on',
        required_sections: ['Goal', 'Context', 'Approach', 'Changes', 'Risks', 'Open Questions'],
        max_tokens: 40_000,
        request: null,
        cycle_tokens: null,
        archive: null,
      },
      gate: {
        bash: { allow: [], compound: true, mode: 'auto' },
        sandbox: { rehearse: expect.arrayContaining(['npm test', 'cargo test', 'make']), approved: 'protect' },
        tools: { allow: [] },
        scope: 'off',
      },
      review: {
        enabled: true,
        route_schema: 1,
        execution_mode: 'auto',
        readers: null,
        second_opinion: 'never',
        reasoning_mode: 'multi-pass',
        timeout_seconds: 600,
        effort: { ...auto, plan: auto, code: auto, documents: auto },
        guidelines: [],
        max_iterations: 3,
        tool_access: false,
        fast: false,
        models: { documents: 'gpt-5.2', code: 'gpt-5.2-codex', plan: null },
        phases: { plan: true, prd: true, sdd: true, sprint: true, implementation: true },
        multipass: {
          adaptive: true,
          thresholds: { low_risk_areas: 3, low_scope_tokens: 500, high_risk_areas: 6, high_scope_tokens: 2000 },
          budgets: {
            pass1_output: 4000,
            pass2_input: 20_000,
            pass2_output: 6000,
            pass3_input: 6000,
            high_complexity: { pass2_input: 30_000, pass2_output: 10_000 },
          },
        },
        policy: {
          max_routes: 10,
          max_attempts: 10,
          max_total_seconds: 1500,
          require_custom_routes_opt_in: false,
          ci_backends: null,
          routes_sha256: null,
        },
        redaction: { patterns: [] },
        sensitive_files: [],
      },
      codex: { instructions: 'replace' },
      hounfour: { flatline_routing: false, model_invoke: 'model-invoke', agent: 'gpt-reviewer' },
      reflect: {
        enabled: false,
        model: null,
        fast_model: null,
        timeout_seconds: 100,
        traceability: 'advisory',
        max_calls: 100,
        max_tokens: null,
      },
      worktree: { setup: [], dir: '../{repo}-{name}', base: null },
    })
  })
})

type Property = { path: string; schema: Schema }

function propertiesOf(schema: Schema, parent: string): Property[] {
  if (schema.items) return propertiesOf(schema.items, `${parent}[]`)
  return Object.entries(schema.properties ?? {}).flatMap(([key, property]) => {
    const path = parent === '' ? key : `${parent}.${key}`
    return [{ path, schema: property }, ...propertiesOf(property, path)]
  })
}
