/** A bundle of its own beside the hooks: the YAML parser is paid for only when there is something to parse. */
export const loadCompiler = (): Promise<typeof import('./compile-config.ts')> =>
  import(new URL('./compile-config.mjs', import.meta.url).href)
