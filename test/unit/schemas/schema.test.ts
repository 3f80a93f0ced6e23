import { Ajv } from 'ajv'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { publishedOutputs } from '../../../src/cli/schema.ts'
import { configSchema } from '../../../src/config/schema.ts'
import * as hookEvents from '../../../src/schemas/hook-events.ts'
import { approvalSchema, finishedSchema, installRecordSchema } from '../../../src/schemas/records.ts'
import { reviewResultSchema } from '../../../src/schemas/review.ts'
import { accepts, errorsIn, type Schema, type SchemaError } from '../../../src/schemas/schema.ts'

const schemas: readonly (Schema & { $id: string })[] = [
  ...Object.values(hookEvents),
  ...[approvalSchema, configSchema, finishedSchema, installRecordSchema, reviewResultSchema],
  ...publishedOutputs,
]

/** A value that the schema may accept, with others strewn in. */
const someValue = (schema: Schema): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 12, arbitrary: likely(schema) }, { weight: 1, arbitrary: other })

const other = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, 1e21, '', 'x', 'é', '😀', [], {}, ['x'], { x: 1 }),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
)

function likely(schema: Schema): fc.Arbitrary<unknown> {
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(someValue))
  const types = [schema.type ?? []].flat()
  return types.length === 0 ? other : fc.oneof(...types.map((type) => ofType(schema, type)))
}

function ofType(schema: Schema, type: string): fc.Arbitrary<unknown> {
  switch (type) {
    case 'object':
      return someObject(schema)
    case 'array':
      return fc.array(someValue(schema.items ?? {}), { maxLength: 3 })
    case 'string':
      return fc.oneof(fc.constantFrom('a', 'src/a.ts', 'A_B', '2026-01-02', 'a'.repeat(64), 'docs/x.md'), fc.string())
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    default:
      return fc.oneof(fc.integer({ min: -2, max: 2_000_000 }), fc.double({ noNaN: true, noDefaultInfinity: true }))
  }
}

function someObject({ properties = {}, required = [], additionalProperties }: Schema): fc.Arbitrary<unknown> {
  const known = fc.record(
    Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key, someValue(schema)])),
    // Now and then a key is missing.
    { requiredKeys: required.filter((_, index) => index % 5 !== 4) },
  )
  const inner = typeof additionalProperties === 'object' ? someValue(additionalProperties) : other
  const unknown = fc.dictionary(fc.constantFrom('x', 'a/b', 'a~b', 'toString', 'version'), inner, { maxKeys: 1 })
  return fc.tuple(known, unknown).map(([one, two]) => ({ ...one, ...two }))
}

const summary = ({ instancePath, keyword, params }: SchemaError): string =>
  `${instancePath} ${keyword} ${JSON.stringify(params.limit ?? params.missingProperty ?? params.additionalProperty ?? params.type ?? params.pattern ?? null)}`

describe('the checks of a schema agree with ajv', () => {
  const ajv = new Ajv({ strict: true, allowUnionTypes: true, allErrors: true })

  it.each(schemas)('$$id: on what is accepted', (schema) => {
    const validate = ajv.compile(schema)
    const seen = { true: 0, false: 0 }
    fc.assert(
      fc.property(someValue(schema), (value) => {
        const expected = validate(value)
        seen[`${expected}`] += 1
        expect(accepts(schema, value), JSON.stringify([value, validate.errors])).toBe(expected)
      }),
      { numRuns: 300 },
    )
    expect(seen.false).toBeGreaterThan(0)
  })

  it('plan-gate.yaml: on each thing that is wrong', () => {
    const validate = new Ajv({ strict: true, allowUnionTypes: true, allErrors: true }).compile(configSchema)
    fc.assert(
      fc.property(someValue(configSchema), (value) => {
        validate(value)
        // Ajv goes on after a wrong type; a person would read two lines about one value.
        const wrongType = (validate.errors ?? []).flatMap((error) =>
          error.keyword === 'type' ? [error.instancePath] : [],
        )
        const theirs = (validate.errors ?? []).filter(
          ({ instancePath, keyword }) => keyword === 'type' || !wrongType.includes(instancePath),
        )
        expect([...errorsIn(configSchema, value)].map(summary).sort()).toEqual(theirs.map(summary).sort())
      }),
      { numRuns: 1_000 },
    )
  })
})
