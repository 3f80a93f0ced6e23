/** A `model-invoke` executable, which has keys, models and retries of its own. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Answer, AskContext, AskReviewer, Failure, FailureClass, Question } from '../schemas/review.ts'
import { withTemporaryFolder } from '../system/temporary-folder.ts'
import { countOf, parseRecord, textOf } from '../text/json.ts'
import { failedAnswer, failureOf, failureOfOutcome, quoteForeign, secretsIn, withoutSecrets } from './failure.ts'
import { type GroupOutcome, runInGroup } from './process.ts'
import { schemaInWords } from './program.ts'

export type HounfourSetup = {
  /** `model-invoke`: a path, or a name on the PATH of `env`. */
  readonly program: string
  readonly agent: string
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  /** The parent of the folder for its input files; null: the system's own. */
  readonly scratch: string | null
  readonly maxOutputBytes?: number
}

const words = { name: 'model-invoke', install: 'it has to be on PATH', probe: 'model-invoke --help' }

/**
 * model-invoke takes an alias of its own or `provider:model`. A bare name of OpenAI's, such as configurations of
 * plan-gate hold, is tried as an alias first, so that the user's binding counts; that costs no call to a model.
 */
export const hounfourReviewer =
  (setup: HounfourSetup): AskReviewer =>
  async (question, context) => {
    const { effort, model, timeoutMs } = question
    const notices =
      effort === null ? [] : [`Reasoning effort ${effort} was left out: model-invoke has no such setting.`]
    const ask = async (folder: string): Promise<Answer> => {
      const files = writeInput(folder, question)
      const startedAt = performance.now()
      const first = await run(setup, context, files, model, timeoutMs)
      const isUnknown = first.kind === 'ended' && isUnknownModel(first)
      if (model === null || model.includes(':') || !isUnknown) return { ...answerFrom(first, setup, model), notices }
      const named = `openai:${model}`
      const second = await run(setup, context, files, named, timeoutMs - (performance.now() - startedAt))
      const instead = `model-invoke does not know ${model}; it was asked for ${named}.`
      return { ...answerFrom(second, setup, named), notices: [...notices, instead] }
    }
    try {
      return await withTemporaryFolder('ask', ask, setup.scratch)
    } catch (error) {
      const why = `The input of model-invoke could not be written: ${quoteForeign(String(error), [])}`
      const nextStep = 'Free space in the folder for temporary files, or use another reviewer.'
      return failedAnswer(failureOf('crashed', why, nextStep))
    }
  }

type InputFiles = { readonly system: string; readonly input: string }

/** Other users of the machine can read a command line. */
function writeInput(folder: string, { system, user, schema }: Question): InputFiles {
  const files = { system: join(folder, 'system.md'), input: join(folder, 'input.md') }
  writeFileSync(files.system, system, { mode: 0o600, flag: 'wx' })
  // It takes no schema.
  const input = schema === null ? user : `${user}\n\n${schemaInWords(schema)}`
  writeFileSync(files.input, input, { mode: 0o600, flag: 'wx' })
  return files
}

function run(
  setup: HounfourSetup,
  { signal, onProgress }: AskContext,
  { system, input }: InputFiles,
  model: string | null,
  timeoutMs: number,
): Promise<GroupOutcome> {
  onProgress('waiting for model-invoke')
  const args = [
    ...['--agent', setup.agent, '--input', input, '--system', system],
    ...(model === null ? [] : ['--model', model]),
    ...['--output-format', 'text', '--json-errors'],
    ...['--timeout', String(Math.max(1, Math.floor(timeoutMs / 1_000)))],
  ]
  return runInGroup(setup.program, args, {
    ...{ cwd: setup.cwd, env: setup.env, input: '', timeoutMs, signal, maxOutputBytes: maxBytesOf(setup) },
    // It prints nothing until the model has finished.
    silenceMs: null,
    onLine: (_, stream) => {
      onProgress(stream === 'stdout' ? 'answering' : 'model-invoke is at work')
      return undefined
    },
  })
}

const maxBytesOf = ({ maxOutputBytes }: HounfourSetup): number => maxOutputBytes ?? 20 * 1024 * 1024

