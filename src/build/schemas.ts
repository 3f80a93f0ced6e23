import { compiledConfigSchema, configSchema } from '../config/schema.ts'
import * as hookEvents from '../schemas/hook-events.ts'
import {
  approvalSchema,
  denialSchema,
  finishedSchema,
  handledPlanSchema,
  installRecordSchema,
  ledgerEventSchema,
  openedWorktreeSchema,
  progressSchema,
  sessionSchema,
  threadUseSchema,
} from '../schemas/records.ts'
import { keptPassSchema, reviewResultSchema } from '../schemas/review.ts'
import type { Schema } from '../schemas/schema.ts'
import * as worktreeBaseline from '../schemas/worktree-baseline.ts'

/**
 * Every schema that needs a validator. `npm run build` compiles each into `generated/<$id>.js`, so that no hook
 * carries a schema compiler (ajv costs 37 ms a start). `published` ones are also written to `dist/schemas/`.
 * The type of a schema has its `$id` in PascalCase; `module` is where it stands.
 */
export const schemas: readonly { schema: Schema & { $id: string }; published: boolean; module: string }[] = [
  ...Object.values(hookEvents).map((schema) => ({ schema, published: false, module: 'schemas/hook-events' })),
  ...Object.values(worktreeBaseline).map((schema) => ({
    schema,
    published: false,
    module: 'schemas/worktree-baseline',
  })),
  { schema: approvalSchema, published: true, module: 'schemas/records' },
  { schema: compiledConfigSchema, published: false, module: 'config/schema' },
  { schema: configSchema, published: true, module: 'config/schema' },
  { schema: denialSchema, published: false, module: 'schemas/records' },
  { schema: finishedSchema, published: true, module: 'schemas/records' },
  { schema: handledPlanSchema, published: false, module: 'schemas/records' },
  { schema: installRecordSchema, published: false, module: 'schemas/records' },
  { schema: keptPassSchema, published: false, module: 'schemas/review' },
  { schema: ledgerEventSchema, published: false, module: 'schemas/records' },
  { schema: openedWorktreeSchema, published: false, module: 'schemas/records' },
  { schema: progressSchema, published: false, module: 'schemas/records' },
  { schema: reviewResultSchema, published: true, module: 'schemas/review' },
  { schema: sessionSchema, published: false, module: 'schemas/records' },
  { schema: threadUseSchema, published: false, module: 'schemas/records' },
]
