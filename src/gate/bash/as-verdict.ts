import { printable } from '../printable.ts'
import type { BashVerdict } from './judge-command.ts'
import type { Refusal } from './refusal.ts'

/** A refusal in two or three lines: the part, why, and the nearest form that is allowed. */
export function asVerdict(refusal: Refusal | undefined): BashVerdict {
  if (refusal === undefined) return { kind: 'allow' }
  const { rule, part, why, instead } = refusal
  return { kind: 'deny', rule, part, reason: `\`${printable(part)}\` ${why} (rule: ${rule}).\n${instead}` }
}
