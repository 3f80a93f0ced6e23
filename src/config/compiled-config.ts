import { compiledConfigSchema } from '../schemas/records.ts'
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
import { isTransient } from '../system/errors.ts'
import { loadBundle } from '../system/load-bundle.ts'
import { slashed } from '../system/paths.ts'
import type { CompiledConfig } from './schema.ts'

/** In the git directory, where no tool call may write: what counts, whatever becomes of `plan-gate.yaml`. */
const baselinePath = `${gitDirFolder}/config.json`

export const readCompiledConfig = (root: string): JsonRead<CompiledConfig> =>
  readJson(root, compiledConfigPath, compiledConfigSchema) as JsonRead<CompiledConfig>

export const readConfigBaseline = (gitDir: string): JsonRead<CompiledConfig> =>
  readJson(gitDir, baselinePath, compiledConfigSchema) as JsonRead<CompiledConfig>

export function writeCompiledConfig(root: string, gitDir: string | null, config: CompiledConfig): void {
  const text = `${JSON.stringify(config, null, 2)}\n`
  ensureFolder(root, hooksDir)
  if (gitDir !== null) putFile(gitDir, baselinePath, text, 0o600)
  writeAtomic(root, compiledConfigPath, text)
}

/** Whether the file is the one that was written last; an absent one is not foreign. */
export function checkCompiledConfig(root: string, gitDir: string): { kind: 'ours' | 'foreign' } | Refused {
  const [found, baseline] = [readRegular(root, compiledConfigPath), readRegular(gitDir, baselinePath)]
  if (found.kind === 'absent') return { kind: 'ours' }
  if (found.kind === 'refused') return found
  if (baseline.kind !== 'read') return baseline.kind === 'refused' ? baseline : { kind: 'foreign' }
  return { kind: found.bytes.equals(baseline.bytes) ? 'ours' : 'foreign' }
}

/** The YAML parser is loaded only when there is something to parse. The bundle's entry is `hooks/reviews.ts`. */
export const loadCompiler = async (): Promise<{ recompileConfig: Compile; restoreConfig: Compile }> =>
  (await loadBundle<{ yamlReaders: { recompileConfig: Compile; restoreConfig: Compile } }>('reviews')).yamlReaders

type Compile = (root: string) => CompiledConfig

/**
 * The configuration for the gate: as it was compiled, also when `plan-gate.yaml` has changed since. Compiled again from
 * the same text when the worktree has moved, or nothing usable is there.
 */
export async function gateConfig(root: string): Promise<CompiledConfig> {
  const compiled = readCompiledConfig(root)
  if (compiled.kind === 'read' && compiled.value.protected_paths.root.named === slashed(root)) return compiled.value
  const { restoreConfig } = await loadCompiler()
  return restoreConfig(root)
}

/** `counts`: the text of `plan-gate.yaml` that counts, if the file differs from it; null means that there was no file. */
export function pendingConfig(root: string, gitDir: string): PendingConfig | null {
  const baseline = readConfigBaseline(gitDir)
  if (baseline.kind !== 'read') return null
  const read = readRegular(root, configFile)
  if (read.kind === 'refused' && isTransient(read.errno)) return null
  const current = read.kind === 'read' ? read.bytes.toString('utf8') : read.kind === 'absent' ? null : undefined
  const counts = baseline.value.source
  const isSame = current === counts || (typeof current === 'string' && withoutPastedKeys(current) === counts)
  const isUnread = read.kind === 'refused' && read.errno !== undefined
  return isSame ? null : { counts, what: isUnread ? read.why : 'plan-gate.yaml has changed' }
}

type PendingConfig = { readonly counts: string | null; readonly what: string }

/**
 * Of a text that is not valid: a key that stands where the name of its variable belongs is not kept. What takes its place
 * is not valid either.
 */
export const withoutPastedKeys = (source: string): string =>
  source.replace(
    /(api_?key\w{0,20}["']?\s{0,20}:)(?!\s*["']?[A-Z_][A-Z0-9_]{0,99}["']?\s*(?:[,}#\n]|$))[^\n]*(?:\n[^\S\n](?![^\n]*:)[^\n]*)*/g,
    '$1 "not kept"',
  )

export const pendingNotice = ({ what }: PendingConfig): string =>
  `${what}. The gate still uses the earlier text; the change counts from the next session start, or after \`plan-gate config --apply\`.`
