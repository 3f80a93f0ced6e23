import { fuzzTarget, type Progress } from './fuzz-target.ts'
import type { Opened } from './target.ts'
import { targets } from './targets/all.ts'

/** What a worker tells the one that started it; `found` once, at the end. */
export type Message =
  | { readonly kind: 'progress'; readonly progress: Progress; readonly seconds: number }
  | { readonly kind: 'done'; readonly progress: Progress; readonly seconds: number; readonly found: readonly string[] }

/** `fuzz-worker.ts <target> <seed> <seconds> <inputs>`: one target in a process of its own. */
const [name = '', seed = '1', seconds = '60', inputs = 'Infinity'] = process.argv.slice(2)
const [target] = targets.filter((one) => one.name === name)
if (target === undefined) throw new Error(`there is no target ${name}`)

const started = performance.now()
const elapsed = (): number => (performance.now() - started) / 1_000
/** Ends with who started it, who may have been killed. */
const send = (message: Message): Promise<void> =>
  new Promise((sent) => process.send?.(message, (error: Error | null) => (error === null ? sent() : process.exit(1))))

let found: readonly string[] = []
const { open } = target
const opened = { ...target, open: () => watched(open()) }
let last: Progress | undefined
let told = 0
for await (const progress of fuzzTarget(opened, { seed: Number(seed), guided: true })) {
  last = progress
  if (elapsed() > Number(seconds) || progress.inputs >= Number(inputs)) break
  if (elapsed() - told < 2) continue
  told = elapsed()
  await send({ kind: 'progress', progress, seconds: told })
}
if (last !== undefined) await send({ kind: 'done', progress: last, seconds: elapsed(), found })
process.disconnect?.()

/** What a target has for another check is asked for before it is closed. */
function watched(inner: Opened): Opened {
  return {
    ...inner,
    close: () => {
      found = inner.found?.() ?? []
      inner.close?.()
    },
  }
}
