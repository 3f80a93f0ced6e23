import validate from '../schemas/generated/compiled-config.js'
import {
  ensureFolder,
  type JsonRead,
  putFile,
  type Refused,
  readJson,
  readRegular,
  writeAtomic,
} from '../state/files.ts'
import { compiledConfigPath, configFile, gitDirFolder, hooksDir } from '../state/own-paths.ts'
import { loadBundle } from '../system/load-bundle.ts'
import { slashed } from '../system/paths.ts'
import { sha256 } from '../system/sha256.ts'
import type { CompiledConfig } from './schema.ts'

const digestPath = `${gitDirFolder}/config.sha256`

export const readCompiledConfig = (root: string): JsonRead<CompiledConfig> =>
  readJson(root, compiledConfigPath, validate)

/**
 * With its digest in the git directory: the gate trusts the file, so one that plan-gate did not write is detected after the
 * command that wrote it.
 */
export function writeCompiledConfig(root: string, gitDir: string | null, config: CompiledConfig): void {
  const text = `${JSON.stringify(config, null, 2)}\n`
  ensureFolder(root, hooksDir)
  if (gitDir !== null) putFile(gitDir, digestPath, sha256(text), 0o600)
  writeAtomic(root, compiledConfigPath, text)
}

/** Whether the file is the one that was written last; an absent one is not foreign. */
export function checkCompiledConfig(root: string, gitDir: string): { kind: 'ours' | 'foreign' } | Refused {
  const [found, digest] = [readRegular(root, compiledConfigPath), readRegular(gitDir, digestPath)]
  if (found.kind === 'absent') return { kind: 'ours' }
  if (found.kind === 'refused') return found
  if (digest.kind !== 'read') return digest.kind === 'refused' ? digest : { kind: 'foreign' }
  return { kind: sha256(found.bytes) === digest.bytes.toString('utf8') ? 'ours' : 'foreign' }
}

/** The YAML parser is loaded only when there is something to parse. The bundle's entry is `install/compile-config.ts`. */
export const loadCompiler = (): Promise<{ recompileConfig: (root: string) => CompiledConfig }> =>
  loadBundle('compile-config')

/**
 * The configuration for the gate. Compiled again when `plan-gate.yaml` is no longer the text that was compiled,
 * the worktree has moved, or nothing usable was compiled.
 */
export async function gateConfig(root: string): Promise<CompiledConfig> {
  const compiled = readCompiledConfig(root)
  if (
    compiled.kind === 'read' &&
    compiled.value.protected_paths.root.named === slashed(root) &&
    compiled.value.source === currentSource(root)
  )
    return compiled.value
  const { recompileConfig } = await loadCompiler()
  return recompileConfig(root)
}

/** null where there is no file; undefined, which never equals a compiled text, for one that is refused. */
function currentSource(root: string): string | null | undefined {
  const read = readRegular(root, configFile)
  if (read.kind === 'absent') return null
  return read.kind === 'read' ? read.bytes.toString('utf8') : undefined
}
