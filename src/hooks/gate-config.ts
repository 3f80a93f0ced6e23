import type { CompiledConfig } from '../schemas/compiled-config.ts'
import { readCompiledConfig } from '../store/compiled-config.ts'
import { readRegular } from '../store/read-regular.ts'
import { slashed } from '../system/slashed.ts'
import { loadCompiler } from './load-compiler.ts'

/**
 * The configuration as the gate needs it. Compiled anew, by a module that is loaded only then, when `plan-gate.yaml` is
 * no longer the text that was compiled, the worktree has moved, or nothing usable was compiled.
 */
export async function gateConfig(root: string): Promise<CompiledConfig> {
  const compiled = readCompiledConfig(root)
  if (
    compiled.kind === 'read' &&
    compiled.value.house.root.named === slashed(root) &&
    compiled.value.source === currentSource(root)
  )
    return compiled.value
  const { recompileConfig } = await loadCompiler()
  return recompileConfig(root)
}

/** Null where there is no file; undefined, which is never what was compiled, for one that is refused. */
function currentSource(root: string): string | null | undefined {
  const read = readRegular(root, 'plan-gate.yaml')
  if (read.kind === 'absent') return null
  return read.kind === 'read' ? read.bytes.toString('utf8') : undefined
}
