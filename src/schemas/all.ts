import { approvalSchema } from './approval.ts'
import { compiledConfigSchema } from './compiled-config.ts'
import { configSchema } from './config.ts'
import { denialSchema } from './denial.ts'
import { finishedSchema } from './finished.ts'
import { handledPlanSchema } from './handled-plan.ts'
import * as hookEvents from './hook-events.ts'
import { installRecordSchema } from './install-record.ts'
import { keptPassSchema } from './kept-pass.ts'
import { ledgerEventSchema } from './ledger-event.ts'
import { openedWorktreeSchema } from './opened-worktree.ts'
import { progressSchema } from './progress.ts'
import { reviewResultSchema } from './review-result.ts'
import type { Schema } from './schema.ts'
import { sessionSchema } from './session.ts'
import { threadUseSchema } from './thread-use.ts'
import * as worktreeBaseline from './worktree-baseline.ts'

/**
 * Every schema that needs a validator. `npm run build` compiles each into `generated/<$id>.js`, so that no hook
 * carries a schema compiler (ajv costs 37 ms a start). `published` ones are also written to `dist/schemas/`.
 * The type of a schema has its `$id` in PascalCase and stands in the module of that name, or in `module`.
 */
export const schemas: readonly { schema: Schema & { $id: string }; published: boolean; module?: string }[] = [
  ...Object.values(hookEvents).map((schema) => ({ schema, published: false, module: 'hook-events' })),
  ...Object.values(worktreeBaseline).map((schema) => ({ schema, published: false, module: 'worktree-baseline' })),
  { schema: approvalSchema, published: true },
  { schema: compiledConfigSchema, published: false },
  { schema: configSchema, published: true },
  { schema: denialSchema, published: false },
  { schema: finishedSchema, published: true },
  { schema: handledPlanSchema, published: false },
  { schema: installRecordSchema, published: false },
  { schema: keptPassSchema, published: false },
  { schema: ledgerEventSchema, published: false },
  { schema: openedWorktreeSchema, published: false },
  { schema: progressSchema, published: false },
  { schema: reviewResultSchema, published: true },
  { schema: sessionSchema, published: false },
  { schema: threadUseSchema, published: false },
]
