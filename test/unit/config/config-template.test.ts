import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseConfig } from '../../../src/config/load.ts'
import { configSchema, defaultConfig } from '../../../src/config/schema.ts'
import type { Schema } from '../../../src/schemas/schema.ts'
import { project } from '../../support/project.ts'

const template = readFileSync(join(project, 'templates/plan-gate.yaml'), 'utf8')

/** A # before a key, without a space, is a key that a person may uncomment; any other is prose. */
const uncommented = template.replace(/^( *)#(?=[a-z0-9_]+:)/gm, '$1')
const exampleOf = (key: string): string =>
  template
    .split('\n')
    .slice(template.split('\n').indexOf(`  # ${key}:`))
    .filter((_line, index, lines) => lines.slice(0, index + 1).every((each) => each.startsWith('  # ')))
    .map((line) => line.replace('  # ', '  '))
    .join('\n')

it('says what holds without it', () => {
  expect(parseConfig(template)).toEqual({ kind: 'valid', config: defaultConfig, notices: [] })
})

it('says, uncommented, the same', () => {
  expect(uncommented).not.toBe(template)
  expect(parseConfig(uncommented)).toEqual({ kind: 'valid', config: defaultConfig, notices: [] })
})

it('shows a route table that is one', () => {
  const parsed = parseConfig(`review:\n${exampleOf('routes')}`)
  expect(parsed).toMatchObject({
    kind: 'valid',
    config: { review: { routes: [{ backend: 'codex' }, { name: 'openrouter' }, { name: 'local' }] } },
  })
})

it('names each key in the place where it belongs', () => {
  const withExamples = uncommented.replace(
    /^ {2}# (routes|guidelines):\n( {2}# .*\n)+/gm,
    (_, key: string) => `${exampleOf(key)}\n`,
  )
  expect(keysInYaml(withExamples)).toEqual(keysInSchema(configSchema, ''))
})

it('begins with the schema for editors', () => {
  const schemaFile = 'node_modules/plan-gate/dist/schemas/config.schema.json'
  expect(template.split('\n')[0]).toBe(`# yaml-language-server: $schema=${schemaFile}`)
})

/** By indentation alone, so that this does not rest on the parser it tests. */
function keysInYaml(text: string): Set<string> {
  const open: { indent: number; key: string }[] = []
  const keys = new Set<string>()
  for (const [, spaces = '', dash = '', key = ''] of text.matchAll(/^( *)(- )?([a-z_0-9]+):/gm)) {
    const indent = spaces.length + dash.length
    while ((open.at(-1)?.indent ?? -1) >= indent) open.pop()
    open.push({ indent, key })
    keys.add(open.map((each) => each.key).join('.'))
  }
  return keys
}

function keysInSchema({ items, properties = {} }: Schema, parent: string): Set<string> {
  if (items) return keysInSchema(items, parent)
  const paths = Object.entries(properties).flatMap(([key, schema]) => {
    const path = parent === '' ? key : `${parent}.${key}`
    return [path, ...keysInSchema(schema, path)]
  })
  return new Set(paths)
}
