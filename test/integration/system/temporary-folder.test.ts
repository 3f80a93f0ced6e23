import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, it } from 'vitest'
import { withTemporaryFolder } from '../../../src/system/temporary-folder.ts'
import { temporaryFolder } from '../../support/temporary-repo.ts'

it('removes what a killed process left, and nothing else', async () => {
  const parent = temporaryFolder()
  const own = await withTemporaryFolder('review', async (folder) => basename(folder), parent)
  expect(readdirSync(parent)).toEqual([])
  const [, , , pid, space] = own.split('-')
  expect(pid).toBe(String(process.pid))
  const { pid: ended } = spawnSync(process.execPath, ['-e', ''], { timeout: 30_000 })
  const old = new Date(Date.now() - 2 * 3_600_000)
  const leave = (name: string, when: Date): string => {
    mkdirSync(join(parent, name))
    writeFileSync(join(parent, name, 'file'), '')
    utimesSync(join(parent, name), when, when)
    return name
  }
  leave(`plan-gate-review-${ended}-${space}-a1B2c3`, old)
  const kept = [
    leave(`plan-gate-claude-${ended}-${space}-a1B2c3`, new Date()),
    leave(`plan-gate-codex-${process.pid}-${space}-a1B2c3`, old),
    leave(`plan-gate-codex-${ended}-${space}1-a1B2c3`, old),
    leave(`plan-gate-repo-a1B2c3`, old),
    leave(`plan-gate-review-${ended}-${space}-a1B2c3.d`, old),
    leave('target', old),
  ]
  const link = `plan-gate-diff-${ended}-${space}-a1B2c3`
  symlinkSync(join(parent, 'target'), join(parent, link))
  await withTemporaryFolder('diff', async () => expect(readdirSync(parent)).toHaveLength(kept.length + 2), parent)
  expect(readdirSync(parent).sort()).toEqual([...kept, link].sort())
  expect(readdirSync(join(parent, 'target'))).toEqual(['file'])
})
