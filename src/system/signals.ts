export type SignalAbort = { readonly signal: AbortSignal; readonly asked: Promise<unknown>; readonly end: () => void }

/** In a hook: Esc, or the end of the session. Aborts instead of exiting, so that the reviewer is ended first. */
export function abortOnSignals(): SignalAbort {
  const abort = new AbortController()
  const stop = (): void => abort.abort()
  for (const name of exitSignals) process.on(name, stop)
  return {
    signal: abort.signal,
    asked: new Promise((resolve) => abort.signal.addEventListener('abort', resolve, { once: true })),
    end: () => {
      for (const name of exitSignals) process.removeListener(name, stop)
    },
  }
}

const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
export type ExitSignal = keyof typeof exitCodes
const exitSignals = /* @__PURE__ */ Object.keys(exitCodes) as ExitSignal[]
let interceptors = 0
export const exitCodeOfSignal = (name: ExitSignal): number => exitCodes[name]

/** Exits by `process.exit`, so that exit handlers run (locks, temporary folders); without a listener node would just end. */
export function exitOnSignals(): void {
  for (const name of exitSignals)
    process.on(name, () => {
      if (interceptors === 0) process.exit(exitCodes[name])
    })
}

/** Calls `onSignal` instead of exiting, until the returned function is called. */
export function interceptSignals(onSignal: (name: ExitSignal) => void): () => void {
  const listeners = exitSignals.map((name) => [name, () => onSignal(name)] as const)
  interceptors += 1
  for (const [name, listener] of listeners) process.on(name, listener)
  return () => {
    interceptors -= 1
    for (const [name, listener] of listeners) process.off(name, listener)
  }
}

/**
 * Ctrl-C goes to the whole process group, and the end of a child may be reported before our own signal arrives. Waits for
 * it, so that the child's end is not reported as a failure.
 */
export async function waitForOwnSignal(
  exitCode: number | null | undefined,
  signal: string | null | undefined,
): Promise<void> {
  const isSignalled = exitSignals.some((name) => signal === name || exitCode === exitCodes[name])
  if (isSignalled) await new Promise((resolve) => setTimeout(resolve, 300))
}
