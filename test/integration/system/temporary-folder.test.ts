import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, it } from 'vitest'
import { withTemporaryFolder } from '../../../src/system/temporary-folder.ts'
import { temporaryFolder } from '../../support/temporary-repo.ts'

it('removes what a killed process left, and nothing else', async () => {
  const parent = temporaryFolder()
  await withTemporaryFolder('review', async (folder) => expect(readdirSync(parent)).toEqual([basename(folder)]), parent)
  expect(readdirSync(parent)).toEqual([])
  const old = new Date(Date.now() - 8 * 24 * 3_600_000)
  const leave = (name: string, when: Date): string => {
    mkdirSync(join(parent, name))
    writeFileSync(join(parent, name, 'file'), '')
    utimesSync(join(parent, name), when, when)
    return name
  }
  leave('plan-gate-review-a1B2c3', old)
  const kept = [
    leave('plan-gate-claude-a1B2c3', new Date(Date.now() - 3_600_000)),
    leave('plan-gate-review-a1B2c3.d', old),
    leave('plan-gate-A-a1B2c3', old),
    leave('plan-gate-repo-a1B2c3', old),
    leave('target', old),
  ]
  const link = 'plan-gate-diff-a1B2c3'
  symlinkSync(join(parent, 'target'), join(parent, link))
  await withTemporaryFolder('diff', async () => expect(readdirSync(parent)).toHaveLength(kept.length + 2), parent)
  expect(readdirSync(parent).sort()).toEqual([...kept, link].sort())
  expect(readdirSync(join(parent, 'target'))).toEqual(['file'])
})
