import { mkdir, rm, writeFile } from 'node:fs/promises'
import { Ajv } from 'ajv'
import standalone from 'ajv/dist/standalone/index.js'
import { schemas } from '../schemas/all.ts'
import type { Schema } from '../schemas/schema.ts'

const generated = new URL('../schemas/generated/', import.meta.url)

const options = { strict: true, allowUnionTypes: true, code: { source: true, esm: true, lines: true } } as const

/** Files that only we write: nobody reads what is wrong with them, and the gate carries their validators. */
const terse = ['compiled-config', 'repository-baseline', 'settings-baseline', 'tree-baseline']

/** One plain function per schema, written where the code that needs it can import just that one. */
export async function compileValidators(): Promise<void> {
  await rm(generated, { recursive: true, force: true })
  await mkdir(generated, { recursive: true })
  for (const { schema, module = schema.$id } of schemas) {
    // A person who writes a configuration wants to hear of every mistake; a hook needs the first one, in less code.
    const ajv = new Ajv({ ...options, allErrors: schema.$id === 'config', messages: !terse.includes(schema.$id) })
    const code = standalone(ajv, ajv.compile(withoutWords(schema) as Schema))
    await writeFile(new URL(`${schema.$id}.js`, generated), code)
    await writeFile(new URL(`${schema.$id}.d.ts`, generated), declarationOf(schema.$id, module))
  }
}

/** The words of a schema are for its readers; a validator would carry them along into every hook. */
const withoutWords = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutWords)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([key, inner]) => !(isWord(key) && typeof inner !== 'object'))
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutWords(inner)]))
}

const isWord = (key: string): boolean => key === 'description' || key === 'title'

const declarationOf = (id: string, module: string): string => {
  const type = id.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())
  return `import type { ${type} } from '../${module}.ts'
import type { SchemaError } from '../schema.ts'
declare const validate: { (value: unknown): value is ${type}; errors?: readonly SchemaError[] | null }
export default validate
`
}
