import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Schema } from '../../../src/schemas/schema.ts'
import { packageVersion } from '../../../src/system/package.ts'
import { dist } from '../../support/project.ts'

/**
 * What readers of the last release rely on, line by line. A line that is gone is a breaking change, and needs a row in
 * `schemaVersions` (src/cli/schema.ts). UPDATE_SCHEMAS=1 records the current form: with each release, and before the
 * first one whenever it changes.
 */
const file = join(import.meta.dirname, 'released-schemas.jsonl')

type Published = { [name: string]: { version: number; lines: string[] } }

/** Written by people, so that a further required key breaks what they have. */
const inputs = ['config', 'approval']

/** Each property with its type and bounds, each value of a list, what is always there (!) and what is open (…). */
function linesOf(schema: Schema, path: string): string[] {
  const { type, anyOf, items, properties, required = [], additionalProperties, pattern } = schema
  const values = schema.const === undefined ? schema.enum : [schema.const]
  const bounds = (['minimum', 'exclusiveMinimum', 'maximum', 'minItems', 'maxItems', 'maxLength'] as const).flatMap(
    (name) => (schema[name] === undefined ? [] : [`${name} ${schema[name]}`]),
  )
  const details = [...bounds, ...(pattern === undefined ? [] : [pattern]), ...(values ? ['of a list'] : [])]
  return [
    ...(type === undefined ? [] : [`${path}: ${[[type].flat().sort().join('|'), ...details].join(', ')}`]),
    ...(values ?? []).map((value) => `${path} = ${JSON.stringify(value)}`),
    ...required.map((name) => `${path}.${name}!`),
    ...(properties !== undefined && additionalProperties !== false ? [`${path} …`] : []),
    ...Object.entries(properties ?? {}).flatMap(([name, each]) => linesOf(each, `${path}.${name}`)),
    ...(typeof additionalProperties === 'object' ? linesOf(additionalProperties, `${path}.*`) : []),
    ...(items === undefined ? [] : linesOf(items, `${path}[]`)),
    ...(anyOf ?? []).flatMap((each) => linesOf(each, path + kindOf(each))),
  ]
}

/** What tells an alternative from the others. */
function kindOf({ properties = {} }: Schema): string {
  const fixed = Object.entries(properties).flatMap(([name, each]) =>
    each.const === undefined ? [] : [`${name}=${each.const}`],
  )
  return fixed.length === 0 ? '' : `(${fixed.join(' ')})`
}

function breaksIn(released: Published, current: Published): string[] {
  return Object.entries(released).flatMap(([name, { version, lines }]) => {
    const now = current[name]
    if (now === undefined) return [`${name} is gone`]
    if (now.version > version) return []
    const added = now.lines.filter((line) => inputs.includes(name) && line.endsWith('!'))
    return [
      ...lines.filter((line) => !now.lines.includes(line)).map((line) => `gone: ${name}${line}`),
      ...added.filter((line) => !lines.includes(line)).map((line) => `now needed: ${name}${line}`),
    ]
  })
}

const publishedOf = (schema: Schema): Published[string] => ({
  version: Number(schema.$id?.split(':').at(-1)),
  lines: [...new Set(linesOf(schema, ''))],
})

const current: Published = Object.fromEntries(
  readdirSync(join(dist, 'schemas')).map((name) => [
    name.replace('.schema.json', ''),
    publishedOf(JSON.parse(readFileSync(join(dist, 'schemas', name), 'utf8')) as Schema),
  ]),
)
const version = packageVersion()

if (process.env.UPDATE_SCHEMAS === '1') {
  const rows = [{ plan_gate: version }, ...Object.entries(current).map(([name, each]) => ({ name, ...each }))]
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
}
const [{ plan_gate }, ...rows] = readFileSync(file, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line)) as [{ plan_gate: string }, ...(Published[string] & { name: string })[]]
const released: Published = Object.fromEntries(rows.map(({ name, ...each }) => [name, each]))

it('a published schema loses nothing without a new version', () => {
  expect(breaksIn(released, current)).toEqual([])
})

it('what was released is on record for this version of the package', () => {
  expect(plan_gate).toBe(version)
})

it('each published schema has its name and its version as $id', () => {
  for (const [name, each] of Object.entries(current)) {
    const { $id } = JSON.parse(readFileSync(join(dist, 'schemas', `${name}.schema.json`), 'utf8')) as Schema
    expect($id).toBe(`urn:plan-gate:${name}:${each.version}`)
  }
})

const before: Schema = {
  type: 'object',
  required: ['kind'],
  properties: {
    kind: { enum: ['a', 'b'] },
    text: { type: ['string', 'null'], description: 'Words.' },
    count: { type: 'integer', minimum: 0 },
    list: { type: 'array', items: { anyOf: [{ type: 'object', properties: { event: { const: 'x' } } }] } },
  },
}
const withProperties = (properties: Schema['properties']): Schema => ({
  ...before,
  properties: { ...before.properties, ...properties },
})

it.each<[string, string, Schema, string[]]>([
  ['nothing', 'x', before, []],
  ['other words', 'x', withProperties({ text: { type: ['null', 'string'], description: 'Other words.' } }), []],
  ['a further field', 'x', withProperties({ more: { type: 'string' } }), []],
  ['a further value', 'x', withProperties({ kind: { enum: ['a', 'b', 'c'] } }), []],
  ['a field that is now always there', 'x', { ...before, required: ['kind', 'text'] }, []],
  [
    'the same in a file that people write',
    'config',
    { ...before, required: ['kind', 'text'] },
    ['now needed: config.text!'],
  ],
  ['a value less', 'x', withProperties({ kind: { enum: ['a'] } }), ['gone: x.kind = "b"']],
  ['a narrower type', 'x', withProperties({ text: { type: 'string' } }), ['gone: x.text: null|string']],
  [
    'values instead of any',
    'x',
    withProperties({ text: { type: ['string', 'null'], enum: ['a'] } }),
    ['gone: x.text: null|string'],
  ],
  [
    'a narrower bound',
    'x',
    withProperties({ count: { type: 'integer', minimum: 1 } }),
    ['gone: x.count: integer, minimum 0'],
  ],
  ['a field that may be missing', 'x', { ...before, required: [] }, ['gone: x.kind!']],
  ['a closed object', 'x', { ...before, additionalProperties: false }, ['gone: x …']],
  [
    'an alternative less',
    'x',
    withProperties({ list: { type: 'array', items: { anyOf: [] } } }),
    ['gone: x.list[](event=x): object', 'gone: x.list[](event=x) …', 'gone: x.list[](event=x).event = "x"'],
  ],
])('%s', (_, name, after, expected) => {
  const [then, now] = [publishedOf({ $id: 'x:1', ...before }), publishedOf({ $id: 'x:1', ...after })]
  expect(breaksIn({ [name]: then }, { [name]: now })).toEqual(expected)
  expect(breaksIn({ [name]: then }, { [name]: { ...now, version: 2 } })).toEqual([])
})
