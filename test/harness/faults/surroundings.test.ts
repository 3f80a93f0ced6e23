import { describe, expect, it } from 'vitest'
import type { Cell } from './judge-cell.ts'
import { runTable } from './run-table.ts'
import { scenes } from './scenes.ts'
import { describeCell } from './show-table.ts'
import { mounts, type Surrounding, surroundings, whyNoMounts } from './surroundings.ts'
import { surroundingTrial } from './trials.ts'

/** One hook of each kind, and the commands that write. */
const chosen = [
  'PreToolUse: a write',
  'PostToolUse: a plan approved',
  'PostToolUse: the gate tampered with',
  'SessionStart: no approval',
  'ConfigChange: our hooks taken out',
  'Stop: the approved plan changed',
  'the status line',
  'plan-gate install --reviewer (bare)',
  'plan-gate install (approved)',
  'plan-gate approve --force (open)',
]

it('names scenes that there are', () => {
  expect(chosen.filter((name) => !scenes.some((scene) => scene.name === name))).toEqual([])
})

it('holds with a reader that is gone, without HOME, git or node, and within tight limits', async () => {
  expect(await wrongIn(surroundings)).toEqual([])
}, 600_000)

describe('on real disks', () => {
  const title = 'holds where the disk is full, and where it is read-only'
  if (whyNoMounts === null)
    it(title, async () => {
      expect(await wrongIn(mounts)).toEqual([])
    }, 600_000)
  else it.skip(`${title} (nothing can be mounted here: ${whyNoMounts})`)
})

async function wrongIn(rows: readonly Surrounding[]): Promise<string[]> {
  const cells = await runTable(
    scenes.filter(({ name }) => chosen.includes(name)),
    () => rows.map(surroundingTrial),
  )
  const tried = new Set(cells.filter(({ hit }) => hit !== null).map(({ kind }) => kind))
  expect([...tried].sort()).toEqual(rows.map(({ name }) => name).sort())
  return cells.filter(({ problems }: Cell) => problems.length > 0).map(describeCell)
}
