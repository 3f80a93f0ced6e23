import { isSlow } from '../../support/is-slow.ts'
import { endsWithin } from './ends-within.ts'
import { longest, mutateText } from './mutate-text.ts'
import { makeRandom, type Random } from './random.ts'
import { type Blocks, watchBlocks } from './reached-blocks.ts'
import { shrinkText } from './shrink-text.ts'
import { Broken, type Failure, type Opened, type Target } from './target.ts'

/** Of processor time, for one parse or decision about an input of up to 64 kB. */
const limitMs = 50

export type Progress = {
  readonly inputs: number
  readonly failures: readonly Failure[]
  /** How many inputs were kept because they reached something new. */
  readonly kept: number
  readonly blocks: { readonly reached: number; readonly of: number }
  readonly figures: { readonly [name: string]: number }
}

type Options = {
  readonly seed: number
  /** Whether inputs that reach code which no other did are sought and kept. */
  readonly guided: boolean
  /** How many times as long as allowed something may take. */
  readonly slack?: number
}

/**
 * Looks at the seeds, and then without end at inputs that are made from them; tells after each batch how far it is.
 * What reaches a block of code that nothing reached before, or comes to something new, is kept and changed further.
 */
export async function* fuzzTarget(target: Target, { seed, guided, slack = 1 }: Options): AsyncGenerator<Progress> {
  const opened = target.open()
  const run: Run = {
    opened,
    blocks: guided ? watchBlocks(isOurs) : null,
    corpus: [...target.seeds],
    words: new Set(),
    failures: [],
    inputs: 0,
    began: performance.now(),
    guidedMs: 0,
    limitMs: limitMs * (target.parses ?? 1) * slack,
  }
  try {
    await lookAtAll(run, target.seeds.map(shortened))
    // They are in the corpus, whatever they reach.
    run.blocks?.takeNew(true)
    yield progressOf(run, target)
    const random = makeRandom(seed)
    for (let size = 50; ; size = Math.min(2_000, Math.ceil(size * 1.1))) {
      const began = performance.now()
      await lookGuided(run, newInputs(size, target, run.corpus, random))
      run.failures.push(...(opened.settle?.() ?? []).filter((failure) => isNew(failure, run.failures)))
      yield progressOf(run, target)
      if (performance.now() - began > 500) size = Math.max(20, Math.ceil(size / 2))
    }
  } finally {
    run.blocks?.close()
    opened.close?.()
  }
}

/** The parser decides most of what a command line is. */
const isOurs = (url: string): boolean => /\/(?:src\/(?!.*generated)|node_modules\/unbash\/)/.test(url)

type Run = {
  readonly opened: Opened
  readonly blocks: Blocks | null
  readonly corpus: string[]
  readonly words: Set<string>
  readonly failures: Failure[]
  inputs: number
  readonly began: number
  guidedMs: number
  readonly limitMs: number
}

const progressOf = ({ opened, blocks, corpus, failures, inputs }: Run, { seeds }: Target): Progress => ({
  inputs,
  failures,
  kept: corpus.length - seeds.length,
  blocks: blocks?.share() ?? { reached: 0, of: 0 },
  figures: opened.figures?.() ?? {},
})

const shortened = (text: string): string => text.slice(0, longest)

/** What was found last leads on most often. */
function newInputs(count: number, { make, pieces }: Target, corpus: readonly string[], random: Random): string[] {
  const recent = corpus.slice(-200)
  return Array.from({ length: count }, () => {
    if (make !== undefined && random.below(5) < 2) return shortened(make(random))
    return mutateText({ corpus: random.oneIn(2) ? recent : corpus, pieces }, random)
  })
}

/** A batch of the slowest that are allowed is far from this. */
const batchMs = 10_000

/** One part of the time is for asking what was reached, and for finding out which input it was that reached something new. */
const guidedShare = 10

async function lookGuided(run: Run, inputs: readonly string[]): Promise<void> {
  const { blocks } = run
  if (blocks === null || run.guidedMs > (performance.now() - run.began) / guidedShare) return lookAtAll(run, inputs)
  // What was reached since it was asked last is not the doing of these inputs.
  await guide(run, () => blocks.takeNew(false))
  await lookAtAll(run, inputs)
  await guide(run, () => (blocks.takeNew(false) > 0 ? keepThoseThatReach(run, inputs) : undefined))
}

