import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'
import { hookFiles } from '../protocol/hook-entries.ts'
import { schemas } from '../schemas/all.ts'
import { cheapBuiltins } from './cheap-builtins.ts'
import { thirdPartyLicenses } from './third-party-licenses.ts'

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

const shared = {
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  format: 'esm',
  minify: true,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
} as const satisfies BuildOptions

/** CommonJS packages inside an ESM bundle ask for node's own modules through `require`. */
const requireBanner = {
  js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
}

/** `dist/`: one file for the command line, one self-contained file per hook event, and the published schemas. */
export async function bundle(): Promise<void> {
  await rm(at('dist'), { recursive: true, force: true })
  await mkdir(at('dist/schemas'), { recursive: true })
  const cli = await build({
    ...shared,
    entryPoints: [at('src/cli/main.ts')],
    outfile: at('dist/cli.mjs'),
    banner: { js: `#!/usr/bin/env node\n${requireBanner.js}` },
  })
  await chmod(at('dist/cli.mjs'), 0o755)
  const inputs = [cli.metafile]
  for (const name of [...hookFiles, 'compile-config']) {
    const hook = await build({
      ...shared,
      plugins: [cheapBuiltins],
      entryPoints: [at(`src/hooks/${name}.ts`)],
      outfile: at(`dist/hooks/${name}.mjs`),
    })
    inputs.push(hook.metafile)
  }
  for (const { schema, published } of schemas)
    if (published) await writeFile(at(`dist/schemas/${schema.$id}.schema.json`), publishedForm(schema))
  await writeFile(at('dist/THIRD_PARTY_LICENSES.txt'), await thirdPartyLicenses(inputs, at('.')))
}

const publishedForm = (schema: object): string =>
  `${JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema }, null, 2)}\n`
