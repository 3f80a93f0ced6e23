import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
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
import { newCommand } from './new-command.ts'
import { openTerminal } from './terminal.ts'

const suffix = '.schema.json'

export const schemaCommand = (): Command =>
  newCommand(
    'schema',
    'Print the JSON Schema of the output of a command with --json, or of a file that plan-gate reads or writes.',
    [['plan-gate schema', 'list them'], 'plan-gate schema status', 'plan-gate schema config > .vscode/plan-gate.json'],
    'The $id ends with a version (urn:plan-gate:status:1). It rises when a field is removed, renamed or has another type;\n' +
      'new fields do not raise it. They are in the package, too: dist/schemas/<name>.schema.json.',
  )
    .argument('[name]', 'its name (default: list them)')
    .option('--json', 'the list as JSON on stdout')
    .action(run)

function run(name: string | undefined, flags: { json?: boolean }): void {
  const terminal = openTerminal(flags.json === true)
  const folder = join(packageRoot(), 'dist', 'schemas')
  const names = readdirSync(folder).flatMap((file) => (file.endsWith(suffix) ? [file.slice(0, -suffix.length)] : []))
  if (name !== undefined) return terminal.out(textOf(folder, checked(name, names)).trimEnd())
  const listed = names
    .sort()
    .map((each) => ({ name: each, title: titleOf(folder, each), path: join(folder, each + suffix) }))
  if (terminal.json) return terminal.out(JSON.stringify(listed satisfies output.SchemaList))
  const width = Math.max(...names.map(({ length }) => length))
  for (const { name: each, title } of listed) terminal.out(`${each.padEnd(width)}  ${title}`)
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
