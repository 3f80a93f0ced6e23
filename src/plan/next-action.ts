import type { PlanState } from '../gate/plan-state.ts'
import { isUsers } from '../review/findings.ts'
import type { NextState } from '../schemas/status.ts'
import { clipEnd } from '../text/clean.ts'

/** Where a worktree stands, as far as it decides what its user does next. */
export type Standing = {
  readonly isInstalled: boolean
  /** A file of the control plane is not as it was installed. */
  readonly damage: string | null
  /** Why the ledger cannot be relied on. */
  readonly ledgerProblem: string | null
  readonly configProblem: string | null
  /** Why the gate stays closed in the last session. */
  readonly closed: string | null
  /** What a tool call did to the approval or the gate, and nobody has answered since. */
  readonly tampering: string | null
  readonly review: { readonly revision: number; readonly backend: string } | null
  /** Changes without an approval; null: none, or not looked for. */
  readonly drift: string | null
  readonly plan: PlanState
  /** The last event about docs/plan.md as it is now; `other`: there is none about these bytes. */
  readonly last:
    | { readonly kind: 'verdict'; readonly revision: number; readonly verdict: string; readonly isLimit: boolean }
    | { readonly kind: 'no-verdict'; readonly failure: string; readonly why: string; readonly remedy: string }
    /** It was sent to review, and nothing came back. */
    | { readonly kind: 'submitted' }
    | { readonly kind: 'other'; readonly reviewed: number | null }
  /** What was said to the user about these bytes. */
  readonly told: string | null
  readonly open: readonly string[]
  readonly question: string | null
}

/** `command`: what the user can type; null: nothing helps but to wait. */
export type NextAction = { readonly state: NextState; readonly text: string; readonly command: string | null }

type Row = {
  readonly state: NextState
  readonly command: string | null
  /** Null where this is not the state. The first row that says something counts. */
  readonly say: (standing: Standing) => string | null
}

const row = (state: NextState, command: string | null, say: Row['say']): Row => ({ state, say, command })

const approveByHand = 'plan-gate approve --force --reason "…"'
const inSession = 'Claude continues in its session'

const rows: readonly Row[] = [
  row('not-installed', 'plan-gate install', ({ isInstalled }) =>
    isInstalled ? null : 'There is no gate here. Open a worktree that has one with `plan-gate bootstrap`.',
  ),
  row('damaged', 'plan-gate doctor', ({ damage }) => damage && `The gate is not intact: ${damage}.`),
  row(
    'damaged',
    'plan-gate doctor',
    ({ ledgerProblem: why }) => why && `What the reviews found, and what you decided, is not certain: ${why}.`,
  ),
  row('invalid-config', 'plan-gate config', ({ configProblem: why }) =>
    why === null ? null : `plan-gate.yaml is not valid, so every change is refused: ${why}`,
  ),
  row('tampered', 'plan-gate log -n 20', ({ tampering }) =>
    tampering === null ? null : `${tampering}. Look at what ran; if it was you, approve with \`${approveByHand}\`.`,
  ),
  row(
    'gate-closed',
    'plan-gate open',
    ({ closed }) => closed && `The gate stays closed in the last session: ${closed}.`,
  ),
  row('reviewing', 'plan-gate watch', ({ review }) =>
    review === null ? null : `Wait for the review: ${review.backend} is reading revision ${review.revision}.`,
  ),
  row('drift', 'plan-gate drift', ({ drift, plan }) =>
    drift === null || plan.kind === 'approved'
      ? null
      : `Changed without an approved plan: ${drift}. Revert that, or accept it: \`plan-gate drift accept\`.`,
  ),
  row('approved', 'plan-gate open', ({ plan }) =>
    plan.kind === 'approved' ? 'The plan is approved: tell Claude to carry it out.' : null,
  ),
  row('no-plan', 'plan-gate open', ({ plan }) =>
    plan.kind === 'missing' ? 'There is no plan yet: tell Claude what you want, and it writes docs/plan.md.' : null,
  ),
  row('limit-reached', 'plan-gate continue', ({ last }) =>
    last.kind === 'verdict' && last.isLimit
      ? `You decide: revision ${last.revision} was the last one that is reviewed. \`plan-gate continue\` allows more, \`plan-gate waive\` drops a finding, \`${approveByHand}\` takes the plan as it is.`
      : null,
  ),
  row('decision-needed', 'plan-gate findings', ({ last, question }) =>
    isVerdict(last, 'DECISION_NEEDED')
      ? `Answer the reviewer’s question in the session${question === null ? '.' : `: ${question}`}`
      : null,
  ),
  row('changes-required', 'plan-gate findings --open', ({ last, open }) =>
    // The user's own hold the plan, whatever was said of it before.
    isVerdict(last, 'CHANGES_REQUIRED') || open.some((id) => isUsers({ id }))
      ? `Claude has to revise the plan: ${open.length === 0 ? 'the reviewer asks for changes' : `${open.slice(0, 8).join(', ')} ${open.length === 1 ? 'is' : 'are'} open`}. ${inSession}; \`plan-gate open\` starts one.`
      : null,
  ),
  row('skipped', approveByHand, ({ last }) =>
    isFailure(last, 'skipped') ? `The plan was not reviewed: ${last.why} Only you can approve it.` : null,
  ),
  row('not-named', approveByHand, ({ last }) =>
    isFailure(last, 'not-named')
      ? `You decide: ${last.why} Have the plan saved again once the first reviewer answers, name the other one under review.routes, or approve.`
      : null,
  ),
  row('cancelled', 'plan-gate open', ({ last }) =>
    last.kind === 'submitted' || isFailure(last, 'cancelled') || isFailure(last, 'outdated')
      ? 'The last review was interrupted and is not counted. Ask Claude to save docs/plan.md again.'
      : null,
  ),
  row('unavailable', 'plan-gate routes', ({ last }) =>
    last.kind === 'no-verdict'
      ? `No reviewer answered (${last.failure}): ${last.why} ${last.remedy} Then ask Claude to save docs/plan.md again.`
      : null,
  ),
  row('checklist', 'plan-gate open', ({ told }) =>
    told === null ? null : `${capital(told.replace(/^plan-gate: /, ''))} ${inSession}; \`plan-gate open\` starts one.`,
  ),
  row('not-reviewed', 'plan-gate open', ({ last }) =>
    last.kind === 'other' && last.reviewed !== null
      ? `docs/plan.md has changed since revision ${last.reviewed} was reviewed. It goes to review when Claude saves it or its turn ends.`
      : 'docs/plan.md is not reviewed yet. It goes to review when Claude saves it or its turn ends.',
  ),
]

/** What the user does next. The only place that decides it: status, the lists of worktrees and others print it. */
export function nextAction(standing: Standing): NextAction {
  for (const { state, say, command } of rows) {
    const text = say(standing)
    if (text !== null) return { state, text: clipEnd(text, 1_000), command }
  }
  throw new Error('the last row always says something')
}

const isVerdict = (last: Standing['last'], verdict: string): boolean =>
  last.kind === 'verdict' && last.verdict === verdict

const isFailure = (
  last: Standing['last'],
  failure: string,
): last is Extract<Standing['last'], { kind: 'no-verdict' }> => last.kind === 'no-verdict' && last.failure === failure

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
