import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { families } from '../../../support/gate/bash/rows/all.ts'
import { snapshotTree } from '../../../support/snapshot-tree.ts'
import { generatedCommands } from './generated-commands.ts'
import { randomCommands } from './random-commands.ts'
import { type BashRun, hasStrace, runInBash } from './run-in-bash.ts'
import { startsAnother } from './starts-another.ts'
import { makeThrowawayRepo } from './throwaway-repo.ts'

const watched = hasStrace
  ? 'starts no other program and opens nothing to write'
  : 'starts no other program and opens nothing to write: NOT CHECKED, strace is not installed'

describe('what the gate allows, in a real bash', () => {
  const place = makeThrowawayRepo()
  afterAll(place.remove)
  // git may refresh what it remembers of the files' times.
  const snapshot = () => snapshotTree(place.base, (path) => path === 'repo/.git/index')

  const own = Object.values(families).flatMap(({ allow }) => allow)
  const generated = generatedCommands()
  const random = randomCommands(4_000, 20261118)

  it.each([
    { name: `${own.length} rows`, commands: own },
    { name: `${generated.length} generated lines`, commands: generated },
    { name: `${random.length} random lines`, commands: random },
  ])(`ends, changes no file and ${watched}: $name`, { timeout: 300_000 }, async ({ commands }) => {
    const before = snapshot()
    for (const chunk of chunks(commands, 48)) {
      const runs = await runAll(chunk)
      expect({ chunk, tree: snapshot() }).toEqual({ chunk, tree: before })
      expect(runs.filter(({ timedOut }) => timedOut).map(({ command }) => command)).toEqual([])
      expect(runs.filter(startsAnother)).toEqual([])
      expect(runs.filter(({ trace }) => (trace?.writes.length ?? 0) > 0)).toEqual([])
    }
  })

  it('would see a write, a wait and another program', { timeout: 30_000 }, async () => {
    const before = snapshot()
    const { trace } = await runInBash('sort -o out.txt list.txt', place, hasStrace)
    expect(snapshot()).not.toEqual(before)
    rmSync(join(place.repo, 'out.txt'))
    expect((trace?.writes.length ?? 0) > 0).toBe(hasStrace)

    expect(await runInBash('cat', place, false)).toMatchObject({ timedOut: true })

    const other = await runInBash("find list.txt -exec cksum {} ';'", place, hasStrace)
    expect(startsAnother(other)).toBe(hasStrace)
  })

  async function runAll(chunk: readonly string[]): Promise<BashRun[]> {
    const waiting = [...chunk]
    const runs: BashRun[] = []
    const work = async () => {
      for (let command = waiting.shift(); command !== undefined; command = waiting.shift())
        runs.push(await runInBash(command, place, hasStrace))
    }
    await Promise.all(Array.from({ length: 4 }, work))
    return runs
  }
})

const chunks = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size))
