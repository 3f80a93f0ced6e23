import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, it } from 'vitest'
import { project } from '../../support/project.ts'

/** As an editor has it, with a YAML file before its merge keys are resolved. */
it.each([
  [{ 'x-common': { a: 1 }, _mine: 2, plan: { 'x-a': 1, '<<': { max_revisions: 3 } } }, true],
  [{ review: { routes: [{ backend: 'codex', when: ['always'], _why: 'x' }] } }, true],
  [{ x_common: 1 }, false],
  [{ __proto: 1 }, false],
  [{ plan: { mine: 1 } }, false],
])('the published schema of plan-gate.yaml: %j → %s', (config, isValid) => {
  const schema = JSON.parse(readFileSync(join(project, 'dist/schemas/config.schema.json'), 'utf8')) as object
  const ajv = new Ajv2020({ strict: false })
  expect(ajv.validate(schema, config)).toBe(isValid)
})
