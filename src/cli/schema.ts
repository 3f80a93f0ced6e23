import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { nearestName } from '../config/nearest-name.ts'
import { configSchema } from '../config/schema.ts'
import { calibrationSchema } from '../schemas/calibration.ts'
import * as output from '../schemas/output.ts'
import { approvalRecordSchema } from '../schemas/records.ts'
import { findingsSchema, reviewResultSchema, servedReportSchema, waiveSchema } from '../schemas/review.ts'
import type { Schema } from '../schemas/schema.ts'
import { statusSchema } from '../schemas/status.ts'
import { UserError } from '../system/errors.ts'
import { packageRoot } from '../system/package.ts'
import type { Run } from './command.ts'

const suffix = '.schema.json'

export const schemaCommand: Run<'schema'> = (_, terminal, [name]) => {
  const folder = join(packageRoot(), 'dist', 'schemas')
  const names = readdirSync(folder).flatMap((file) => (file.endsWith(suffix) ? [file.slice(0, -suffix.length)] : []))
  if (name !== undefined) return terminal.out(textOf(folder, checked(name, names)).trimEnd())
  const listed = names
    .sort()
    .map((each) => ({ name: each, title: titleOf(folder, each), path: join(folder, each + suffix) }))
  const width = Math.max(...names.map(({ length }) => length))
  terminal.answer(
    listed satisfies output.SchemaList,
    listed.map(({ name: each, title }) => `${each.padEnd(width)}  ${title}`),
  )
}

const textOf = (folder: string, name: string): string => readFileSync(join(folder, name + suffix), 'utf8')

const titleOf = (folder: string, name: string): string =>
  (JSON.parse(textOf(folder, name)) as { title?: string }).title ?? ''

function checked(name: string, names: readonly string[]): string {
  if (names.includes(name)) return name
  const nearest = nearestName(name, names)
  throw new UserError(
    `There is no schema ${JSON.stringify(name)}.`,
    `${nearest === undefined ? '' : `Did you mean ${nearest}? `}plan-gate schema lists them.`,
  )
}

type Named = Schema & { readonly $id: string }

/** The output of each command with --json: one object, or one per line. Each may end with an `error` instead. */
export const outputs: { readonly [command: string]: { schema: Named; form: 'object' | 'lines' } } = {
  bootstrap: { schema: output.bootstrapSchema, form: 'lines' },
  open: { schema: output.bootstrapSchema, form: 'lines' },
  trust: { schema: output.trustSchema, form: 'object' },
  untrust: { schema: output.trustSchema, form: 'object' },
  install: { schema: output.installSchema, form: 'lines' },
  uninstall: { schema: output.uninstallSchema, form: 'object' },
  finish: { schema: output.finishSchema, form: 'object' },
  doctor: { schema: output.doctorSchema, form: 'lines' },
  status: { schema: statusSchema, form: 'object' },
  watch: { schema: output.watchSchema, form: 'lines' },
  log: { schema: output.logSchema, form: 'lines' },
  report: { schema: output.reportSchema, form: 'object' },
  diff: { schema: output.diffSchema, form: 'object' },
  approve: { schema: output.approveSchema, form: 'object' },
  findings: { schema: findingsSchema, form: 'object' },
  waive: { schema: waiveSchema, form: 'object' },
  continue: { schema: output.continueSchema, form: 'object' },
  verify: { schema: output.verifySchema, form: 'object' },
  drift: { schema: output.driftSchema, form: 'object' },
  explain: { schema: output.explainSchema, form: 'lines' },
  calibrate: { schema: calibrationSchema, form: 'object' },
  review: { schema: reviewResultSchema, form: 'object' },
  config: { schema: configSchema, form: 'object' },
  routes: { schema: output.routesSchema, form: 'object' },
  schema: { schema: output.schemaListSchema, form: 'object' },
  completion: { schema: output.completionSchema, form: 'object' },
  demo: { schema: output.demoSchema, form: 'lines' },
}

/**
 * The version in the published `$id`, where it is not 1. It rises when what a reader could rely on in the last release
 * is gone (test/integration/build/released-schemas.test.ts).
 */
export const schemaVersions: { readonly [name: string]: number } = {}

/** Written to dist/schemas, like the schemas that have a validator. */
export const publishedOutputs: readonly Named[] = [
  ...new Set(Object.values(outputs).map(({ schema }) => schema)),
  approvalRecordSchema,
  servedReportSchema,
  output.errorSchema,
]
