import { loadModule } from './load-module.ts'

/** The YAML parser is paid for only when there is something to parse. */
export const loadCompiler = (): Promise<typeof import('./compile-config.ts')> =>
  loadModule('compile-config') as Promise<typeof import('./compile-config.ts')>
