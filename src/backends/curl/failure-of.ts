import type { Failure, FailureClass } from '../../schemas/backend.ts'

export const failureOf = (
  failure: FailureClass,
  why: string,
  more: { readonly nextStep?: string; readonly retryAfterMs?: number | null } = {},
): Failure => ({
  failure,
  why,
  nextStep: more.nextStep ?? nextSteps[failure],
  retryAfterMs: more.retryAfterMs ?? null,
})

const nextSteps: { readonly [failure in FailureClass]: string } = {
  'not-installed': 'Use another reviewer.',
  auth: 'Check OPENAI_API_KEY: whether it is still valid, and for the right organisation or project.',
  quota: 'Add credit or raise the limit in the account of OPENAI_API_KEY, or use another reviewer.',
  'rate-limited': 'Wait a little and save the plan again, or use another reviewer.',
  timeout: 'Try again, raise review.timeout_seconds, or use a faster model (review.models).',
  transport: 'Check the network, the proxy and OPENAI_BASE_URL, then try again.',
  server: 'Try again in a few minutes, or use another reviewer.',
  malformed: 'Try again, or use another model (review.models).',
  refused: 'Look at what the reviewer objects to in the text, or use another reviewer.',
  rejected: 'Check the model under review.models, and whether it takes a text of this length.',
  crashed: 'Try again; if it happens again, use another reviewer and report it.',
  cancelled: 'Start the review again when you are ready.',
}
