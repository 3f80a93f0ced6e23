export type Stopping = { readonly signal: AbortSignal; readonly asked: Promise<unknown>; readonly end: () => void }

/** Esc, or the end of the session: the reviewer is ended first, and what was not decided stays undecided. */
export function abortOnSignals(): Stopping {
  const abort = new AbortController()
  const stop = (): void => abort.abort()
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const name of signals) process.on(name, stop)
  return {
    signal: abort.signal,
    asked: new Promise((resolve) => abort.signal.addEventListener('abort', resolve, { once: true })),
    end: () => {
      for (const name of signals) process.removeListener(name, stop)
    },
  }
}
