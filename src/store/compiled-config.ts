import type { CompiledConfig } from '../schemas/compiled-config.ts'
import validate from '../schemas/generated/compiled-config.js'
import { ensureFolder } from './ensure-folder.ts'
import { type JsonRead, readJson } from './read-json.ts'
import { writeWhole } from './write-whole.ts'

const folder = '.claude/hooks/plan-gate'

/** Beside the hooks that read it; nobody else may write there. */
const compiledConfigPath = `${folder}/config.json`

export const readCompiledConfig = (root: string): JsonRead<CompiledConfig> =>
  readJson(root, compiledConfigPath, validate)

export function writeCompiledConfig(root: string, config: CompiledConfig): void {
  ensureFolder(root, folder)
  writeWhole(root, compiledConfigPath, `${JSON.stringify(config, null, 2)}\n`)
}
