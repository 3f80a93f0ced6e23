import { lstatSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasStrace } from '../../../integration/gate/bash/run-in-bash.ts'
import { startsAnother } from '../../../integration/gate/bash/starts-another.ts'
import { makeThrowawayRepo, type ThrowawayRepo } from '../../../integration/gate/bash/throwaway-repo.ts'
import type { Failure } from '../target.ts'
import { canary, isOneCommand, runLines } from './run-lines.ts'
import { makeToolboxes, type Toolbox } from './toolboxes.ts'

export type RealRuns = {
  readonly lines: number
  /** Which programs ran how many of them, and how many of those with success. */
  readonly boxes: readonly { readonly name: string; readonly ran: number; readonly succeeded: number }[]
  readonly missing: readonly string[]
  /** How many of the runs were watched by strace; null where there is none. */
  readonly watched: number | null
  readonly failures: readonly Failure[]
}

/** Of very many lines, the system's programs run each, and others and strace see so many a part. */
const fewLines = 5_000
const few = { atOnce: 64, others: 1, watched: 1 }
const many = { atOnce: 512, others: 8, watched: 8 }

/**
 * Runs lines in a real shell, many in one process. They must end, change nothing, start nothing but what they name, open
 * no socket, and print nothing of the environment. Where some of them do, halves find out which.
 */
async function runAll(lines: readonly string[], forMs: number): Promise<RealRuns> {
  const until = performance.now() + forMs
  const { boxes, missing } = makeToolboxes(mkdtempSync(join(tmpdir(), 'toolboxes-')))
  const parts = lines.length <= fewLines ? few : many
  const sums = boxes.map(({ name }) => ({ name, ran: 0, succeeded: 0 }))
  const failures: Failure[] = []
  // Those that start with the same word together, so that a program that another line names does not pass.
  const batches = chunks([...lines].sort(), parts.atOnce)
  let [ran, watched] = [0, 0]
  while (batches.length > 0 && performance.now() < until && failures.length < 50) {
    const [batch = []] = batches.splice(Math.floor(Math.random() * batches.length), 1)
    ran += batch.length
    for (const [at, box] of boxes.entries()) {
      const [sum, some] = [sums[at], batch.filter(box.concerns)]
      if (sum === undefined || (at > 0 && !isOneIn(parts.others))) continue
      const watch = hasStrace && isOneIn(parts.watched)
      const looked = await lookAtRuns(some, box, watch)
      sum.ran += some.length
      sum.succeeded += looked.succeeded
      watched += watch ? some.length : 0
      failures.push(...looked.failures)
    }
  }
  return { lines: ran, boxes: sums, missing, watched: hasStrace ? watched : null, failures }
}

const isOneIn = (times: number): boolean => Math.random() * times < 1

const chunks = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size))

type Looked = { readonly succeeded: number; readonly failures: readonly Failure[] }

async function lookAtRuns(lines: readonly string[], box: Toolbox, watch: boolean): Promise<Looked> {
  if (lines.length === 0) return { succeeded: 0, failures: [] }
  const { why, at, succeeded } = await whatIsWrong(lines, box, watch)
  if (why === '') return { succeeded, failures: [] }
  if (lines.length === 1) return { succeeded, failures: [{ input: lines[0] ?? '', why: `with ${box.name} ${why}` }] }
  const middle = Math.ceil(lines.length / 2)
  const parts =
    at === null
      ? [lines.slice(0, middle), lines.slice(middle)]
      : [lines.slice(0, at), lines.slice(at, at + 1), lines.slice(at + 1)]
  const looked: Looked[] = []
  for (const part of parts) looked.push(await lookAtRuns(part, box, hasStrace && (watch || part.length === 1)))
  return {
    succeeded: looked.reduce((sum, part) => sum + part.succeeded, 0),
    failures: looked.flatMap(({ failures }) => failures),
  }
}

/** `at`: which of the lines it is, where that is known. */
type Wrong = { readonly why: string; readonly at: number | null; readonly succeeded: number }

