import type { AttemptBudget } from '../routes/attempt-budget.ts'
import { describeRoutes } from '../routes/canonical-table.ts'
import { exitCodeOf } from '../routes/exit-code-of.ts'
import { mainFailure } from '../routes/main-failure.ts'
import type { Route } from '../routes/route.ts'
import { type Attempt, runRoutes } from '../routes/run-routes.ts'
import type { ReviewResult } from '../schemas/review-result.ts'
import { endIterations, skipReview } from './answer-without-asking.ts'
import { askPass } from './ask-pass.ts'
import { chooseModel } from './choose-model.ts'
import { measureContent } from './complexity/measure-content.ts'
import { countTokensNear } from './count-tokens-near.ts'
import { numberFindings } from './findings/number-findings.ts'
import { prepareMaterial } from './prepare-material.ts'
import type { ReviewDependencies, ReviewOutcome, ReviewRequest, ReviewSettings } from './review-request.ts'
import { type PassesOutcome, runPasses } from './run-passes.ts'

/**
 * The way of every review, of a plan, of code or of a document: what needs no reviewer is answered at once; otherwise
 * secrets are blanked, the route table says who is asked, and the passes go as deep as the matter needs.
 */
export async function reviewContent(
  request: ReviewRequest,
  { review, table, maxIterations }: ReviewSettings,
  effects: ReviewDependencies,
): Promise<ReviewOutcome> {
  const skipped = skipReview(request, review)
  if (skipped !== null) return { kind: 'reviewed', result: skipped, lastId: request.lastId, earlier: [] }

  const startedAt = effects.now()
  const timeLeftMs = (): number => startedAt + request.totalMs - effects.now()
  const notices = new Set<string>(table.notices)
  const notice = (text: string): void => {
    if (notices.has(text)) return
    notices.add(text)
    effects.tell({ kind: 'notice', text })
  }
  const trace = (line: string): void => effects.tell({ kind: 'trace', line })

  const prepared = prepareMaterial(request, review.sensitive_files, effects)
  if (prepared.kind === 'failed') return unavailable(prepared.why, notices)
  const { earlier } = prepared.material
  const ended = endIterations({ iteration: request.iteration, earlier }, maxIterations)
  if (ended !== null) return { kind: 'reviewed', result: ended, lastId: request.lastId, earlier }

  for (const line of describeRoutes(table)) trace(line)
  for (const text of prepared.notices) notice(text)
  const measure = measureContent(request.type, prepared.material.content, effects.readChanges)
  // What it costs to resume is paid once: a thread that took another's place stays for the rest of the review.
  let thread = request.thread

  const attempt = async (route: Route, budget: AttemptBudget): Promise<Attempt<Served>> => {
    const passTimeoutMs = route.timeoutMs ?? request.passTimeoutMs
    const outcome = await runPasses(
      {
        multipass: review.multipass,
        measure,
        single: whySingle(request, review, route, notice),
        thread,
        passTimeoutMs,
      },
      {
        ask: (question) =>
          askPass({
            question,
            material: prepared.material,
            model: chooseModel(request.type, route.backend, review.models),
            root: rootFor(request, route, notice),
            budgets: review.multipass.budgets,
            sensitiveFiles: review.sensitive_files,
            route,
            budget,
            passTimeoutMs,
            timeLeftMs,
            notice,
            keepThread: (after) => {
              thread = { kind: 'resume', id: after.id, used: after.used }
              effects.keepThread(after)
            },
            effects,
          }),
        countTokens: (text, near) => countTokensNear(text, near, effects.tokenizer),
        timeLeftMs,
        notice,
      },
    )
    return outcome.kind === 'failed' ? { ...outcome, kind: 'failure' } : { kind: 'success', value: { outcome, route } }
  }

  const routed = await runRoutes(table, {
    facts: effects.facts,
    attempt,
    timeLeftMs,
    maxAttempts: review.policy.max_attempts,
    trace,
    isCancelled: () => effects.signal.aborted,
  })
  if (routed.kind === 'unserved')
    return { kind: 'unavailable', exitCode: exitCodeOf(routed), notices: [...notices], ...mainFailure(routed) }
  return finish(routed.value, { ...request, earlier }, [...notices], effects.now() - startedAt, review)
}

/** Why a review by this row is to be a single pass; null when it is not. */
function whySingle(
  { fast }: ReviewRequest,
  review: ReviewSettings['review'],
  { backend, capabilities }: Route,
  notice: (text: string) => void,
): string | null {
  if (fast || review.fast) return 'asked for with --fast or review.fast'
  if (review.reasoning_mode === 'single-pass') return 'review.reasoning_mode is single-pass'
  if (capabilities.includes('multi_pass')) return null
  notice(`The row for ${backend} lacks the capability multi_pass, so there is a single pass.`)
  return `${backend} lacks the capability multi_pass`
}

/** Where the reviewer may look. One that cannot is not told that it may. */
function rootFor(
  { root }: ReviewRequest,
  { backend, capabilities }: Route,
  notice: (text: string) => void,
): string | null {
  if (root === null || capabilities.includes('tool_access')) return root
  // The checklist looks by itself.
  if (backend !== 'checklist')
    notice(`The row for ${backend} lacks the capability tool_access, so the reviewer sees only what it is sent.`)
  return null
}

type Served = { readonly outcome: PassesOutcome & { kind: 'answered' }; readonly route: Route }

function finish(
  { outcome, route }: Served,
  request: ReviewRequest,
  notices: readonly string[],
  tookMs: number,
  review: ReviewSettings['review'],
): ReviewOutcome {
  const { answer, verification, complexity, tokens, mode } = outcome
  const previous = answer.previous_findings
  const { findings, lastId } = numberFindings({
    answered: answer.findings,
    earlier: request.earlier,
    statuses: previous,
    lastId: request.lastId,
  })
  const result: ReviewResult = {
    verdict: answer.verdict,
    is_optimal: answer.verdict === 'APPROVED',
    summary: answer.summary,
    question: answer.question,
    findings,
    previous_findings: previous,
    verification,
    iteration: request.iteration,
    notices,
    pass_metadata: {
      passes_completed: tokens.length,
      pass1_tokens: tokens[0] ?? null,
      pass2_tokens: tokens[1] ?? null,
      pass3_tokens: tokens[2] ?? null,
      total_duration_ms: Math.round(tookMs),
      reasoning_mode: mode,
      route: route.backend,
      model: chooseModel(request.type, route.backend, review.models),
      complexity,
    },
  }
  return { kind: 'reviewed', result, lastId, earlier: request.earlier }
}

/** Secrets could not be blanked: then nothing leaves, and nothing is kept. */
const unavailable = (why: string, notices: ReadonlySet<string>): ReviewOutcome => ({
  kind: 'unavailable',
  exitCode: 2,
  notices: [...notices],
  failure: 'rejected',
  why,
  nextStep: 'Mend review.redaction.patterns in plan-gate.yaml.',
  retryAfterMs: null,
})