async function guide(run: Run, work: () => unknown): Promise<void> {
  const began = performance.now()
  await work()
  run.guidedMs += performance.now() - began
}

async function lookAtAll(run: Run, inputs: readonly string[]): Promise<void> {
  let next = 0
  const waiting: Promise<void>[] = []
  const work = (): void => {
    while (next < inputs.length && waiting.length === 0) {
      const input = inputs[next] ?? ''
      next += 1
      const looked = lookAt(run, input)
      if (looked !== undefined) waiting.push(looked)
    }
  }
  while (next < inputs.length) {
    if (!endsWithin(batchMs, work)) failIfEndless(run, inputs[next - 1] ?? '')
    await waiting.pop()
  }
  run.inputs += inputs.length
}

/** The batch may have been too much for a busy machine; a single input is not. */
function failIfEndless(run: Run, input: string): void {
  const look = (): void => void lookAt(run, input)
  if (!endsWithin(batchMs, look)) fail(run, { input, why: 'it does not end' })
}

/** Nothing where the look is over. */
function lookAt(run: Run, input: string): Promise<void> | undefined {
  const start = performance.now()
  try {
    const word = run.opened.look(input)
    if (typeof word !== 'string')
      return word.then(
        (later) => lookedAt(run, input, later, start),
        (error: unknown) => fail(run, { input, why: whyOf(error) }),
      )
    lookedAt(run, input, word, start)
  } catch (error) {
    fail(run, { input, why: whyOf(error) })
  }
  return undefined
}

function lookedAt(run: Run, input: string, word: string, start: number): void {
  if (performance.now() - start > run.limitMs && isSlow(() => run.opened.look(input), run.limitMs))
    fail(run, { input, why: `it always takes more than ${run.limitMs} ms` })
  if (run.words.size < 2_000 && !run.words.has(word)) {
    run.words.add(word)
    keep(run, input)
  }
}

const whyOf = (error: unknown): string =>
  error instanceof Broken ? error.message : error instanceof Error ? `it throws ${error.stack ?? error}` : String(error)

/** Each once more, in ever smaller groups, since only now is it known that one of them is worth it. */
async function keepThoseThatReach(run: Run, inputs: readonly string[]): Promise<void> {
  const isAlone = inputs.length === 1
  for (const input of inputs) {
    try {
      await run.opened.look(input)
    } catch {
      // It has been told.
    }
  }
  if ((run.blocks?.takeNew(isAlone) ?? 0) === 0) return
  if (isAlone) return keep(run, inputs[0] ?? '')
  const middle = Math.ceil(inputs.length / 2)
  await keepThoseThatReach(run, inputs.slice(0, middle))
  await keepThoseThatReach(run, inputs.slice(middle))
}

/** Short ones, since all that is made from them is about as long. */
const longestKept = 3_000
const mostKept = 10_000

function keep({ corpus }: Run, input: string): void {
  if (input.length <= longestKept && corpus.length < mostKept) corpus.push(input)
}

function fail({ opened, failures, limitMs }: Run, failure: Failure): void {
  if (!isNew(failure, failures)) return
  const fails = (text: string): boolean => {
    try {
      const word = opened.look(text)
      // What is looked at later is kept as it is.
      if (typeof word !== 'string') word.catch(() => {})
      return (
        failure.why.startsWith('it always takes') &&
        typeof word === 'string' &&
        isSlow(() => opened.look(text), limitMs)
      )
    } catch (error) {
      return kindOf(whyOf(error)) === kindOf(failure.why)
    }
  }
  const hangs = failure.why === 'it does not end'
  failures.push({ ...failure, input: hangs ? failure.input : shrinkText(failure.input, fails) })
}

/** Of each kind a few are enough. */
const isNew = ({ why }: Failure, failures: readonly Failure[]): boolean =>
  failures.filter((other) => kindOf(other.why) === kindOf(why)).length < 2

const kindOf = (why: string): string =>
  why
    .split('\n')
    .slice(0, 2)
    .join(' ')
    .replace(/[:(].*? in JSON at .*|\d+|"[^"]*"/g, '')
    .slice(0, 60)
