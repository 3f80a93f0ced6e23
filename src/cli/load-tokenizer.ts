import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { packageRoot } from '../system/package-files.ts'

/** A bundle of its own: its tables are larger than everything else together. */
export const loadTokenizer = (): Promise<typeof import('../review/tokens/count-tokens.ts')> =>
  import(pathToFileURL(join(packageRoot(), 'dist', 'tokenizer.mjs')).href) as Promise<
    typeof import('../review/tokens/count-tokens.ts')
  >
