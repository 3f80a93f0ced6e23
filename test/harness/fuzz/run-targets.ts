import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Progress } from './fuzz-target.ts'
import type { Message } from './fuzz-worker.ts'
import { languages } from './grammar/languages.ts'
import type { Failure, Target } from './target.ts'

export type Outcome = {
  readonly name: string
  readonly seconds: number
  readonly inputs: number
  readonly failures: readonly Failure[]
  /** Why it was not brought to its end. */
  readonly broken: string | null
  readonly kept: number
  readonly blocks: Progress['blocks']
  readonly figures: Progress['figures']
  readonly found: readonly string[]
}

export type Run = {
  readonly minutes: number
  readonly inputs: number
  readonly seed: number
  readonly jobs: number
  readonly tell: (line: string) => void
}

/** Each target in a process of its own, as many at once as there are jobs; the longest first. */
export async function runTargets(targets: readonly Target[], run: Run): Promise<readonly Outcome[]> {
  const whole = sumOf(targets, shareOf) / run.jobs + sumOf(targets, realShareOf)
  const seconds = (target: Target): number => (run.minutes * 60 * shareOf(target)) / whole
  const waiting = [...targets].sort((a, b) => shareOf(b) - shareOf(a))
  const outcomes: Outcome[] = []
  const work = async (): Promise<void> => {
    for (let target = waiting.shift(); target !== undefined; target = waiting.shift())
      outcomes.push(await runTarget(target, seconds(target), run))
  }
  await Promise.all(Array.from({ length: Math.max(1, run.jobs) }, work))
  return targets.flatMap(({ name }) => outcomes.filter((outcome) => outcome.name === name))
}

export const sumOf = (targets: readonly Target[], share: (target: Target) => number): number =>
  targets.reduce((sum, target) => sum + share(target), 0)

/** Of the command lines ten times as many are looked at, and each goes to the shells as well. */
const shareOf = ({ name }: Target): number => (name === 'command' ? 6 : 1)
/** How much of the time the real program has, one target after the other. */
export const realShareOf = ({ name, confirm }: Target): number =>
  confirm === undefined ? 0 : Object.hasOwn(languages, name) ? 2 : 1
const inputsFor = ({ name }: Target, inputs: number): number => (name === 'command' ? 10 * inputs : inputs)

/** Without a word for so long, a worker has met something that never ends where nothing can interrupt it. */
const silenceMs = 300_000

function runTarget(target: Target, seconds: number, { inputs, seed, tell }: Run): Promise<Outcome> {
  const { name } = target
  const path = fileURLToPath(new URL('./fuzz-worker.ts', import.meta.url))
  const worker = fork(path, [name, String(seed), String(seconds), String(inputsFor(target, inputs))])
  return new Promise((resolve) => {
    let outcome: Outcome = {
      name,
      seconds: 0,
      inputs: 0,
      failures: [],
      broken: null,
      kept: 0,
      blocks: { reached: 0, of: 0 },
      figures: {},
      found: [],
    }
    let told = 0
    let isOver = false
    let silence = setTimeout(() => worker.kill('SIGKILL'), silenceMs)
    worker.on('message', (message: Message) => {
      clearTimeout(silence)
      silence = setTimeout(() => worker.kill('SIGKILL'), silenceMs)
      isOver = message.kind === 'done'
      for (const { input, why } of message.progress.failures.slice(outcome.failures.length))
        tell(`${name}: ${JSON.stringify(input).slice(0, 500)}\n  ${why.slice(0, 300)}`)
      outcome = {
        ...outcome,
        ...message.progress,
        seconds: message.seconds,
        found: message.kind === 'done' ? message.found : [],
      }
      if (message.seconds - told < 30 && !isOver) return
      told = message.seconds
      tell(
        `${name}: ${outcome.inputs.toLocaleString('en-US')} inputs in ${Math.round(told)} s, ${outcome.failures.length} failures`,
      )
    })
    worker.on('exit', (code, signal) => {
      clearTimeout(silence)
      const broken = `the worker ended by ${signal ?? `exit code ${code}`} after ${outcome.inputs} inputs of seed ${seed}`
      resolve(isOver ? outcome : { ...outcome, broken })
    })
  })
}