function answerFrom(outcome: GroupOutcome, setup: HounfourSetup, model: string | null): Answer {
  const secrets = secretsIn(setup.env)
  if (outcome.kind !== 'ended') return failedAnswer(failureOfOutcome(words, outcome, secrets))
  if (outcome.exitCode !== 0) return failedAnswer(readExit({ ...outcome, secrets }))
  const text = outcome.stdout
  // A character that was cut in two leaves less than the limit.
  if (outcome.truncated && Buffer.byteLength(text) > maxBytesOf(setup) - 4)
    return failedAnswer(failureOf('malformed', 'The answer of model-invoke is larger than any review.'))
  if (text.trim() === '') return failedAnswer(failureOf('malformed', 'model-invoke gave an empty answer.'))
  // It splits a text over the model's limit, and then returns no findings because no model has read it.
  if (text.trimStart().startsWith('{') && text.includes('"chunked"') && parseRecord(text)?.chunked === true) {
    const why = 'The text is longer than what model-invoke gives to its model in one piece.'
    return failedAnswer(failureOf('rejected', why, 'Shorten what is reviewed, or use another reviewer.'))
  }
  return { kind: 'answered', text: withoutSecrets(text, secrets), usage: null, model, thread: null, notices: [] }
}

type FailedExit = { readonly exitCode: number; readonly stderr: string }

/** The error that it prints as JSON is more exact than its exit code, which several causes share. */
export function readExit({ exitCode, stderr, secrets }: FailedExit & { readonly secrets: readonly string[] }): Failure {
  const error = lastError(stderr)
  const failure = classifyExit(error, exitCode)
  const lastLine = stderr.trimEnd().slice(-4_000).split('\n').at(-1) ?? ''
  const quote = quoteForeign(error === null ? lastLine : error.message, secrets)
  const name = error === null || error.code === '' ? '' : `, ${quoteForeign(error.code, secrets)}`
  const why = `model-invoke ended with exit code ${exitCode}${name}.${quote === '' ? '' : ` It says: ${quote}`}`
  return failureOf(failure, why, null, failure === 'rate-limited' ? (error?.retryAfterMs ?? null) : null)
}

/** The model was not found under this name, so no model has been asked yet. */
export const isUnknownModel = ({ exitCode, stderr }: FailedExit): boolean =>
  exitCode === 2 && /unknown (?:alias|model)/i.test(lastError(stderr)?.message ?? stderr)

type PrintedError = { readonly code: string; readonly message: string; readonly retryAfterMs: number | null }

function classifyExit(error: PrintedError | null, exitCode: number): FailureClass {
  // A key that is missing or empty is reported as a wrong configuration.
  if (error?.code === 'INVALID_CONFIG' && /api key|\bauth/i.test(error.message)) return 'auth'
  const code = error?.code || 'none'
  const cause =
    causes.find(([, , codes]) => codes.split(' ').includes(code)) ??
    causes.find(([, exits]) => exits.includes(exitCode))
  return cause?.[0] ?? 'crashed'
}

const causes: readonly (readonly [failure: FailureClass, exits: readonly number[], codes: string])[] = [
  ['server', [1, 12], 'PROVIDER_UNAVAILABLE RETRIES_EXHAUSTED CHAIN_EXHAUSTED API_ERROR'],
  ['rate-limited', [], 'RATE_LIMITED'],
  ['transport', [], 'CONNECTION_LOST'],
  ['timeout', [3], 'TIMEOUT'],
  ['auth', [4], 'MISSING_API_KEY AUTH_REVOKED'],
  // With 8 it continues in the background.
  ['malformed', [5, 8], 'INVALID_RESPONSE EMPTY_CONTENT'],
  ['quota', [6], 'BUDGET_EXCEEDED'],
  [
    'rejected',
    [2, 7, 11, 13],
    'INVALID_INPUT INVALID_CONFIG NATIVE_RUNTIME_REQUIRED NO_ELIGIBLE_ADAPTER CONTEXT_TOO_LARGE CHUNKING_EXCEEDED',
  ],
  // Of the shell: the script's interpreter cannot be run, or is not there.
  ['not-installed', [126, 127], ''],
]

/** Errors stand among the lines of its log; the last one is the reason for the exit. */
function lastError(stderr: string): PrintedError | null {
  const lines = stderr.slice(-200_000).split('\n')
  // Each line that is no JSON after all costs an exception.
  for (const line of lines
    .filter((one) => /^\s*\{.*"(?:code|error)"/.test(one))
    .slice(-500)
    .reverse()) {
    const { code, message, error, retry_after } = parseRecord(line) ?? {}
    if (code === undefined && error === undefined) continue
    const seconds = countOf(retry_after)
    return {
      code: textOf(code),
      message: typeof message === 'string' ? message : textOf(error),
      retryAfterMs: seconds !== null && seconds < 1e9 ? Math.round(seconds * 1_000) : null,
    }
  }
  return null
}
