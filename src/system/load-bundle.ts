/** Set by the gate's bundle, whose program is a script: in a script `import()` has no referrer. */
declare const moduleLoader: ((url: string) => Promise<unknown>) | undefined

/** A file beside the hooks that is loaded only by calls that need it. */
export function loadBundle<Bundle>(file: string): Promise<Bundle> {
  const url = new URL(file, import.meta.url).href
  return (typeof moduleLoader === 'function' ? moduleLoader(url) : import(url)) as Promise<Bundle>
}
