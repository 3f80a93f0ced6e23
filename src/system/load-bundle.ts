/** Set by the gate's bundle, whose program is a script: in a script `import()` has no referrer. */
declare const moduleLoader: ((url: string) => Promise<unknown>) | undefined

/**
 * A bundle beside the hooks that is loaded only by calls that need it. `run`: the word that an entry of its own would
 * get.
 */
export function loadBundle<Bundle>(name: string, run?: string): Promise<Bundle> {
  const url = new URL(`./${name}.mjs${run === undefined ? '' : `?run=${run}`}`, import.meta.url).href
  return (typeof moduleLoader === 'function' ? moduleLoader(url) : import(url)) as Promise<Bundle>
}
