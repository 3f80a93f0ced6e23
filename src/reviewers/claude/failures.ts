import type { Failure } from '../../schemas/review.ts'
import { type Classified, classifyBy, type FailureRow, type ReviewProgram } from '../program-failures.ts'

export const claudeProgram: ReviewProgram = {
  name: 'Claude',
  install: 'Install it: npm i -g @anthropic-ai/claude-code; or use another reviewer.',
  probe: 'claude --help',
  reinstall: 'reinstall it with npm i -g @anthropic-ai/claude-code',
}

/** An error as Claude Code reports it; what it has a name or a number for is not read from its words. */
export type ClaudeError = {
  /** `rate_limit`, `authentication_failed` …, of the message that stands for the error. */
  readonly kind: string | null
  /** Of HTTP. */
  readonly status: number | null
  /** `terminal_reason`, or the subtype of the result. */
  readonly reason: string | null
  readonly text: string
  readonly retryAfterMs: number | null
}

/** null: it fits no row. */
export function classifyError(
  { kind, status, reason, text, retryAfterMs }: ClaudeError,
  secrets: readonly string[],
): Classified | null {
  const known = classifyBy(failureTable, `${kind ?? '-'} ${status ?? '-'} ${reason ?? '-'} ${text}`, secrets, text)
  if (known === null || known.failure.failure !== 'rate-limited') return known
  const failure: Failure = { ...known.failure, retryAfterMs: retryAfterMs ?? known.failure.retryAfterMs }
  return { ...known, failure }
}

const otherReviewer = 'or use another reviewer'

/** Matched with the kind, the status, the reason and the text, in this order. */
const failureTable: readonly FailureRow[] = [
  {
    when: /No conversation found|not a UUID|session .{0,60}(already in use|is running)/i,
    failure: 'rejected',
    why: 'Claude no longer has this session',
    nextStep: 'Start a new thread.',
    fallback: 'new-thread',
  },
  {
    when: /^\S+ \S+ (structured_output_retry_exhausted|error_max_structured_output_retries)/,
    failure: 'malformed',
    why: 'The answer does not have the form that was asked for',
    nextStep: `Use another model (model of the row), ${otherReviewer}.`,
  },
  {
    when: /^\S+ \S+ prompt_too_long|prompt is too long|context window|^\S+ 413 /i,
    failure: 'rejected',
    why: 'What is to be reviewed, with what the thread holds already, is too long for the model',
    nextStep: 'Review it in parts, or use a model with a larger context (model of the row).',
    fallback: 'new-thread',
  },
  {
    when: /^\S+ (400|-) .*(input_schema|json.?schema|output_format|output_config\.format)/i,
    failure: 'rejected',
    why: 'The form of the answer was not accepted',
    nextStep: `Use another model (model of the row), ${otherReviewer}.`,
    fallback: 'no-schema',
  },
  {
    when: /^\S+ 400 .*\beffort\b/i,
    failure: 'rejected',
    why: 'The model does not take this reasoning effort',
    nextStep: 'Use another model (model of the row).',
    fallback: 'no-effort',
  },
  {
    when: /^billing_error|^\S+ 402 |credit balance|spend(ing)? limit|(hit|reached) your .{0,40}limit|limit reached|limit .{0,20}resets|out of .{0,20}(credits|usage)/i,
    failure: 'quota',
    why: 'The Claude account has no quota left',
    nextStep: `Wait until the limit is reset, add credit, ${otherReviewer}.`,
  },
  {
    when: /^authentication_failed|^oauth_org_not_allowed|^\S+ 40[13] |not logged in|\/login\b/i,
    failure: 'auth',
    why: 'The service does not accept the login of Claude Code',
    nextStep: `Run \`claude\` and log in (/login), or check ANTHROPIC_API_KEY; ${otherReviewer}.`,
  },
  {
    when: /^rate_limit|^overloaded|^\S+ (429|529) /,
    failure: 'rate-limited',
    why: 'The service asks for fewer requests',
    nextStep: `Wait a little and try again, ${otherReviewer}.`,
  },
  {
    when: /^model_not_found|^\S+ 404 /,
    failure: 'rejected',
    why: 'The model is not available',
    nextStep: 'Name another one: model of the row for claude in plan-gate.yaml, or ANTHROPIC_MODEL.',
  },
  {
    when: /safeguards flagged|usage policy|legal\/aup|safety reasons/i,
    failure: 'refused',
    why: 'The service refuses what is to be reviewed',
    nextStep: `Look at what it objects to in the text, ${otherReviewer}.`,
  },
  {
    when: /^\S+ 5\d\d /,
    failure: 'server',
    why: 'The service failed',
    nextStep: `Try again in a few minutes, ${otherReviewer}.`,
  },
  {
    when: /^server_error -|connection (lost|dropped|refused|failed|reset)|empty or malformed response|JSON parse error|\b(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|CERT)|certificate|\btls\b/i,
    failure: 'transport',
    why: 'The service cannot be reached, or its answer breaks off',
    nextStep: 'Check the network, the proxy and ANTHROPIC_BASE_URL, then try again.',
  },
  {
    when: /unknown option|option .{0,60}argument .{0,60}is invalid/i,
    failure: 'not-installed',
    why: 'This Claude Code does not know what it is asked for',
    nextStep: `Update it: claude update; ${otherReviewer}.`,
  },
  {
    when: /^max_output_tokens|^\S+ \S+ (error_max_turns|max_turns|max_output_tokens)/,
    failure: 'malformed',
    why: 'The answer breaks off',
    nextStep: `Review less at once, ${otherReviewer}.`,
  },
  {
    when: /^invalid_request|^\S+ 4\d\d /,
    failure: 'rejected',
    why: 'The request was not accepted',
    nextStep: `Check the model of the row, ${otherReviewer}.`,
  },
]
