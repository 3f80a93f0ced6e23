import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { defaultConfig } from '../../../src/config/schema.ts'
import { marginSeconds } from '../../../src/install/plan.ts'
import { project } from '../../support/project.ts'
import { configTable, configurationPage, tableIn } from './config-table.ts'

it('docs/configuration.md has each key with its default (else run: npx tsx test/unit/readme/config-table.ts)', () => {
  expect(tableIn(readFileSync(configurationPage, 'utf8'))).toBe(configTable())
  expect(configTable().split('\n').length).toBeGreaterThan(40)
})

it('the guide names the deadlines that hold', () => {
  const { review, plan } = defaultConfig
  const [pass, whole] = [review.timeout_seconds, plan.deadline_seconds]
  const guide = readFileSync(join(project, 'docs/guide.md'), 'utf8').replaceAll(/\s+/g, ' ')
  expect(review.policy.max_total_seconds).toBe(whole)
  expect(guide).toContain(
    `${pass} s for a pass, ${whole} s for a review (\`plan.deadline_seconds\`), ${whole + marginSeconds} s for the hook`,
  )
})
