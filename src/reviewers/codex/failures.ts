import { type Classified, classifyBy, type FailureRow, type ReviewProgram } from '../program-failures.ts'

export const codexProgram: ReviewProgram = {
  name: 'Codex',
  install: 'Install it: npm i -g @openai/codex; or use another reviewer.',
  probe: 'codex exec --help',
  reinstall: 'reinstall it with npm i -g @openai/codex',
}

/** null: the message of Codex fits no row. */
export const classifyFailure = (message: string, secrets: readonly string[]): Classified | null =>
  classifyBy(failureTable, message, secrets)

const otherReviewer = 'or use another reviewer'

/** A server's error arrives unchanged, JSON included. */
const failureTable: readonly FailureRow[] = [
  {
    when: /no rollout found for thread/i,
    failure: 'rejected',
    why: 'Codex no longer has this thread',
    nextStep: 'Start a new thread.',
    fallback: 'new-thread',
  },
  {
    when: /already has an active writer/i,
    failure: 'rejected',
    why: 'Another Codex is at work on this thread',
    nextStep: 'Wait until it has ended, or start a new thread.',
    fallback: 'new-thread',
  },
  {
    when: /thread\/resume|\brollout\b.*(empty|parse|read|corrupt|invalid)/i,
    failure: 'rejected',
    why: 'Codex cannot read this thread',
    nextStep: 'Start a new thread.',
    fallback: 'new-thread',
  },
  {
    when: /invalid_json_schema|text\.format|response_format|json_schema|structured outputs?\b/i,
    failure: 'rejected',
    why: 'The form of the answer was not accepted',
    nextStep: `Use another model (review.models), ${otherReviewer}.`,
    fallback: 'no-schema',
  },
  {
    when: /reasoning[._]effort|reasoning effort|"param":\s*"reasoning|'reasoning'/i,
    failure: 'rejected',
    why: 'The model does not take this reasoning effort',
    nextStep: 'Use another model (review.models).',
    fallback: 'no-effort',
  },
  {
    when: /model's context window|context_length_exceeded|context window|maximum context length/i,
    failure: 'rejected',
    why: 'What is to be reviewed, with what the thread holds already, is too long for the model',
    nextStep: 'Review it in parts, or use a model with a larger context (review.models).',
    fallback: 'new-thread',
  },
  {
    when: /input_too_large|exceeds the maximum length|\b413\b/i,
    failure: 'rejected',
    why: 'What is to be reviewed is too long',
    nextStep: 'Review it in parts.',
  },
  {
    when: /usage limit|quota|\b402 Payment|billing|to use Codex with your ChatGPT plan|out of credits|spend(ing)? (cap|limit)/i,
    failure: 'quota',
    why: 'The Codex account has no quota left',
    nextStep: `Wait until the limit is reset, add credit, ${otherReviewer}.`,
  },
  {
    when: /\b429\b|rate.?limit/i,
    failure: 'rate-limited',
    why: 'The service asks for fewer requests',
    nextStep: `Wait a little and try again, ${otherReviewer}.`,
  },
  {
    when: /Missing environment variable/i,
    failure: 'auth',
    why: 'The key that config.toml of Codex names is not set',
    nextStep: `Set that variable where plan-gate is started, ${otherReviewer}.`,
  },
  {
    when: /\b40[13] (Unauthorized|Forbidden)|status 40[13]\b|invalid_api_key|incorrect api key|not (logged|signed) in|(sign|log) in again|codex login|could not be refreshed/i,
    failure: 'auth',
    why: 'The service does not accept the login of Codex',
    nextStep: `Run \`codex login\`, or check OPENAI_API_KEY or CODEX_API_KEY; ${otherReviewer}.`,
  },
  {
    when: /model_not_found|\bmodel\b.{0,120}(does not exist|not found|is not supported|not available|do not have access)/i,
    failure: 'rejected',
    why: 'The model is not available',
    nextStep: 'Name another one: review.models in plan-gate.yaml, or model in config.toml of Codex.',
  },
  {
    when: /invalid.prompt|content_filter|content policy|usage policy|cyber_policy|for safety reasons|flagged/i,
    failure: 'refused',
    why: 'The service refuses what is to be reviewed',
    nextStep: `Look at what it objects to in the text, ${otherReviewer}.`,
  },
  {
    when: /Incomplete response returned/i,
    failure: 'malformed',
    why: 'The answer breaks off',
    nextStep: `Review less at once, ${otherReviewer}.`,
  },
  {
    when: /high demand|at capacity|overloaded|server_error|server had an error|internal server error|slow_down|(status|status:) 5\d\d\b/i,
    failure: 'server',
    why: 'The service failed',
    nextStep: `Try again in a few minutes, ${otherReviewer}.`,
  },
  {
    when: /Connection (failed|refused|reset)|stream (disconnected|closed)|error sending request|network|idle timeout|timed? ?out|\bdns\b|certificate|\btls\b/i,
    failure: 'transport',
    why: 'The service cannot be reached, or its answer breaks off',
    nextStep: 'Check the network, the proxy and the address in config.toml of Codex, then try again.',
  },
  {
    when: /status 404\b/i,
    failure: 'rejected',
    why: 'There is no such service at this address',
    nextStep: 'Check base_url and the model in config.toml of Codex.',
  },
  {
    when: /Not inside a trusted directory|status 4\d\d\b|invalid_request_error|"error"/i,
    failure: 'rejected',
    why: 'The request was not accepted',
    nextStep: `Check the model and the provider in config.toml of Codex, ${otherReviewer}.`,
  },
  {
    when: /Error loading (config|configuration)|config\.toml|CODEX_HOME|codex home/i,
    failure: 'not-installed',
    why: 'Codex cannot read its configuration',
    nextStep: `Correct it in the Codex folder (~/.codex or CODEX_HOME), ${otherReviewer}.`,
  },
  {
    when: /unexpected argument|unrecognized subcommand|invalid value|Unknown feature flag/i,
    failure: 'not-installed',
    why: 'This Codex does not know what it is asked for',
    nextStep: 'Update it: npm i -g @openai/codex@latest.',
  },
  {
    when: /\bnode\b.*(No such file|not found)|command not found/i,
    failure: 'not-installed',
    why: 'Codex cannot start, because `node` is not on PATH',
    nextStep: 'Put node on PATH where plan-gate is started.',
  },
]
