import type { Plugin } from 'esbuild'

/**
 * A CommonJS package that is imported only when it is needed. With `splitting` it becomes a part of its own, and such a
 * part exports nothing by name; so what is used of it is named here.
 */
export const namedExports = (name: string, exports: readonly string[]): Plugin => ({
  name: `named-exports-of-${name}`,
  setup(build) {
    build.onResolve({ filter: new RegExp(`^${name}$`) }, ({ kind, path, resolveDir }) =>
      kind === 'dynamic-import' ? { path, namespace: 'named-exports', pluginData: resolveDir } : undefined,
    )
    build.onLoad({ filter: new RegExp(`^${name}$`), namespace: 'named-exports' }, ({ pluginData }) => ({
      contents: `export { ${exports.join(', ')} } from '${name}'`,
      resolveDir: pluginData as string,
    }))
  },
})
