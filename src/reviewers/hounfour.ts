import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Answer, AskContext, AskReviewer, Failure, FailureClass, Question } from '../schemas/review.ts'
import { type GroupOutcome, quoteForeign, runInGroup, withoutSecrets } from './process.ts'

export type HounfourSetup = {
  /** `model-invoke`: a path, or a name on the PATH of `env`. */
  readonly program: string
  readonly agent: string
  /** All of the program's environment: where it finds its keys. */
  readonly env: NodeJS.ProcessEnv
  /** Where it runs, and finds its configuration. */
  readonly cwd: string
  /** A folder for the files that it reads; null for the system's own. */
  readonly scratch: string | null
  readonly maxOutputBytes?: number
}

/** A `model-invoke` executable, which has keys, models and retries of its own. */
export const hounfourReviewer =
  (setup: HounfourSetup): AskReviewer =>
  async (question, context) => {
    const notices =
      question.effort === null
        ? []
        : [`Reasoning effort ${question.effort} was left out: model-invoke has no such setting.`]
    const texts = { 'system.md': question.system, 'input.md': question.user }
    try {
      const answer = await withPrivateFiles(setup.scratch, texts, (pathOf) =>
        ask(setup, question, context, { system: pathOf('system.md'), input: pathOf('input.md') }),
      )
      return { ...answer, notices: [...notices, ...answer.notices] }
    } catch (error) {
      return failed({
        failure: 'crashed',
        why: `What model-invoke should read could not be written: ${quoteForeign(String(error), [])}`,
        nextStep: 'Make room in the folder for temporary files, or use another reviewer.',
        retryAfterMs: null,
      })
    }
  }

type Files = { readonly system: string; readonly input: string }

/**
 * It takes an alias of its own or `provider:model`. A bare name of OpenAI's, such as configurations of plan-gate hold,
 * is tried as an alias first, so that what the user has bound to it counts; that costs no call to a model.
 */
async function ask(setup: HounfourSetup, question: Question, context: AskContext, files: Files): Promise<Answer> {
  const { timeoutMs } = question
  const startedAt = performance.now()
  const first = await run(setup, context, files, question.model, timeoutMs)
  const exit = exitOf(first, secretsIn(setup.env))
  const { model } = question
  if (model === null || model.includes(':') || exit === null || !isUnknownModel(exit))
    return answerFrom(first, setup, model)
  const left = timeoutMs - (performance.now() - startedAt)
  const second = await run(setup, context, files, `openai:${model}`, left)
  const answer = answerFrom(second, setup, `openai:${model}`)
  return { ...answer, notices: [`model-invoke does not know ${model}; it was asked for openai:${model}.`] }
}

function run(
  setup: HounfourSetup,
  { signal, onProgress }: AskContext,
  files: Files,
  model: string | null,
  timeoutMs: number,
): Promise<GroupOutcome> {
  onProgress('waiting for model-invoke')
  const { agent } = setup
  return runInGroup(
    setup.program,
    modelInvokeArgs({ agent, inputFile: files.input, systemFile: files.system, model, timeoutMs }),
    {
      cwd: setup.cwd,
      env: setup.env,
      input: '',
      timeoutMs,
      // It says nothing until the model has finished.
      silenceMs: null,
      signal,
      onLine: (_, stream) => {
        onProgress(stream === 'stdout' ? 'answering' : 'model-invoke is at work')
        return undefined
      },
      maxOutputBytes: maxBytesOf(setup),
    },
  )
}

const maxBytesOf = ({ maxOutputBytes }: HounfourSetup): number => maxOutputBytes ?? 20 * 1024 * 1024

const exitOf = (outcome: GroupOutcome, secrets: readonly string[]): Exit | null =>
  outcome.kind === 'ended' && outcome.exitCode !== 0 ? { ...outcome, secrets } : null

