import type { CompiledConfig } from '../schemas/compiled-config.ts'
import validate from '../schemas/generated/compiled-config.js'
import type { Refused } from './check-folder.ts'
import { ensureFolder } from './ensure-folder.ts'
import { gitDirFolder } from './install-record.ts'
import { putFile } from './put-file.ts'
import { type JsonRead, readJson } from './read-json.ts'
import { readRegular } from './read-regular.ts'
import { sha256 } from './sha256.ts'
import { writeWhole } from './write-whole.ts'

const folder = '.claude/hooks/plan-gate'

/** Beside the hooks that read it; nobody else may write there. */
export const compiledConfigPath = `${folder}/config.json`

export const readCompiledConfig = (root: string): JsonRead<CompiledConfig> =>
  readJson(root, compiledConfigPath, validate)

/**
 * With its digest in the git directory: the gate believes what it says, so a file that nobody here wrote is found out
 * after the command that wrote it.
 */
export function writeCompiledConfig(root: string, gitDir: string | null, config: CompiledConfig): void {
  const text = `${JSON.stringify(config, null, 2)}\n`
  ensureFolder(root, folder)
  if (gitDir !== null) putFile(gitDir, digestPath, sha256(text), 0o600)
  writeWhole(root, compiledConfigPath, text)
}

/** Whether the file is the one that was written here last; one that is not there is no forgery. */
export function checkCompiledConfig(root: string, gitDir: string): { kind: 'ours' | 'foreign' } | Refused {
  const [found, digest] = [readRegular(root, compiledConfigPath), readRegular(gitDir, digestPath)]
  if (found.kind === 'absent') return { kind: 'ours' }
  if (found.kind === 'refused') return found
  if (digest.kind !== 'read') return digest.kind === 'refused' ? digest : { kind: 'foreign' }
  return { kind: sha256(found.bytes) === digest.bytes.toString('utf8') ? 'ours' : 'foreign' }
}

const digestPath = `${gitDirFolder}/config.sha256`
