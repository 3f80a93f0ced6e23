import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readTrace, type Trace, tracedCalls } from '../../../integration/gate/bash/read-trace.ts'
import { hasStrace } from '../../../integration/gate/bash/run-in-bash.ts'
import { startsAnother } from '../../../integration/gate/bash/starts-another.ts'
import { makeThrowawayRepo, type ThrowawayRepo } from '../../../integration/gate/bash/throwaway-repo.ts'
import { snapshotTree } from '../../../support/snapshot-tree.ts'
import type { Failure } from '../target.ts'
import { makeToolboxes, type Toolbox } from './toolboxes.ts'

export type RealRuns = {
  /** How many of the lines were run, and how often in all: once with each set of programs that has others for it. */
  readonly lines: number
  readonly runs: number
  readonly toolboxes: readonly string[]
  readonly missing: readonly string[]
  readonly watched: boolean
  readonly failures: readonly Failure[]
}

/**
 * Runs lines in a real shell, many in one process. They must end, change nothing, start nothing but what they name, open
 * no socket, and print nothing of the environment. Where some of them do, halves find out which. Not all are watched by
 * strace where there are very many: what one does to a file is seen without it.
 */
async function runAll(lines: readonly string[], forMs: number, isWatched: boolean): Promise<RealRuns> {
  const until = performance.now() + forMs
  const failures: Failure[] = []
  const { boxes, missing } = makeToolboxes(mkdtempSync(join(tmpdir(), 'toolboxes-')))
  // Those that start with the same word together, so that a program that another line names does not pass.
  const batches = chunks([...lines].sort(), atOnce)
  let [ran, runs] = [0, 0]
  while (batches.length > 0 && performance.now() < until && failures.length < 50) {
    const [batch = []] = batches.splice(Math.floor(Math.random() * batches.length), 1)
    ran += batch.length
    for (const box of boxes) {
      const some = batch.filter(box.concerns)
      runs += some.length
      failures.push(...(await wrongAmong(some, box, hasStrace && (isWatched || batches.length % 8 === 0))))
    }
  }
  const toolboxes = boxes.map(({ name }) => name)
  return { lines: ran, runs, toolboxes, missing, watched: hasStrace, failures }
}

const atOnce = 64

const chunks = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size))

async function wrongAmong(lines: readonly string[], box: Toolbox, watch: boolean): Promise<Failure[]> {
  if (lines.length === 0) return []
  const why = await whatIsWrong(lines, box, watch)
  if (why === '') return []
  if (lines.length > 1) {
    const middle = Math.ceil(lines.length / 2)
    const halves = [lines.slice(0, middle), lines.slice(middle)]
    return [...(await wrongAmong(halves[0] ?? [], box, watch)), ...(await wrongAmong(halves[1] ?? [], box, watch))]
  }
  return [{ input: lines[0] ?? '', why: `with ${box.name} ${why}` }]
}

async function whatIsWrong(lines: readonly string[], box: Toolbox, watch: boolean): Promise<string> {
  repository ??= makeThrowawayRepo()
  const { base, repo, env, remove } = repository
  const place = {
    base,
    repo,
    shell: box.shell,
    env: { ...env, ...box.env, PATH: [box.folder, env.PATH].filter(Boolean).join(':'), CANARY_TOKEN: canary },
  }
  const before = snapshot(base)
  // What goes through the whole disk takes its time where somebody watches.
  const isAlone = lines.length === 1
  const first = await run(lines, place, watch, 8_000 + 200 * lines.length)
  const isEndless = first.timedOut && (!isAlone || (await run(lines, place, false, 30_000)).timedOut)
  const changed = differences(before, snapshot(base))
  if (changed !== '') {
    remove()
    repository = undefined
  }
  const { trace } = first
  const others = (trace?.programs ?? []).filter((program) => !box.programs.includes(program))
  const strangers = others.filter((program) =>
    lines.every((command) => startsAnother({ command, timedOut: false, trace: { programs: [program], writes: [] } })),
  )
  return [
    isEndless ? 'it does not end' : '',
    changed === '' ? '' : `it changes ${changed}`,
    strangers.length > 0 ? `it starts ${strangers.join(', ')}` : '',
    trace !== null && trace.writes.length > 0 ? `it writes: ${trace.writes.slice(0, 3).join(' ')}` : '',
    first.tells ? 'it prints the environment' : '',
  ]
    .filter((part) => part !== '')
    .join('; ')
}

let repository: ThrowawayRepo | undefined

const canary = 'c4n4ry-0f-th3-env1r0nm3nt'

type Place = {
  readonly base: string
  readonly repo: string
  readonly shell: readonly string[]
  readonly env: NodeJS.ProcessEnv
}
type Run = { readonly timedOut: boolean; readonly tells: boolean; readonly trace: Trace | null }

function run(lines: readonly string[], { base, repo, shell, env }: Place, watch: boolean, forMs: number): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'script-'))
  const [script, trace] = [join(folder, 'script'), join(folder, 'trace')]
  writeFileSync(script, lines.map(scriptFor).join(''))
  const strace = [
    'strace',
    '-f',
    '-qq',
    '--seccomp-bpf',
    '-e',
    'signal=none',
    '-e',
    `trace=${tracedCalls}`,
    '-o',
    trace,
  ]
  const [program = '', ...args] = [...(watch ? strace : []), ...shell, script]
  const child = spawn(program, args, { cwd: repo, env, stdio: ['pipe', 'pipe', 'ignore'], detached: true })
  return new Promise((resolve, reject) => {
    let [timedOut, tells, last] = [false, false, '']
    const deadline = setTimeout(() => {
      timedOut = true
      process.kill(-(child.pid ?? 0), 'SIGKILL')
    }, forMs)
    child.stdout.on('data', (piece: Buffer) => {
      const text = last + piece.toString('latin1')
      tells ||= text.includes(canary)
      last = text.slice(-canary.length)
    })
    child.on('error', reject)
    child.on('close', () => {
      clearTimeout(deadline)
      const read = watch ? readTrace(readFileSync(trace, 'utf8'), base) : null
      rmSync(folder, { recursive: true, force: true })
      resolve({ timedOut, tells, trace: read })
    })
  })
}

/**
 * With a stdin that never ends, so that what waits for it is seen; the client gives an empty one. rg, and grep with -r, ask
 * whether it is a pipe, and head and tail may read nothing.
 */
const scriptFor = (line: string): string =>
  `( eval '${line.replaceAll("'", "'\\''")}' )${readsOtherwise.test(line) ? ' </dev/null' : ''}\n`

const readsOtherwise = /(?:^|[;&|\n]|do)\s*(?:rg|head|tail|\w*grep\b.*\s(?:['"]?-\w*[rRf]\w*|--recursive))\b/

/** What git remembers of the files' times is not the repository's. */
const snapshot = (base: string): Tree => snapshotTree(base, (path) => path === 'repo/.git/index')

const differences = (before: Tree, now: Tree): string =>
  [...new Set([...Object.keys(before), ...Object.keys(now)])].filter((path) => before[path] !== now[path]).join(', ')

type Tree = { readonly [path: string]: string }

/** `real-runs.ts <file with lines> <seconds>`: runs allowed lines in a real bash, and tells what they did as JSON. */
const [file = '', seconds = '60'] = process.argv.slice(2)
const fewLines = 5_000
const lines = JSON.parse(readFileSync(file, 'utf8')) as readonly string[]
process.stdout.write(JSON.stringify(await runAll(lines, Number(seconds) * 1_000, lines.length <= fewLines)))
