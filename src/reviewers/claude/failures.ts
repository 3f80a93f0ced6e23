import type { Failure } from '../../schemas/review.ts'
import {
  type Classified,
  classifyBy,
  commonReasons,
  type FailureRow,
  otherReviewer,
  type ReviewProgram,
  reason,
} from '../program-failures.ts'

export const claudeProgram: ReviewProgram = {
  name: 'Claude',
  install: 'Install it: npm i -g @anthropic-ai/claude-code; or use another reviewer.',
  update: 'Update it: claude update',
  probe: 'claude --help',
  reinstall: 'reinstall it with npm i -g @anthropic-ai/claude-code',
  model: 'model of the row',
  countsThread: false,
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

const common = commonReasons(claudeProgram)
const reasons = {
  lostThread: reason('rejected', 'Claude no longer has this session', 'Start a new thread.', 'new-thread'),
  form: reason(
    'malformed',
    'The answer does not have the form that was asked for',
    `Use another model (model of the row), ${otherReviewer}.`,
  ),
  login: reason(
    'auth',
    'The service does not accept the login of Claude Code',
    `Run \`claude\` and log in (/login), or check ANTHROPIC_API_KEY; ${otherReviewer}.`,
  ),
  noModel: reason(
    'rejected',
    'The model is not available',
    'Name another one: model of the row for claude in plan-gate.yaml, or ANTHROPIC_MODEL.',
  ),
  network: reason(
    'transport',
    'The service cannot be reached, or its answer breaks off',
    'Check the network, the proxy and ANTHROPIC_BASE_URL, then try again.',
  ),
  request: reason('rejected', 'The request was not accepted', `Check the model of the row, ${otherReviewer}.`),
}

/** Matched with the kind, the status, the reason and the text, in this order. */
const failureTable: readonly FailureRow[] = [
  [/No conversation found|not a UUID|session .{0,60}(already in use|is running)/i, reasons.lostThread],
  [/^\S+ \S+ (structured_output_retry_exhausted|error_max_structured_output_retries)/, reasons.form],
  [/^\S+ \S+ prompt_too_long|prompt is too long|context window|^\S+ 413 /i, common.fullThread],
  [/^\S+ (400|-) .*(input_schema|json.?schema|output_format|output_config\.format)/i, common.schema],
  [/^\S+ 400 .*\beffort\b/i, common.effort],
  [
    /^billing_error|^\S+ 402 |credit balance|spend(ing)? limit|(hit|reached) your .{0,40}limit|limit reached|limit .{0,20}resets|out of .{0,20}(credits|usage)/i,
    common.quota,
  ],
  [/^authentication_failed|^oauth_org_not_allowed|^\S+ 40[13] |not logged in|\/login\b/i, reasons.login],
  [/^rate_limit|^overloaded|^\S+ (429|529) /, common.rateLimit],
  [/^model_not_found|^\S+ 404 /, reasons.noModel],
  [/safeguards flagged|usage policy|legal\/aup|safety reasons/i, common.refused],
  [/^\S+ 5\d\d /, common.server],
  [
    /^server_error -|connection (lost|dropped|refused|failed|reset)|empty or malformed response|JSON parse error|\b(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|CERT)|certificate|\btls\b/i,
    reasons.network,
  ],
  [/unknown option|option .{0,60}argument .{0,60}is invalid/i, common.tooOld],
  [/^max_output_tokens|^\S+ \S+ (error_max_turns|max_turns|max_output_tokens)/, common.brokenOff],
  [/^invalid_request|^\S+ 4\d\d /, reasons.request],
]
