import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Denial, LedgerEntry } from '../../../src/schemas/records.ts'
import type { EarlierFinding, Finding, ReviewResult, Verdict } from '../../../src/schemas/review.ts'
import { writeApproval } from '../../../src/state/approval.ts'
import { endCycle } from '../../../src/state/cycles.ts'
import { appendEvent } from '../../../src/state/ledger.ts'
import { planPath } from '../../../src/state/own-paths.ts'
import { savePass, saveResult, saveSnapshot, writeCounter } from '../../../src/state/revisions.ts'
import { appendDenial, recordSession } from '../../../src/state/sessions.ts'
import { sha256 } from '../../../src/system/sha256.ts'

type KeptRevision = {
  plan: string
  verdict: Verdict
  summary?: string
  findings?: readonly Finding[]
  previous?: readonly EarlierFinding[]
  late?: readonly string[]
  stuck?: readonly string[]
  notices?: readonly string[]
  question?: string
  verification?: 'passed' | 'skipped'
  passes?: readonly KeptPass[]
}

type KeptPass = { does: string; ms: number; tokens: number | null; outcome?: string; why?: string }

export type History = {
  wait: (seconds: number) => void
  event: (entry: LedgerEntry) => Promise<void>
  /** Sent to review, and reviewed; an approval opens the gate. */
  review: (revision: KeptRevision) => Promise<void>
  /** Sent to review in vain. */
  noReview: (plan: string, failure: string, why: string) => Promise<void>
  approveByHand: (reason: string) => Promise<void>
  endCycle: (why: string) => Promise<void>
  session: (id: string, denials: readonly Omit<Denial, 'at'>[]) => void
}

/** Writes reviews into a worktree as the hooks do, by the same store, at times that the caller chooses. */
export function keepHistory(root: string, start: string): History {
  let clock = Date.parse(start)
  let revision = 0
  let current = ''
  const now = (): Date => new Date(clock)
  const wait = (seconds: number): void => {
    clock += seconds * 1000
  }
  const event = (entry: LedgerEntry): Promise<void> => appendEvent(root, entry, now)
  const submit = async (plan: string): Promise<string> => {
    current = plan
    mkdirSync(dirname(join(root, planPath)), { recursive: true })
    writeFileSync(join(root, planPath), plan)
    const bytes = Buffer.from(plan)
    saveSnapshot(root, revision + 1, bytes)
    await event({ type: 'revision-submitted', revision: revision + 1, plan_hash: sha256(bytes) })
    return sha256(bytes)
  }
  return {
    wait,
    event,
    review: async (kept) => {
      const plan_hash = await submit(kept.plan)
      revision += 1
      const passes = kept.passes ?? []
      for (const [index, pass] of passes.entries()) savePass(root, revision, index + 1, passRecord(index + 1, pass))
      wait(passes.reduce((sum, { ms }) => sum + ms, 0) / 1000 + 2)
      const result = resultOf(kept, plan_hash)
      const findings = result.findings.length
      await event({ type: 'reviewed', revision, plan_hash, verdict: kept.verdict, backend: 'codex', findings })
      saveResult(root, revision, result)
      writeCounter(root, revision)
      if (kept.verdict !== 'APPROVED') return
      const verification = result.verification ?? null
      await event({ type: 'approved', revision, plan_hash, route: 'codex', verification })
      writeApproval(root, {
        is_optimal: true,
        plan_hash,
        review_version: revision,
        approved_at: now().toISOString(),
        verification,
        route: 'codex',
      })
    },
    noReview: async (plan, failure, why) => {
      const plan_hash = await submit(plan)
      wait(3)
      await event({ type: 'review-unavailable', plan_hash, failure, why })
    },
    approveByHand: async (reason) => {
      const plan_hash = sha256(Buffer.from(current))
      await event({ type: 'approved-manually', plan_hash, reason })
      writeApproval(root, { is_optimal: true, plan_hash, approved_at: now().toISOString(), route: 'manual', reason })
    },
    endCycle: async (why) => {
      await endCycle(root, why, now)
      revision = 0
    },
    session: (id, denials) => {
      const heartbeat = { session_id: id, client_version: '2.1.326', source: 'startup', cwd: root }
      recordSession(root, heartbeat, now())
      for (const denial of denials) {
        wait(47)
        appendDenial(root, id, denial, now().getTime())
      }
      recordSession(root, heartbeat, now())
    },
  }
}

const passRecord = (pass: number, { does, ms, tokens, outcome = 'valid', why }: KeptPass): object => ({
  pass,
  does,
  backend: 'codex',
  outcome,
  why: why ?? null,
  duration_ms: ms,
  tokens,
  answer: null,
})

function resultOf(kept: KeptRevision, plan_hash: string): ReviewResult {
  const passes = kept.passes ?? []
  return {
    verdict: kept.verdict,
    is_optimal: kept.verdict === 'APPROVED',
    summary: kept.summary ?? `The reviewer says ${kept.verdict}.`,
    question: kept.question ?? null,
    findings: kept.findings ?? [],
    previous_findings: kept.previous ?? [],
    verification: kept.verification ?? null,
    notices: kept.notices ?? [],
    late: kept.late ?? [],
    stuck: kept.stuck ?? [],
    plan_hash,
    pass_metadata: {
      passes_completed: passes.length,
      total_duration_ms: passes.reduce((sum, { ms }) => sum + ms, 0),
      reasoning_mode: passes.length > 1 ? 'multi-pass' : 'single-pass',
      route: 'codex',
      complexity: null,
    },
  }
}
