import type { EarlierFinding } from '../../schemas/review-result.ts'
import { wordsIn } from './compare-problems.ts'
import { earlierId } from './earlier-id.ts'

type Said = {
  /** What the reviewer reports now. */
  readonly findings: readonly { readonly id: string | null }[]
  readonly statuses: readonly EarlierFinding[]
  /** What it comes to when the reviewer says nothing about it. */
  readonly inSilence: Omit<EarlierFinding, 'id'>
}

/**
 * What became of an earlier finding. It is open until the reviewer says that it is fixed, or gives a reason for dropping
 * it; one that is reported again is open whatever its status says, and of two statuses the one that calls it open counts.
 */
export function findingStatus(id: string, { findings, statuses, inSilence }: Said): EarlierFinding {
  const said = statuses.filter((entry) => earlierId(entry.id, new Set([id])) !== null)
  const [open, rejected, fixed] = (['not_fixed', 'rejected', 'fixed'] as const).map((status) =>
    said.find((entry) => entry.status === status),
  )
  const is = (status: EarlierFinding['status'], reason: string): EarlierFinding => ({ id, status, reason })
  const why = open?.reason.trim() ?? ''
  if (findings.some((finding) => finding.id === id)) return is('not_fixed', why || 'It is reported again.')
  if (open !== undefined) return is('not_fixed', why)
  if (rejected !== undefined)
    return wordsIn(rejected.reason).length >= wordsOfAReason
      ? is('rejected', rejected.reason.trim())
      : is('not_fixed', 'The reviewer dropped it without a reason.')
  return fixed === undefined ? { id, ...inSilence } : is('fixed', fixed.reason.trim())
}

/** A word like "ok" is no reason for dropping a finding. */
const wordsOfAReason = 3