async function whatIsWrong(lines: readonly string[], box: Toolbox, watch: boolean): Promise<Wrong> {
  repository ??= makeThrowawayRepo()
  const { base, repo, env, remove } = repository
  const PATH = [box.folder, env.PATH].filter(Boolean).join(':')
  const place = { base, repo, shell: box.shell, env: { ...env, ...box.env, PATH, CANARY_TOKEN: canary } }
  const before = stampsIn(base)
  const { timedOut, trace, tells, ended, startedByOne } = await runLines(lines, place, watch, 10_000)
  // What goes through the whole disk takes its time where somebody watches.
  const isAlone = lines.length === 1
  const isEndless = timedOut && (!isAlone || (await runLines(lines, place, false, 30_000)).timedOut)
  const changed = differences(before, stampsIn(base))
  if (changed !== '') {
    remove()
    repository = undefined
  }
  const others = (trace?.programs ?? []).filter((program) => !box.programs.includes(program))
  const strangers = others.filter((program) =>
    lines.every((command) => startsAnother({ command, timedOut: false, trace: { programs: [program], writes: [] } })),
  )
  const writes = (trace?.writes ?? []).filter((write) => !busyboxCopy.test(write) && !/= -1 EISDIR/.test(write))
  const more = ended.findIndex(({ started }, index) => started > startedByOne && isCounted(lines[index] ?? '', box))
  const why = [
    isEndless ? 'it does not end' : '',
    changed === '' ? '' : `it changes ${changed}`,
    strangers.length > 0 ? `it starts ${strangers.join(', ')}` : '',
    more < 0 ? '' : `it starts ${ended[more]?.started} processes, where one program is ${startedByOne}`,
    writes.length > 0 ? `it writes: ${writes.slice(0, 3).join(' ')}` : '',
    tells ? 'it prints the environment' : '',
  ]
  return {
    why: why.filter((part) => part !== '').join('; '),
    at: more >= 0 ? more : isEndless ? Math.min(ended.length, lines.length - 1) : null,
    succeeded: ended.filter(({ status }) => status === 0).length,
  }
}

/** Its diff keeps what comes by a pipe there for a while. */
const busyboxCopy = /"\/tmp\/dif\w{6}"/

let repository: ThrowawayRepo | undefined

/** One program, in one process without threads, while nobody else starts any. */
const isCounted = (line: string, { name }: Toolbox): boolean =>
  isSandboxed &&
  /^(?:sed|awk|jq|find) /.test(line) &&
  isOneCommand(line) &&
  !(name.includes('bfs') && /^find/.test(line))

/**
 * Every path with what changes when anybody writes it, also the same again, or makes something in it for a while. Only git
 * may write down anew what it remembers of the files' times, and tac may keep there for a while what comes by a pipe.
 */
function stampsIn(base: string): Stamps {
  const stamps: { [path: string]: string } = {}
  const visit = (path: string): void => {
    if (path === 'repo/.git/index') return
    const { mode, ino, size, ctimeNs } = lstatSync(join(base, path), { bigint: true })
    stamps[path] = [mode, ino, ...(mayChange.includes(path) ? [] : [size, ctimeNs])].join(' ')
    const isFolder = (mode & 0o170000n) === 0o040000n
    if (isFolder) for (const name of readdirSync(join(base, path))) visit(join(path, name))
  }
  visit('.')
  return stamps
}
const mayChange = ['tmp', 'repo/.git']

type Stamps = { readonly [path: string]: string }

const differences = (before: Stamps, now: Stamps): string =>
  [...new Set([...Object.keys(before), ...Object.keys(now)])].filter((path) => before[path] !== now[path]).join(', ')

/** `real-runs.ts <file with lines> <seconds> [sandboxed]`: runs allowed lines in a real bash, and tells what they did as JSON. */
const [file = '', seconds = '60', place] = process.argv.slice(2)
const isSandboxed = place === 'sandboxed'
const lines = JSON.parse(readFileSync(file, 'utf8')) as readonly string[]
process.stdout.write(JSON.stringify(await runAll(lines, Number(seconds) * 1_000)))
