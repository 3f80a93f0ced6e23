import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BashRun, hasStrace, runInBash } from '../../../integration/gate/bash/run-in-bash.ts'
import { startsAnother } from '../../../integration/gate/bash/starts-another.ts'
import { makeThrowawayRepo, type ThrowawayRepo } from '../../../integration/gate/bash/throwaway-repo.ts'
import { snapshotTree } from '../../../support/snapshot-tree.ts'
import type { Failure } from '../target.ts'
import { makeToolboxes, type Toolbox } from './toolboxes.ts'

export type RealRuns = {
  readonly runs: number
  readonly toolboxes: readonly string[]
  readonly watched: boolean
  readonly failures: readonly Failure[]
}

async function runAll(lines: readonly string[], forMs: number): Promise<RealRuns> {
  const until = performance.now() + forMs
  const failures: Failure[] = []
  let runs = 0
  let place = makeThrowawayRepo()
  const toolboxes = makeToolboxes(mkdtempSync(join(tmpdir(), 'toolboxes-')))
  for (let at = 0; at < lines.length && performance.now() < until && failures.length < 50; at += atOnce) {
    const some = lines.slice(at, at + atOnce)
    for (const toolbox of toolboxes) {
      const { wrong, changed } = await runSome(some, place, toolbox)
      failures.push(...wrong)
      runs += some.length
      if (changed === '') continue
      for (const line of some) failures.push(...(await runAlone(line, toolbox)))
      place.remove()
      place = makeThrowawayRepo()
    }
  }
  place.remove()
  return { runs, toolboxes: toolboxes.map(({ name }) => name), watched: hasStrace, failures }
}

async function runSome(lines: readonly string[], { env, ...repo }: ThrowawayRepo, { name, folder }: Toolbox) {
  const place = { ...repo, env: { ...env, PATH: `${folder}${folder === '' ? '' : ':'}${env.PATH}` } }
  const before = snapshot(place.base)
  const runs: BashRun[] = await Promise.all(lines.map((line) => runInBash(line, place, hasStrace)))
  for (const [at, run] of runs.entries()) if (run.timedOut) runs[at] = { ...run, timedOut: await isEndless(run, place) }
  return { wrong: runs.flatMap((run) => wrongWith(run, name)), changed: differences(before, snapshot(place.base)) }
}

/** What goes through the whole disk takes its time where somebody watches. */
const isEndless = async ({ command }: BashRun, place: ThrowawayRepo): Promise<boolean> =>
  (await runInBash(command, place, false, 60_000)).timedOut

/** Of several, which one it was that changed something. */
async function runAlone(line: string, toolbox: Toolbox): Promise<Failure[]> {
  const place = makeThrowawayRepo()
  const { changed } = await runSome([line], place, toolbox)
  place.remove()
  return changed === '' ? [] : [{ input: line, why: `with ${toolbox.name} it changes ${changed}` }]
}

/** Two cores, and each bash waits for strace. */
const atOnce = 4

/** What git remembers of the files' times is not the repository's. */
const snapshot = (base: string) => snapshotTree(base, (path) => path === 'repo/.git/index')

function wrongWith(run: BashRun, tools: string): Failure[] {
  const why = [
    run.timedOut ? 'it does not end' : '',
    startsAnother(run) ? `it starts ${run.trace?.programs.join(', ')}` : '',
    run.trace !== null && run.trace.writes.length > 0 ? `it writes: ${run.trace.writes.slice(0, 3).join(' ')}` : '',
  ].filter((part) => part !== '')
  return why.length === 0 ? [] : [{ input: run.command, why: `with ${tools} ${why.join('; ')}` }]
}

const differences = (before: Tree, now: Tree): string =>
  [...new Set([...Object.keys(before), ...Object.keys(now)])].filter((path) => before[path] !== now[path]).join(', ')

type Tree = { readonly [path: string]: string }

/** `real-runs.ts <file with lines> <seconds>`: runs allowed lines in a real bash, and tells what they did as JSON. */
const [file = '', seconds = '60'] = process.argv.slice(2)
const lines = JSON.parse(readFileSync(file, 'utf8')) as readonly string[]
process.stdout.write(JSON.stringify(await runAll(lines, Number(seconds) * 1_000)))
