import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { defaultConfig } from '../../../src/config/schema.ts'
import { marginSeconds } from '../../../src/install/apply.ts'
import { project } from '../../support/project.ts'
import { configTable, tableIn } from './config-table.ts'

it('the README has each key with its default (else run: npx tsx test/readme/config-table.ts)', () => {
  const readme = readFileSync(join(project, 'README.md'), 'utf8')
  expect(tableIn(readme)).toBe(configTable())
  expect(configTable().split('\n').length).toBeGreaterThan(40)
})

it('the README names the deadlines that hold', () => {
  const { review, plan } = defaultConfig
  const [pass, whole] = [review.timeout_seconds, plan.deadline_seconds]
  const readme = readFileSync(join(project, 'README.md'), 'utf8').replaceAll(/\s+/g, ' ')
  expect(review.policy.max_total_seconds).toBe(whole)
  expect(readme).toContain(
    `${pass} s for a pass, ${whole} s for a review (\`plan.deadline_seconds\`), ${whole + marginSeconds} s for the hook`,
  )
})
