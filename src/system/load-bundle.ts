/** Given by the gate's bundle, whose program is a script: in a script `import()` has nobody who would answer it. */
declare const moduleLoader: ((url: string) => Promise<unknown>) | undefined

/** A bundle that stands beside the hooks and is loaded only by the calls that need it. */
export function loadBundle<Bundle>(name: string): Promise<Bundle> {
  const url = new URL(`./${name}.mjs`, import.meta.url).href
  return (typeof moduleLoader === 'function' ? moduleLoader(url) : import(url)) as Promise<Bundle>
}
