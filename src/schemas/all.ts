import { approvalSchema } from './approval.ts'
import type { Schema } from './schema.ts'

/**
 * Every schema that needs a validator. `npm run build` compiles each into `generated/<$id>.js`, so that no hook
 * carries a schema compiler (ajv costs 37 ms a start). `published` ones are also written to `dist/schemas/`.
 */
export const schemas: readonly { schema: Schema & { $id: string }; published: boolean }[] = [
  { schema: approvalSchema, published: true },
]
