export type SignalAbort = { readonly signal: AbortSignal; readonly asked: Promise<unknown>; readonly end: () => void }

/** Esc, or the end of the session: the reviewer is ended first, and what was not decided stays undecided. */
export function abortOnSignals(): SignalAbort {
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

const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
export type ExitSignal = keyof typeof exitCodes
const exitSignals = Object.keys(exitCodes) as ExitSignal[]
let interceptors = 0
export const exitCodeOfSignal = (name: ExitSignal): number => exitCodes[name]

/**
 * A signal ends this program by `process.exit`, so that what is to be done at the end is done: locks are given back,
 * folders for a moment removed. Without a listener node would end on the spot.
 */
export function exitOnSignals(): void {
  for (const name of exitSignals)
    process.on(name, () => {
      if (interceptors === 0) process.exit(exitCodes[name])
    })
}

/** For as long as something else has to be ended first: `hear` decides. Gives the signals back when it is called. */
export function interceptSignals(hear: (name: ExitSignal) => void): () => void {
  const listeners = exitSignals.map((name) => [name, () => hear(name)] as const)
  interceptors += 1
  for (const [name, listener] of listeners) process.on(name, listener)
  return () => {
    interceptors -= 1
    for (const [name, listener] of listeners) process.off(name, listener)
  }
}

/**
 * Ctrl-C goes to us and to what we have started, and on a busy machine we may hear of the other's end first. What that
 * left undone is no news to act upon: our own signal is on its way, and comes while this waits.
 */
export async function waitForOwnSignal(
  exitCode: number | null | undefined,
  signal: string | null | undefined,
): Promise<void> {
  const isCutShort = exitSignals.some((name) => signal === name || exitCode === exitCodes[name])
  if (isCutShort) await new Promise((resolve) => setTimeout(resolve, 300))
}
