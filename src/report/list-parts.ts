import type { KeptPass } from '../schemas/kept-pass.ts'
import { formatCount, formatDuration } from './format-values.ts'
import type { Revision } from './report-data.ts'
import { type Cost, costOf } from './sum-costs.ts'

/** What a part of a bar stands for. */
export const partKinds = {
  plan: 'understands',
  review: 'reviews',
  verify: 'verifies',
  combined: 'all in one pass',
  failed: 'gave no verdict',
} as const

export type PartKind = keyof typeof partKinds

export type Part = Cost & { readonly kind: PartKind; readonly words: string }

/** What a review's time and tokens went into: its passes, or where none were kept, all of it as one. */
export function listParts(revision: Pick<Revision, 'passes' | 'result'>): readonly Part[] {
  if (revision.passes.length > 0) return revision.passes.map(partOf)
  const cost = costOf(revision)
  return cost.ms === 0 && cost.tokens === null
    ? []
    : [{ kind: 'combined', ...cost, words: describe('all passes', cost) }]
}

function partOf({ does, backend, outcome, duration_ms: ms, tokens }: KeptPass): Part {
  const isValid = outcome === 'valid'
  const name = `${does} by ${backend}${isValid ? '' : ` (${outcome})`}`
  return { kind: isValid ? kindOf(does) : 'failed', ms, tokens, words: describe(name, { ms, tokens }) }
}

const kindOf = (does: string): PartKind => (Object.hasOwn(partKinds, does) ? (does as PartKind) : 'combined')

const describe = (name: string, { ms, tokens }: Cost): string =>
  `${name}: ${formatDuration(ms)}${tokens === null ? '' : `, ${formatCount(tokens)} tokens`}`
