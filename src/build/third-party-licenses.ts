import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'

/** The licences of the packages that ended up inside our bundles; theirs ask to travel with the code. */
export async function thirdPartyLicenses(metafiles: readonly Metafile[], root: string): Promise<string> {
  const names = new Set(
    metafiles.flatMap(({ inputs }) =>
      Object.keys(inputs).flatMap(
        (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(path)?.[1] ?? [],
      ),
    ),
  )
  const parts = await Promise.all([...names].sort().map((name) => licenseOf(name, join(root, 'node_modules', name))))
  return `plan-gate contains code of these packages.\n\n${parts.join('\n')}`
}

async function licenseOf(name: string, dir: string): Promise<string> {
  const { version, license } = JSON.parse(await readFile(join(dir, 'package.json'), 'utf8')) as {
    version: string
    license?: string
  }
  const file = (await readdir(dir)).find((entry) => /^licen[cs]e/i.test(entry))
  const text = file === undefined ? '' : await readFile(join(dir, file), 'utf8')
  return `== ${name} ${version} (${license ?? 'see below'})\n\n${text.trim()}\n`
}