function answerFrom(outcome: GroupOutcome, setup: HounfourSetup, model: string | null): Answer {
  const secrets = secretsIn(setup.env)
  switch (outcome.kind) {
    case 'ended':
      return outcome.exitCode === 0
        ? answerIn(outcome.stdout, outcome.truncated && isFull(outcome.stdout, setup), model, secrets)
        : failed(readExit({ ...outcome, secrets }))
    case 'timed-out':
    case 'silent':
      return failed({
        failure: 'timeout',
        why: `model-invoke did not finish within ${Math.round(outcome.afterMs / 1_000)} s and was ended.`,
        nextStep: 'Try again, or raise review.timeout_seconds.',
        retryAfterMs: null,
      })
    case 'cancelled':
      return failed({
        failure: 'cancelled',
        why: 'The review was stopped.',
        nextStep: 'Start the review again when you are ready.',
        retryAfterMs: null,
      })
    case 'killed-by':
    case 'stopped':
      return failed({
        failure: 'crashed',
        why: `model-invoke was ended from outside${outcome.kind === 'killed-by' ? ` (${outcome.signal})` : ''}.`,
        nextStep: 'Try again, or use another reviewer.',
        retryAfterMs: null,
      })
    case 'not-found':
      return failed(notInstalled(setup.program, 'there is no such program'))
    case 'not-started':
      return failed(notInstalled(setup.program, quoteForeign(outcome.why, secrets)))
  }
}

const notInstalled = (program: string, why: string): Failure => ({
  failure: 'not-installed',
  why: `${program} could not be started: ${why}.`,
  nextStep: 'Install model-invoke and put it on PATH, or use another reviewer.',
  retryAfterMs: null,
})

function answerIn(text: string, isCut: boolean, model: string | null, secrets: readonly string[]): Answer {
  if (isCut) return unusable('malformed', 'The answer of model-invoke is larger than any review.')
  if (text.trim() === '') return unusable('malformed', 'model-invoke gave an empty answer.')
  if (isUnread(text))
    return unusable('rejected', 'The text is longer than what model-invoke gives to its model in one piece.')
  return { kind: 'answered', text: withoutSecrets(text, secrets), usage: null, model, thread: null, notices: [] }
}

/** A text over the model's limit is split, and what comes back then has no findings, because nobody has looked. */
function isUnread(text: string): boolean {
  if (!text.trimStart().startsWith('{') || !text.includes('"chunked"')) return false
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && 'chunked' in value && value.chunked === true
  } catch {
    return false
  }
}

const unusable = (failure: 'malformed' | 'rejected', why: string): Answer =>
  failed({
    failure,
    why,
    nextStep:
      failure === 'rejected'
        ? 'Shorten what is reviewed, or use another reviewer.'
        : 'Try again, or use another reviewer.',
    retryAfterMs: null,
  })

/** A character that was cut in two leaves less than the limit. */
const isFull = (stdout: string, setup: HounfourSetup): boolean => Buffer.byteLength(stdout) > maxBytesOf(setup) - 4

const secretsIn = (env: NodeJS.ProcessEnv): string[] =>
  Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && /(?:KEY|TOKEN|SECRET|PASSWORD)(?:_?\d+)?$/i.test(name) ? [value] : [],
  )

const failed = (failure: Failure): Answer => ({ kind: 'failed', ...failure, thread: null, notices: [] })

type ModelInvoke = {
  readonly agent: string
  readonly inputFile: string
  readonly systemFile: string
  /** null: the one that the agent is bound to. */
  readonly model: string | null
  readonly timeoutMs: number
}

/** What is asked stands in the two files: other users of the machine can read a command line. */
const modelInvokeArgs = ({ agent, inputFile, systemFile, model, timeoutMs }: ModelInvoke): string[] => [
  ...['--agent', agent],
  ...['--input', inputFile],
  ...['--system', systemFile],
  ...(model === null ? [] : ['--model', model]),
  ...['--output-format', 'text'],
  '--json-errors',
  ...['--timeout', String(Math.max(1, Math.floor(timeoutMs / 1_000)))],
]

/** How `model-invoke` ended without an answer. */
type Exit = { readonly exitCode: number; readonly stderr: string; readonly secrets: readonly string[] }

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

/** Writes texts where only this user can read them, for as long as an act lasts. */
async function withPrivateFiles<Name extends string, T>(
  scratch: string | null,
  texts: { readonly [name in Name]: string },
  act: (pathOf: (name: Name) => string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(scratch ?? tmpdir(), 'plan-gate-ask-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  process.once('exit', remove)
  try {
    for (const [name, text] of Object.entries<string>(texts))
      writeFileSync(join(folder, name), text, { mode: 0o600, flag: 'wx' })
    return await act((name) => join(folder, name))
  } finally {
    process.off('exit', remove)
    remove()
  }
}
