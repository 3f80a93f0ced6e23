import type { CheckResult } from './prerequisites.ts'

/** Progress of a bootstrap or an install: JSON lines for programs, short lines for people. */
export type ProgressLine =
  | ({ event: 'prerequisite' } & CheckResult)
  | { event: 'started'; step: string; detail: string }
  | { event: 'done'; step: string; detail: string; ms: number }
  | { event: 'notice'; detail: string }
  /** Something of the repository that is not trusted. */
  | { event: 'brings'; id: string; path: string; what: string; runs: string[]; state: 'new' | 'changed' | 'trusted' }
  | { event: 'would'; action: 'create' | 'change' | 'keep' | 'run'; path: string; detail: string }

export type ProgressListener = (progress: ProgressLine) => void

/** Runs one step and reports its start, its end and its duration. */
export async function step<T>(
  onProgress: ProgressListener,
  name: string,
  detail: string,
  work: () => T | Promise<T>,
  describe: (value: T) => string,
): Promise<T> {
  const startedAt = performance.now()
  onProgress({ event: 'started', step: name, detail })
  const value = await work()
  onProgress({ event: 'done', step: name, detail: describe(value), ms: Math.round(performance.now() - startedAt) })
  return value
}

export const selfTestStep = (onProgress: ProgressListener, prove: () => Promise<number>): Promise<number> =>
  step(onProgress, 'self-test', 'the installed hooks', prove, (checks) => `passed (${checks} checks)`)
