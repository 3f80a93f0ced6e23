import type { Schema } from '../schemas/schema.ts'

/**
 * A schema as the strict mode of OpenAI's structured outputs takes it: without `$id`, and with a `type` beside each
 * `enum` and `const` ("schema must have a 'type' key").
 */
export function strictSchema({ $id: _, ...schema }: Schema): Schema {
  const type = schema.type ?? typesOf(schema.enum ?? ('const' in schema ? [schema.const] : []))
  return {
    ...schema,
    ...(type === undefined ? {} : { type }),
    ...(schema.items === undefined ? {} : { items: strictSchema(schema.items) }),
    ...(schema.properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(schema.properties).map(([key, property]) => [key, strictSchema(property)]),
          ),
        }),
  }
}

/** For a backend, or a model, that takes no schema. */
export const schemaInWords = (schema: Schema): string =>
  `Answer with one JSON object by this JSON schema, and nothing around it:\n${JSON.stringify(strictSchema(schema))}`

type TypeName = 'string' | 'number' | 'boolean' | 'null'

function typesOf(values: readonly unknown[]): TypeName | TypeName[] | undefined {
  const types = [...new Set(values.flatMap(typeOf))]
  return types.length > 1 ? types : types[0]
}

function typeOf(value: unknown): TypeName[] {
  if (value === null) return ['null']
  const type = typeof value
  return type === 'string' || type === 'number' || type === 'boolean' ? [type] : []
}
