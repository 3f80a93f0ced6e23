import type { Failure, FailureClass } from '../../schemas/backend.ts'
import { quoteForeign } from '../quote-foreign.ts'

/** How `model-invoke` ended without an answer. */
export type Exit = { readonly exitCode: number; readonly stderr: string; readonly secrets: readonly string[] }

/** The error that it prints as JSON says more than its exit code, which is one and the same for several causes. */
export function readExit({ exitCode, stderr, secrets }: Exit): Failure {
  const error = lastError(stderr)
  const failure = classOf(error, exitCode)
  const said = quoteForeign(error === null ? lastLine(stderr) : error.message, secrets)
  const name = error === null || error.code === '' ? '' : `, ${quoteForeign(error.code, secrets)}`
  return {
    failure,
    why: `model-invoke ended with exit code ${exitCode}${name}.${said === '' ? '' : ` It says: ${said}`}`,
    nextStep: nextSteps[failure] ?? otherwise,
    retryAfterMs: failure === 'rate-limited' ? (error?.retryAfterMs ?? null) : null,
  }
}

/** Whether the model was not found under this name, so that nothing has been asked yet. */
export const isUnknownModel = ({ exitCode, stderr }: Exit): boolean =>
  exitCode === 2 && /unknown (?:alias|model)/i.test(lastError(stderr)?.message ?? stderr)

type PrintedError = { readonly code: string; readonly message: string; readonly retryAfterMs: number | null }

const classOf = (error: PrintedError | null, exitCode: number): FailureClass => {
  // A key that is missing or empty is reported as a wrong configuration.
  if (error?.code === 'INVALID_CONFIG' && /api key|\bauth/i.test(error.message)) return 'auth'
  const code = error?.code ?? ''
  return (Object.hasOwn(byCode, code) ? byCode[code] : undefined) ?? byExitCode[exitCode] ?? 'crashed'
}

const byCode: { readonly [code: string]: FailureClass } = {
  RATE_LIMITED: 'rate-limited',
  PROVIDER_UNAVAILABLE: 'server',
  RETRIES_EXHAUSTED: 'server',
  CHAIN_EXHAUSTED: 'server',
  API_ERROR: 'server',
  CONNECTION_LOST: 'transport',
  TIMEOUT: 'timeout',
  MISSING_API_KEY: 'auth',
  AUTH_REVOKED: 'auth',
  BUDGET_EXCEEDED: 'quota',
  INVALID_RESPONSE: 'malformed',
  EMPTY_CONTENT: 'malformed',
  INVALID_INPUT: 'rejected',
  INVALID_CONFIG: 'rejected',
  NATIVE_RUNTIME_REQUIRED: 'rejected',
  NO_ELIGIBLE_ADAPTER: 'rejected',
  CONTEXT_TOO_LARGE: 'rejected',
  CHUNKING_EXCEEDED: 'rejected',
}

const byExitCode: { readonly [exitCode: number]: FailureClass } = {
  1: 'server',
  2: 'rejected',
  3: 'timeout',
  4: 'auth',
  5: 'malformed',
  6: 'quota',
  7: 'rejected',
  /** It went on by itself, to be asked for later. */
  8: 'malformed',
  11: 'rejected',
  12: 'server',
  13: 'rejected',
  /** Of the shell: what the script would run cannot be run, or is not there. */
  126: 'not-installed',
  127: 'not-installed',
}

const otherwise = 'Run model-invoke by hand to see what is wrong, or use another reviewer.'

const nextSteps: { readonly [failure in FailureClass]?: string } = {
  'not-installed': 'Install what model-invoke needs to run, or use another reviewer.',
  auth: 'Set the API key that model-invoke is configured for, or use another reviewer.',
  quota: 'Raise the budget in the configuration of model-invoke, or use another reviewer.',
  'rate-limited': 'Wait a little and try again, or use another reviewer.',
  timeout: 'Try again, or raise review.timeout_seconds.',
  rejected: 'Check the agent and the model that model-invoke is configured for, and the length of the text.',
}

/** Among the lines of its log; the last one is what it ended with. */
function lastError(stderr: string): PrintedError | null {
  const lines = stderr.slice(-200_000).split('\n').filter(mayBeError)
  for (const line of lines.slice(-mostTried).reverse()) {
    const error = asError(line)
    if (error !== null) return error
  }
  return null
}

/** Each line that is no JSON after all costs an exception. */
const mostTried = 500
const mayBeError = (line: string): boolean => /^\s*\{.*"(?:code|error)"/.test(line)

function asError(line: string): PrintedError | null {
  const value = parse(line)
  if (value === null || (value.code === undefined && value.error === undefined)) return null
  const message = [value.message, value.error].find((text) => typeof text === 'string') ?? ''
  const seconds = value.retry_after
  return {
    code: typeof value.code === 'string' ? value.code : '',
    message: String(message),
    retryAfterMs: isWait(seconds) ? Math.round(seconds * 1_000) : null,
  }
}

const isWait = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value < 1e9

function parse(line: string): { readonly [key: string]: unknown } | null {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as { [key: string]: unknown }) : null
  } catch {
    return null
  }
}

const lastLine = (text: string): string => text.trimEnd().slice(-4_000).split('\n').at(-1) ?? ''
