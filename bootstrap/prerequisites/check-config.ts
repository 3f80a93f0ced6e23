import type { EffectiveConfig } from '../../src/schemas/config.ts'
import { type CheckResult, ok } from './row.ts'

/**
 * What a plan-gate.yaml has run on this machine or lets through before a plan is approved. It comes with the repository,
 * like the scripts of a package.json, and like those it is run without a question: so at least it is said.
 */
export function checkConfig({ gate, hounfour, review, worktree }: EffectiveConfig): CheckResult[] {
  const asks = hounfour.flatline_routing || review.routes?.some(({ backend }) => backend === 'hounfour') === true
  const said = [
    ...(worktree.setup.length === 0 ? [] : [`runs in a new worktree: ${listed(worktree.setup)}`]),
    ...(gate.bash.allow.length === 0 ? [] : [`lets commands through before an approval: ${listed(gate.bash.allow)}`]),
    ...(gate.tools.allow.length === 0 ? [] : [`lets tools through before an approval: ${listed(gate.tools.allow)}`]),
    ...(asks && hounfour.model_invoke.includes('/') ? [`has plans reviewed by ${hounfour.model_invoke}`] : []),
    ...(review.routes?.some(({ backend }) => backend === 'checklist') === true
      ? ['lets the checklist approve a plan, which sees form and not sense']
      : []),
  ]
  return said.map((detail) => ok('plan-gate.yaml', detail))
}

const listed = (texts: readonly string[]): string => {
  const shown = texts.slice(0, 10).map((text) => (text.length > 200 ? `${text.slice(0, 200)}…` : text))
  return [...shown, ...(texts.length > 10 ? [`and ${texts.length - 10} more`] : [])].join(', ')
}
