import { printable } from '../printable.ts'
import type { BashVerdict } from './judge-command.ts'
import type { Refusal } from './refusal.ts'

/** A refusal in two or three lines: the part, why, and the nearest form that is allowed. */
export function asVerdict(refusal: Refusal | undefined): BashVerdict {
  if (refusal === undefined) return { kind: 'allow' }
  const { rule, part, why, instead } = refusal
  const reason = `\`${printable(part)}\` ${printable(why, 300)} (rule: ${rule}).\n${printable(instead, 300)}`
  return { kind: 'deny', rule, part, reason }
}
