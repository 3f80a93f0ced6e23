import { mkdir, rm, writeFile } from 'node:fs/promises'
import { Ajv } from 'ajv'
import standalone from 'ajv/dist/standalone/index.js'
import { schemas } from '../schemas/all.ts'

const generated = new URL('../schemas/generated/', import.meta.url)

/** One plain function per schema, written where the code that needs it can import just that one. */
export async function compileValidators(): Promise<void> {
  await rm(generated, { recursive: true, force: true })
  await mkdir(generated, { recursive: true })
  const ajv = new Ajv({
    strict: true,
    allowUnionTypes: true,
    allErrors: true,
    code: { source: true, esm: true, lines: true },
  })
  for (const { schema, module = schema.$id } of schemas) {
    const code = standalone(ajv, ajv.compile(schema))
    await writeFile(new URL(`${schema.$id}.js`, generated), code)
    await writeFile(new URL(`${schema.$id}.d.ts`, generated), declarationOf(schema.$id, module))
  }
}

const declarationOf = (id: string, module: string): string => {
  const type = id.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())
  return `import type { ${type} } from '../${module}.ts'
import type { SchemaError } from '../schema.ts'
declare const validate: { (value: unknown): value is ${type}; errors?: readonly SchemaError[] | null }
export default validate
`
}
