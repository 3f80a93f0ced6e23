import type { Scope } from '../gate/decide-tool-call.ts'
import { planPath } from '../gate/place-of.ts'
import { inScope } from '../gate/scope/in-scope.ts'
import { readPlanScope } from '../gate/scope/read-plan-scope.ts'
import type { CompiledConfig } from '../schemas/compiled-config.ts'
import { readRegular } from '../store/read-regular.ts'
import { resolvePath } from '../system/resolve-path.ts'

/** What `gate.scope` holds writes to; read from the plan only where it is switched on. */
export function planScope(root: string, config: CompiledConfig): Scope {
  const mode = (config.config.gate as { scope?: unknown } | undefined)?.scope
  if (mode !== 'ask' && mode !== 'deny') return { kind: 'off' }
  const read = readRegular(root, planPath)
  const entries = read.kind === 'read' ? readPlanScope(read.bytes.toString('utf8')) : []
  return {
    kind: mode,
    names: (path) => [...waysInto(root, path)].every((inside) => inside !== '' && inScope(inside, entries)),
  }
}

/** Both as it is named and as it really is: a link inside the scope must not lead out of it. */
function waysInto(root: string, path: string): Set<string> {
  const [target, base] = [resolvePath(path), resolvePath(root)]
  if (target.kind !== 'resolved' || base.kind !== 'resolved') return new Set([''])
  const named = below(base.path, target.path) ?? below(base.real, target.path) ?? ''
  return new Set([named, below(base.real, target.real) ?? ''])
}

const below = (root: string, path: string): string | null =>
  path.startsWith(`${root}/`) ? path.slice(root.length + 1) : null
