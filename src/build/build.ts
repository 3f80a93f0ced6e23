import { createHash } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { builtinModules, createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild'
import { publishedOutputs, schemaVersions } from '../cli/schema.ts'
import { configSchema } from '../config/schema.ts'
import { harmlessTools } from '../gate/tools.ts'
import { pluginHooks } from '../install/hook-entries.ts'
import { makeCodeCaches } from '../install/own-files.ts'
import { approvalSchema, finishedSchema } from '../schemas/records.ts'
import { reviewResultSchema } from '../schemas/review.ts'
import type { Schema } from '../schemas/schema.ts'
import { bundleFile, cachedWith, hookFiles, lazyFiles, statusLineFile } from '../state/own-paths.ts'
import { sha256 } from '../system/sha256.ts'

const generated = new URL('../report/generated/', import.meta.url)
const page = new URL('../report/page/', import.meta.url)

/**
 * The style and the scripts of the report as texts, with the hashes for its content security policy. They are not
 * minified, so that the reader of a report can read what runs in it.
 */
async function buildReportPage(): Promise<void> {
  const part = async (name: string) => {
    const text = await bundlePart(name)
    if (/<\/(?:script|style)|<!--/i.test(text)) throw new Error('the page’s own parts must not end their elements')
    return { text, hash: `sha256-${createHash('sha256').update(text).digest('base64')}` }
  }
  const parts = { style: await part('report.css'), script: await part('main.ts'), decide: await part('decide.ts') }
  await rm(generated, { recursive: true, force: true })
  await mkdir(generated, { recursive: true })
  await writeFile(new URL('page-parts.js', generated), `export const pageParts = ${JSON.stringify(parts, null, 2)}\n`)
  await writeFile(
    new URL('page-parts.d.ts', generated),
    "import type { PageParts } from '../report.ts'\nexport declare const pageParts: PageParts\n",
  )
}

async function bundlePart(name: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(name, page))],
    absWorkingDir: fileURLToPath(page),
    bundle: true,
    format: 'iife',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
    write: false,
  })
  return outputFiles[0]?.text ?? ''
}

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

/** CommonJS packages in an ESM bundle need `require` for node's modules. */
const requireBanner = {
  js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
}

/**
 * `dist/`: the command line with its parts, a self-contained bundle per hook event, the tokenizer, published schemas.
 */
async function bundle(): Promise<void> {
  await rm(at('dist'), { recursive: true, force: true })
  await mkdir(at('dist/schemas'), { recursive: true })
  await mkdir(at('dist/hooks'))
  const cli = await build({
    ...shared,
    entryPoints: { cli: at('src/cli/main.ts') },
    outdir: at('dist'),
    outExtension: { '.js': '.mjs' },
    splitting: true,
    chunkNames: 'cli/[name]-[hash]',
    plugins: [withoutDebug],
    banner: { js: `#!/usr/bin/env node\n${neededNode(2)}\n${requireBanner.js}` },
  })
  await chmod(at('dist/cli.mjs'), 0o755)
  const inputs = [cli.metafile, await bundleTokenizer()]
  const digests: { [name: string]: string } = {}
  for (const name of [...lazyFiles, ...hookFiles]) inputs.push(await bundleHook(name, digests))
  inputs.push(await bundleStatusLine())
  for (const schema of published) await writeFile(at(`dist/schemas/${schema.$id}.schema.json`), publishedForm(schema))
  await writeFile(at('hooks/hooks.json'), `${JSON.stringify(pluginHooks(harmlessTools))}\n`)
  await writeFile(at('dist/THIRD_PARTY_LICENSES.txt'), await thirdPartyLicenses(inputs, at('.')))
}

const entryOf = (name: string): string => {
  if (name === 'check-commands') return 'src/gate/bash/check-command.ts'
  if (name === 'parse-command') return 'src/gate/bash/parse.ts'
  return `src/hooks/${name}.ts`
}

/**
 * A bundle of its own: its vocabulary is larger than everything else together, and is loaded only for a text that may
 * exceed a budget.
 */
async function bundleTokenizer(): Promise<Metafile> {
  const tokenizer = await build({
    ...shared,
    charset: 'utf8',
    entryPoints: [at('src/review/count-tokens.ts')],
    outfile: at('dist/tokenizer.mjs'),
  })
  return tokenizer.metafile
}

/** A hook, or a part of hooks, in the form that the loader runs; `digests` has those of all that it may load. */
async function bundleHook(name: string, digests: { [name: string]: string }): Promise<Metafile> {
  const hook = await build({
    ...shared,
    format: 'cjs',
    define: { bundleDigests: JSON.stringify(digests) },
    plugins: [cheapBuiltins, plainSchemas],
    entryPoints: [at(entryOf(name))],
    write: false,
  })
  const file = at(`dist/hooks/${bundleFile(name)}`)
  const program = hook.outputFiles[0]?.text ?? ''
  const [first, check] = hookFiles.includes(name) ? [onlyByEntry, neededNode(1)] : ['', '']
  const text = `${first}\n(function (module, exports, bundleFile, load) {${check}\n${program}})`
  const bytes = file.endsWith('.br') ? brotliCompressSync(text) : Buffer.from(text)
  await writeFile(file, bytes)
  digests[bundleFile(name)] = sha256(bytes)
  const cached = cachedWith[name]
  if (cached === undefined) return hook.metafile
  const caches = await makeCodeCaches(at('dist/hooks'), name, process.execPath)
  if (caches.size < cached.length)
    throw new Error(`no code cache could be made of ${name}: does it answer its typical events?`)
  for (const [part, bytes] of caches) await writeFile(at(`dist/hooks/${part}.mjs.cache`), bytes)
  return hook.metafile
}

