import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readLine } from '../../../src/gate/bash/read-line.ts'
import { snapshotTree } from '../../support/snapshot-tree.ts'
import { generatedCommands } from './generated-commands.ts'
import { randomCommands } from './random-commands.ts'
import { families } from './rows/all.ts'
import { type BashRun, hasStrace, runInBash } from './run-in-bash.ts'
import { makeThrowawayRepo } from './throwaway-repo.ts'

/** What the commands start besides themselves: git calls itself; egrep, fgrep and which are scripts. */
const helpers = ['bash', 'sh', 'dash', 'git', 'grep']

const watched = hasStrace ? 'starts no other program' : 'starts no other program: NOT CHECKED, strace is not installed'

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
      clearTraces()
      expect({ chunk, tree: snapshot() }).toEqual({ chunk, tree: before })
      expect(runs.filter(({ timedOut }) => timedOut).map(({ command }) => command)).toEqual([])
      expect(runs.filter(startsAnother)).toEqual([])
    }
  })

  it('would see a write, a wait and another program', { timeout: 30_000 }, async () => {
    const before = snapshot()
    await runInBash('sort -o out.txt list.txt', place, false)
    expect(snapshot()).not.toEqual(before)
    rmSync(join(place.repo, 'out.txt'))

    expect(await runInBash('cat', place, false)).toMatchObject({ timedOut: true })

    const other = await runInBash("find list.txt -exec cksum {} ';'", place, hasStrace)
    clearTraces()
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

  function clearTraces(): void {
    for (const name of readdirSync(place.base)) if (name.startsWith('trace-')) rmSync(join(place.base, name))
  }
})

const startsAnother = ({ programs, command }: BashRun): boolean => {
  const line = readLine(command)
  const named = line.kind === 'line' ? line.parts.map(({ words }) => words[0]?.text) : []
  return programs?.some((program) => ![...helpers, ...named].includes(program)) ?? false
}

const chunks = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size))
