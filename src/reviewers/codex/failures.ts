import {
  type Classified,
  classifyBy,
  commonReasons,
  type FailureRow,
  otherReviewer,
  type ReviewProgram,
  reason,
} from '../program-failures.ts'

export const codexProgram: ReviewProgram = {
  name: 'Codex',
  install: 'Install it: npm i -g @openai/codex; or use another reviewer.',
  update: 'Update it: npm i -g @openai/codex@latest',
  probe: 'codex exec --help',
  reinstall: 'reinstall it with npm i -g @openai/codex',
  model: 'review.models',
  countsThread: true,
}

/** null: the message of Codex fits no row. */
export const classifyFailure = (message: string, secrets: readonly string[]): Classified | null =>
  classifyBy(failureTable, message, secrets)

const common = commonReasons(codexProgram)
const newThread = 'Start a new thread.'
const reasons = {
  lostThread: reason('rejected', 'Codex no longer has this thread', newThread, 'new-thread'),
  busyThread: reason(
    'rejected',
    'Another Codex is at work on this thread',
    'Wait until it has ended, or start a new thread.',
    'new-thread',
  ),
  badThread: reason('rejected', 'Codex cannot read this thread', newThread, 'new-thread'),
  tooLong: reason('rejected', 'What is to be reviewed is too long', 'Review it in parts.'),
  noKey: reason(
    'auth',
    'The key that config.toml of Codex names is not set',
    `Set that variable where plan-gate is started, ${otherReviewer}.`,
  ),
  login: reason(
    'auth',
    'The service does not accept the login of Codex',
    `Run \`codex login\`, or check OPENAI_API_KEY or CODEX_API_KEY; ${otherReviewer}.`,
  ),
  noModel: reason(
    'rejected',
    'The model is not available',
    'Name another one: review.models in plan-gate.yaml, or model in config.toml of Codex.',
  ),
  network: reason(
    'transport',
    'The service cannot be reached, or its answer breaks off',
    'Check the network, the proxy and the address in config.toml of Codex, then try again.',
  ),
  noService: reason(
    'rejected',
    'There is no such service at this address',
    'Check base_url and the model in config.toml of Codex.',
  ),
  request: reason(
    'rejected',
    'The request was not accepted',
    `Check the model and the provider in config.toml of Codex, ${otherReviewer}.`,
  ),
  config: reason(
    'not-installed',
    'Codex cannot read its configuration',
    `Correct it in the Codex folder (~/.codex or CODEX_HOME), ${otherReviewer}.`,
  ),
  noNode: reason(
    'not-installed',
    'Codex cannot start, because `node` is not on PATH',
    'Put node on PATH where plan-gate is started.',
  ),
}

/** A server's error arrives unchanged, JSON included. */
const failureTable: readonly FailureRow[] = [
  [/no rollout found for thread/i, reasons.lostThread],
  [/already has an active writer/i, reasons.busyThread],
  [/thread\/resume|\brollout\b.*(empty|parse|read|corrupt|invalid)/i, reasons.badThread],
  [/invalid_json_schema|text\.format|response_format|json_schema|structured outputs?\b/i, common.schema],
  [/reasoning[._]effort|reasoning effort|"param":\s*"reasoning|'reasoning'/i, common.effort],
  [/model's context window|context_length_exceeded|context window|maximum context length/i, common.fullThread],
  [/input_too_large|exceeds the maximum length|\b413\b/i, reasons.tooLong],
  [
    /usage limit|quota|\b402 Payment|billing|to use Codex with your ChatGPT plan|out of credits|spend(ing)? (cap|limit)/i,
    common.quota,
  ],
  [/\b429\b|rate.?limit/i, common.rateLimit],
  [/Missing environment variable/i, reasons.noKey],
  [
    /\b40[13] (Unauthorized|Forbidden)|status 40[13]\b|invalid_api_key|incorrect api key|not (logged|signed) in|(sign|log) in again|codex login|could not be refreshed/i,
    reasons.login,
  ],
  [
    /model_not_found|\bmodel\b.{0,120}(does not exist|not found|is not supported|not available|do not have access)/i,
    reasons.noModel,
  ],
  [
    /invalid.prompt|content_filter|content policy|usage policy|cyber_policy|for safety reasons|flagged/i,
    common.refused,
  ],
  [/Incomplete response returned/i, common.brokenOff],
  [
    /high demand|at capacity|overloaded|server_error|server had an error|internal server error|slow_down|(status|status:) 5\d\d\b/i,
    common.server,
  ],
  [
    /Connection (failed|refused|reset)|stream (disconnected|closed)|error sending request|network|idle timeout|timed? ?out|\bdns\b|certificate|\btls\b/i,
    reasons.network,
  ],
  [/status 404\b/i, reasons.noService],
  [/Not inside a trusted directory|status 4\d\d\b|invalid_request_error|"error"/i, reasons.request],
  [/Error loading (config|configuration)|config\.toml|CODEX_HOME|codex home/i, reasons.config],
  [/unexpected argument|unrecognized subcommand|invalid value|Unknown feature flag/i, common.tooOld],
  [/\bnode\b.*(No such file|not found)|command not found/i, reasons.noNode],
]
