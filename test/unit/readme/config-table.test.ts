import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { project } from '../../support/project.ts'
import { configTable, tableIn } from './config-table.ts'

it('the README has each key with its default (else run: npx tsx test/readme/config-table.ts)', () => {
  const readme = readFileSync(join(project, 'README.md'), 'utf8')
  expect(tableIn(readme)).toBe(configTable())
  expect(configTable().split('\n').length).toBeGreaterThan(40)
})
