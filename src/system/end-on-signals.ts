const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
export type Ending = keyof typeof exitCodes

const endings = Object.keys(exitCodes) as Ending[]
let takers = 0

export const exitCodeOfSignal = (name: Ending): number => exitCodes[name]

/**
 * A signal ends this program by `process.exit`, so that what is to be done at the end is done: locks are given back,
 * folders for a moment removed. Without a listener node would end on the spot.
 */
export function endOnSignals(): void {
  for (const name of endings)
    process.on(name, () => {
      if (takers === 0) process.exit(exitCodes[name])
    })
}

/** For as long as something else has to be ended first: `hear` decides. Gives the signals back when it is called. */
export function takeSignals(hear: (name: Ending) => void): () => void {
  const listeners = endings.map((name) => [name, () => hear(name)] as const)
  takers += 1
  for (const [name, listener] of listeners) process.on(name, listener)
  return () => {
    takers -= 1
    for (const [name, listener] of listeners) process.off(name, listener)
  }
}