/**
 * The first line of what an entry starts, which the loader skips: an entry of an older install would run nothing and so
 * allow.
 */
const onlyByEntry =
  "console.error('plan-gate: it was updated, and its hooks are started otherwise now. Start a new session.');process.exit(2);"

/** Started by a shell command, and on its own. */
async function bundleStatusLine(): Promise<Metafile> {
  const line = await build({
    ...shared,
    plugins: [cheapBuiltins, plainSchemas],
    charset: 'utf8',
    banner: { js: neededNode(1) },
    entryPoints: [at(`src/hooks/${statusLineFile}.ts`)],
    outfile: at(`dist/hooks/${statusLineFile}.mjs`),
  })
  return line.metafile
}

const publishedForm = (schema: Schema & { readonly $id: string }): string => {
  const $id = `urn:plan-gate:${schema.$id}:${schemaVersions[schema.$id] ?? 1}`
  const form = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema, $id }
  return `${JSON.stringify(form, schema.$id === 'config' ? openForOwnKeys : undefined, 2)}\n`
}

/** Editors mark what the reader of a configuration leaves alone or merges as little as it does. */
const openForOwnKeys = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'additionalProperties' in value && value.additionalProperties === false
    ? { patternProperties: { '^(?:x-|_(?!_)|<<$)': true }, ...value }
    : value

/** In front of every program: an older node would fail with a stack that does not mention its version. */
const neededNode = (exitCode: number): string =>
  `if (!process.getBuiltinModule) { console.error('plan-gate: Node 20.19 or newer is needed, and this is ' + process.version + ': ' + process.execPath); process.exit(${exitCode}) }`

const names = new Set(builtinModules)
const require = createRequire(import.meta.url)

/**
 * node's own modules through `process.getBuiltinModule` instead of `import`: an `import` of `node:fs` reads every
 * export once, among them getters that load all of the streams (2 ms at each start of a hook).
 */
const cheapBuiltins: Plugin = {
  name: 'cheap-builtins',
  setup(build) {
    build.onResolve({ filter: /^(?:node:)?[a-z_]+(?:\/[a-z_]+)?$/ }, ({ path, kind }) =>
      names.has(path.replace(/^node:/, ''))
        ? { path: path.replace(/^(?:node:)?/, 'node:'), namespace: kind === 'require-call' ? 'required' : 'imported' }
        : undefined,
    )
    // Its modules instead of CommonJS: 18 kB that only write YAML are left out.
    build.onResolve({ filter: /^yaml$/ }, () => ({ path: at('node_modules/yaml/browser/dist/index.js') }))
    build.onLoad({ filter: /.*/, namespace: 'required' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)})`,
    }))
    build.onLoad({ filter: /.*/, namespace: 'imported' }, ({ path }) => ({ contents: namedExportsCheapBuiltins(path) }))
  },
}

/** Each schema as a constant that can be left out, without the words, which are for its readers. */
const plainSchemas: Plugin = {
  name: 'plain-schemas',
  setup(build) {
    build.onLoad(
      { filter: /[/\\]src[/\\](?:schemas[/\\](?:records|hook-events|review)|config[/\\]schema)\.ts$/ },
      async ({ path }) => {
        const schemas: { readonly [name: string]: unknown } = await import(pathToFileURL(path).href)
        const constants = Object.entries(schemas).map(
          ([name, schema]) =>
            `export const ${name} = ${JSON.stringify(schema, name === toldToReviewers ? undefined : withoutWords)}`,
        )
        return { contents: constants.join('\n') }
      },
    )
  },
}

const toldToReviewers = 'reviewerAnswerSchema'

const withoutWords = (key: string, value: unknown): unknown =>
  (key === 'description' || key === 'title') && typeof value === 'string' ? undefined : value

/** One export per name, so that unused ones are tree-shaken. */
function namedExportsCheapBuiltins(path: string): string {
  const keys = Object.keys(require(path) as object).filter((key) => /^[A-Za-z]\w*$/.test(key) && key !== 'default')
  return [
    `const all = /* @__PURE__ */ process.getBuiltinModule(${JSON.stringify(path)})`,
    'const read = (key) => all[key]',
    'export default all',
    ...keys.map(
      (key) => `const own_${key} = /* @__PURE__ */ read(${JSON.stringify(key)}); export { own_${key} as ${key} }`,
    ),
  ].join('\n')
}

/**
 * simple-git's log, which nobody reads here: with DEBUG=* it prints the arguments of every git, and to do so in colour it
 * loads whatever package `supports-color` it finds in the folders above this one.
 */
const withoutDebug: Plugin = {
  name: 'without-debug',
  setup(build) {
    build.onResolve({ filter: /^debug$/ }, ({ path }) => ({ path, namespace: 'without-debug' }))
    build.onLoad({ filter: /.*/, namespace: 'without-debug' }, () => ({
      contents:
        'const log = () => Object.assign(() => {}, { extend: log }); export default Object.assign(log, { formatters: {} })',
    }))
  },
}

/** The licences of the packages that ended up inside our bundles; theirs ask to travel with the code. */
async function thirdPartyLicenses(metafiles: readonly Metafile[], root: string): Promise<string> {
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

const published: readonly (Schema & { readonly $id: string })[] = [
  approvalSchema,
  configSchema,
  finishedSchema,
  reviewResultSchema,
  ...publishedOutputs,
]

await buildReportPage()
await bundle()
