import { open } from 'node:fs/promises'
import { type Charged, charge } from './payments.ts'

type Range = { readonly from: number; readonly to: number; readonly byDefault: number }

export function readSeconds(env: NodeJS.ProcessEnv, name: string, { from, to, byDefault }: Range): number {
  const text = env[name]
  if (text === undefined) return byDefault
  if (!/^\d{1,4}$/.test(text)) throw new Error(`${name} is no whole number`)
  const seconds = Number(text)
  if (seconds < from || seconds > to) throw new RangeError(`${name} is not from ${from} to ${to}`)
  return seconds
}

type Order = { readonly id: string; readonly totalCents: number }
type Service = { readonly url: string; readonly key: string }

/** Writes down what took longer than a tenth of the deadline. */
export async function chargeWithin(
  { url, key }: Service,
  order: Order,
  deadlineMs: number,
  log: string,
): Promise<Charged> {
  const startedAt = performance.now()
  const charged = await Promise.race([charge(url, key, order), after(deadlineMs)])
  const tookMs = performance.now() - startedAt
  if (tookMs >= deadlineMs / 10) await append(log, `${order.id} ${Math.round(tookMs)}\n`)
  return charged
}

const after = (ms: number): Promise<Charged> =>
  new Promise((resolve) => setTimeout(() => resolve({ kind: 'unknown', why: 'the deadline has passed' }), ms).unref())

async function append(file: string, line: string): Promise<void> {
  const handle = await open(file, 'a', 0o600)
  try {
    await handle.writeFile(line)
  } catch (error) {
    console.error('the log cannot be written', error)
    throw error
  } finally {
    await handle.close()
  }
}
