import { approvalRecordSchema } from '../approval-record.ts'
import { configSchema } from '../config.ts'
import { reviewResultSchema } from '../review-result.ts'
import type { Schema } from '../schema.ts'
import { approveSchema, continueSchema, diffSchema, driftSchema, explainSchema, logSchema } from './about-the-plan.ts'
import { completionSchema, schemaListSchema } from './completion.ts'
import { finishSchema } from './finish.ts'
import { errorSchema } from './progress-lines.ts'
import { reportSchema } from './report.ts'
import { routesSchema } from './routes.ts'
import { bootstrapSchema, demoSchema, doctorSchema, installSchema, uninstallSchema } from './setting-up.ts'
import { statusSchema } from './status.ts'
import { verifySchema } from './verify.ts'
import { watchSchema } from './watch.ts'

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
