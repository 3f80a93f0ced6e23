import type { CheckResult } from './prerequisites/row.ts'

/** What happens during a bootstrap, as it happens. One JSON object a line for programs, a short line for people. */
export type Progress =
  | ({ event: 'prerequisite' } & CheckResult)
  | { event: 'started'; step: string; detail: string }
  | { event: 'done'; step: string; detail: string; ms: number }
  | { event: 'notice'; detail: string }
  | { event: 'would'; action: 'create' | 'change' | 'keep' | 'run'; path: string; detail: string }

export type ProgressListener = (progress: Progress) => void

/** Runs one step and tells its beginning, its end and how long it took. */
export async function step<T>(
  tell: ProgressListener,
  name: string,
  detail: string,
  work: () => T | Promise<T>,
  told: (value: T) => string,
): Promise<T> {
  const since = performance.now()
  tell({ event: 'started', step: name, detail })
  const value = await work()
  tell({ event: 'done', step: name, detail: told(value), ms: Math.round(performance.now() - since) })
  return value
}
