import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { configSchema } from '../../../src/config/schema.ts'
import { project } from '../../support/project.ts'

/** `npx tsx test/unit/readme/config-table.ts` writes the table of all keys into docs/configuration.md; a test holds the document to it. */
const marks = ['<!-- every key, from src/schemas/config.ts -->', '<!-- the end of the keys -->'] as const
export const configurationPage = join(project, 'docs/configuration.md')

type Node = { description?: string; default?: unknown; properties?: { readonly [key: string]: Node } }

const rowsOf = (node: Node, path: string): string[] =>
  node.properties === undefined
    ? [`| \`${path}\` | ${shown(node.default)} | ${inCell(node.description ?? '')} |`]
    : Object.entries(node.properties).flatMap(([key, inner]) => rowsOf(inner, path === '' ? key : `${path}.${key}`))

const shown = (value: unknown): string => {
  if (value === null || value === undefined) return 'unset'
  return Array.isArray(value) && value.length === 0 ? '`[]`' : `\`${inCell(asText(value))}\``
}

const asText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value).replaceAll('"', '')

const inCell = (text: string): string => text.replaceAll('|', '\\|')

export const configTable = (): string =>
  ['| key | default | what it does |', '|---|---|---|', ...rowsOf(configSchema as Node, '')].join('\n')

/** What stands between the marks, and what stands around it. */
function parts(text: string): { before: string; table: string; after: string } {
  const [from, to] = [text.indexOf(marks[0]), text.indexOf(marks[1])]
  if (from < 0 || to < from) throw new Error('docs/configuration.md has no place for the table of keys')
  const start = from + marks[0].length
  return { before: text.slice(0, start), table: text.slice(start, to).trim(), after: text.slice(to) }
}

export const tableIn = (text: string): string => parts(text).table

if (process.argv[1] === import.meta.filename) {
  const { before, after } = parts(readFileSync(configurationPage, 'utf8'))
  writeFileSync(configurationPage, `${before}\n${configTable()}\n${after}`)
}
