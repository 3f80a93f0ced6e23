import { dirname, join } from 'node:path'

/** What the loader (`src/install/hook-loader.ts`) passes to a bundle: its own path, and how to run another one. */
declare const bundleFile: string
declare const load: (file: string, sha256: string | undefined) => unknown

/** Written into a bundle by the build: the files that it loads, with their sha256. */
declare const bundleDigests: { readonly [file: string]: string }

/** A bundle does not load itself. */
const own: { [name: string]: unknown } = {}

export function ownBundle(name: string, bundle: object): void {
  own[name] = bundle
}

/** A bundle beside this one that only some calls need. Throws if it is not the one that was built with this one. */
export async function loadBundle<Bundle>(name: string): Promise<Bundle> {
  const file = Object.keys(bundleDigests).find((file) => file.startsWith(`${name}.`)) ?? name
  return (own[name] ?? load(join(dirname(bundleFile), file), bundleDigests[file])) as Bundle
}
