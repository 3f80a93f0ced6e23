import { builtinModules, createRequire } from 'node:module'
import type { Plugin } from 'esbuild'

const names = new Set(builtinModules)
const require = createRequire(import.meta.url)

/**
 * node's own modules through `process.getBuiltinModule` instead of `import`. An `import` of `node:fs` reads every
 * export once, among them getters that load all of the streams: 2 ms at each start of a hook.
 */
export const cheapBuiltins: Plugin = {
  name: 'cheap-builtins',
  setup(build) {
    build.onResolve({ filter: /^(?:node:)?[a-z_]+(?:\/[a-z_]+)?$/ }, ({ path, kind }) =>
      names.has(path.replace(/^node:/, ''))
        ? { path: path.replace(/^(?:node:)?/, 'node:'), namespace: kind === 'require-call' ? 'required' : 'imported' }
        : undefined,
    )
    // proper-lockfile is handed its doors to the disk at each call; its default, 11 kB of them, would never be used.
    build.onResolve({ filter: /^graceful-fs$/ }, () => ({ path: 'node:fs', namespace: 'required' }))
    build.onLoad({ filter: /.*/, namespace: 'required' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)})`,
    }))
    build.onLoad({ filter: /.*/, namespace: 'imported' }, ({ path }) => ({ contents: namedExports(path) }))
  },
}

/** One export a name, each of which goes away where nobody asks for it. */
function namedExports(path: string): string {
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
