import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Metafile } from 'esbuild'
import { typicalSteps } from '../hooks/typical-events.ts'
import { bundleNames, cachedFiles, hookFiles, statusLineFile } from '../protocol/hook-entries.ts'
import { schemas } from '../schemas/all.ts'
import { publishedOutputs } from '../schemas/output/all.ts'
import { makeCodeCache } from '../system/code-cache.ts'
import { asFunction, cachedProgram, neededNode } from './cached-program.ts'
import { cheapBuiltins } from './cheap-builtins.ts'
import { namedExports } from './named-exports.ts'
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

/** `dist/`: one file for the command line and its parts beside it, one self-contained file per hook event, a tokenizer, published schemas. */
export async function bundle(): Promise<void> {
  await rm(at('dist'), { recursive: true, force: true })
  await mkdir(at('dist/schemas'), { recursive: true })
  const cli = await build({
    ...shared,
    entryPoints: { cli: at('src/cli/main.ts') },
    outdir: at('dist'),
    outExtension: { '.js': '.mjs' },
    // One command is loaded without the others.
    splitting: true,
    chunkNames: 'cli/[name]-[hash]',
    plugins: [namedExports('proper-lockfile', ['lock'])],
    banner: { js: `#!/usr/bin/env node\n${neededNode(2)}\n${requireBanner.js}` },
  })
  await chmod(at('dist/cli.mjs'), 0o755)
  const inputs = [cli.metafile, await bundleTokenizer()]
  for (const name of bundleNames.filter((name) => !cachedFiles.includes(name))) {
    const entry = name === 'judge-command' ? 'src/gate/bash/judge-command.ts' : `src/hooks/${name}.ts`
    const hook = await build({
      ...shared,
      plugins: [cheapBuiltins],
      charset: 'utf8',
      banner: isStartedByNode(name) ? { js: neededNode(1) } : {},
      entryPoints: [at(entry)],
      outfile: at(`dist/hooks/${name}.mjs`),
    })
    inputs.push(hook.metafile)
  }
  for (const name of cachedFiles) inputs.push(await bundleCached(name))
  const published = [...schemas.flatMap(({ schema, published }) => (published ? [schema] : [])), ...publishedOutputs]
  for (const schema of published) await writeFile(at(`dist/schemas/${schema.$id}.schema.json`), publishedForm(schema))
  await writeFile(at('dist/THIRD_PARTY_LICENSES.txt'), await thirdPartyLicenses(inputs, at('.')))
}

/** The others are loaded by these. */
const isStartedByNode = (name: string): boolean => hookFiles.includes(name) || name === statusLineFile

/** By itself: its vocabulary is larger than all else together, and is loaded only for a text that may be too long. */
async function bundleTokenizer(): Promise<Metafile> {
  const tokenizer = await build({
    ...shared,
    charset: 'utf8',
    entryPoints: [at('src/review/tokens/count-tokens.ts')],
    outfile: at('dist/tokenizer.mjs'),
  })
  return tokenizer.metafile
}

/** The hooks that people wait for most often are compiled through a code cache. */
async function bundleCached(name: string): Promise<Metafile> {
  const hook = await build({
    ...shared,
    format: 'cjs',
    // What cannot span lines can stand in a comment.
    supported: { 'template-literal': false },
    define: { 'import.meta.url': 'moduleUrl' },
    plugins: [cheapBuiltins],
    entryPoints: [at(`src/hooks/${name}.ts`)],
    write: false,
  })
  const file = at(`dist/hooks/${name}.mjs`)
  await writeFile(file, cachedProgram(asFunction((hook.outputFiles[0]?.text ?? '').trimEnd())))
  const cache = await makeCodeCache(file, process.execPath, typicalSteps(name))
  if (cache !== null) await writeFile(`${file}.cache`, cache)
  return hook.metafile
}

const publishedForm = (schema: object): string =>
  `${JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema }, null, 2)}\n`
