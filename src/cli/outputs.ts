import { configSchema } from '../config/schema.ts'
import {
  approveSchema,
  bootstrapSchema,
  completionSchema,
  continueSchema,
  demoSchema,
  diffSchema,
  doctorSchema,
  driftSchema,
  errorSchema,
  explainSchema,
  finishSchema,
  installSchema,
  logSchema,
  reportSchema,
  routesSchema,
  schemaListSchema,
  statusSchema,
  uninstallSchema,
  verifySchema,
  watchSchema,
} from '../schemas/output.ts'
import { approvalRecordSchema } from '../schemas/records.ts'
import { reviewResultSchema } from '../schemas/review.ts'
import type { Schema } from '../schemas/schema.ts'

type Named = Schema & { readonly $id: string }

/** What each command prints with --json: one object, or one a line. Any of them may end with an `error` instead. */
export const outputs: { readonly [command: string]: { schema: Named; form: 'object' | 'lines' } } = {
  bootstrap: { schema: bootstrapSchema, form: 'lines' },
  install: { schema: installSchema, form: 'lines' },
  uninstall: { schema: uninstallSchema, form: 'object' },
  finish: { schema: finishSchema, form: 'object' },
  doctor: { schema: doctorSchema, form: 'lines' },
  status: { schema: statusSchema, form: 'object' },
  watch: { schema: watchSchema, form: 'lines' },
  log: { schema: logSchema, form: 'lines' },
  report: { schema: reportSchema, form: 'object' },
  diff: { schema: diffSchema, form: 'object' },
  approve: { schema: approveSchema, form: 'object' },
  continue: { schema: continueSchema, form: 'object' },
  verify: { schema: verifySchema, form: 'object' },
  drift: { schema: driftSchema, form: 'object' },
  explain: { schema: explainSchema, form: 'lines' },
  review: { schema: reviewResultSchema, form: 'object' },
  config: { schema: configSchema, form: 'object' },
  routes: { schema: routesSchema, form: 'object' },
  schema: { schema: schemaListSchema, form: 'object' },
  completion: { schema: completionSchema, form: 'object' },
  demo: { schema: demoSchema, form: 'lines' },
}

/** Written to dist/schemas beside those that have a validator. */
export const publishedOutputs: readonly Named[] = [
  ...Object.values(outputs).map(({ schema }) => schema),
  approvalRecordSchema,
  errorSchema,
]
