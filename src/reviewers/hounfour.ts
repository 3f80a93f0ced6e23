import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Answer, AskContext, AskReviewer, Failure, FailureClass, Question } from '../schemas/review.ts'
import { withTemporaryFolder } from '../system/temporary-folder.ts'
import { countOf, parseRecord, textOf } from '../text/json.ts'
import {
  failedAnswer,
  failureOf,
  failureOfOutcome,
  quoteForeign,
  secretsIn,
  timeoutRemedy,
  withoutSecrets,
} from './failure.ts'
import { type GroupOutcome, runInGroup } from './process.ts'
import { schemaInWords } from './program.ts'

export type HounfourSetup = {
  /** `model-invoke`: a path, or a name on the PATH of `env`. */
  readonly program: string
  readonly agent: string
  /** The program's whole environment: it finds its keys there. */
  readonly env: NodeJS.ProcessEnv
  /** The working directory, where it finds its configuration. */
  readonly cwd: string
  /** The parent of the folder for its input files; null: the system's own. */
  readonly scratch: string | null
  readonly maxOutputBytes?: number
}

const modelInvoke = {
  name: 'model-invoke',
  install: 'Install model-invoke and put it on PATH, or use another reviewer.',
  probe: 'model-invoke --help',
  reinstall: 'install it again, or use another reviewer',
}

/** A `model-invoke` executable, which has keys, models and retries of its own. */
export const hounfourReviewer =
  (setup: HounfourSetup): AskReviewer =>
  async (question, context) => {
    const { effort } = question
    const notices =
      effort === null ? [] : [`Reasoning effort ${effort} was left out: model-invoke has no such setting.`]
    try {
      return await withTemporaryFolder(
        'ask',
        async (folder) => {
          const answer = await ask(setup, question, context, writeInput(folder, question))
          return { ...answer, notices: [...notices, ...answer.notices] }
        },
        setup.scratch,
      )
    } catch (error) {
      const why = `The input of model-invoke could not be written: ${quoteForeign(String(error), [])}`
      const nextStep = 'Free space in the folder for temporary files, or use another reviewer.'
      return failedAnswer(failureOf('crashed', why, nextStep))
    }
  }

type InputFiles = { readonly system: string; readonly input: string }

function writeInput(folder: string, { system, user, schema }: Question): InputFiles {
  const files = { system: join(folder, 'system.md'), input: join(folder, 'input.md') }
  writeFileSync(files.system, system, { mode: 0o600, flag: 'wx' })
  // It takes no schema.
  const input = schema === null ? user : `${user}\n\n${schemaInWords(schema)}`
  writeFileSync(files.input, input, { mode: 0o600, flag: 'wx' })
  return files
}

/**
 * model-invoke takes an alias of its own or `provider:model`. A bare name of OpenAI's, such as configurations of
 * plan-gate hold, is tried as an alias first, so that the user's binding counts; that costs no call to a model.
 */
async function ask(setup: HounfourSetup, question: Question, context: AskContext, files: InputFiles): Promise<Answer> {
  const { timeoutMs, model } = question
  const startedAt = performance.now()
  const first = await run(setup, context, files, model, timeoutMs)
  if (model === null || model.includes(':') || first.kind !== 'ended' || !isUnknownModel(first))
    return answerFrom(first, setup, model)
  const left = timeoutMs - (performance.now() - startedAt)
  const second = await run(setup, context, files, `openai:${model}`, left)
  const answer = answerFrom(second, setup, `openai:${model}`)
  return { ...answer, notices: [`model-invoke does not know ${model}; it was asked for openai:${model}.`] }
}

function run(
  setup: HounfourSetup,
  { signal, onProgress }: AskContext,
  { system, input }: InputFiles,
  model: string | null,
  timeoutMs: number,
): Promise<GroupOutcome> {
  onProgress('waiting for model-invoke')
  // The prompt stands in the two files: other users of the machine can read a command line.
  const args = [
    ...['--agent', setup.agent],
    ...['--input', input],
    ...['--system', system],
    ...(model === null ? [] : ['--model', model]),
    ...['--output-format', 'text'],
    '--json-errors',
    ...['--timeout', String(Math.max(1, Math.floor(timeoutMs / 1_000)))],
  ]
  return runInGroup(setup.program, args, {
    cwd: setup.cwd,
    env: setup.env,
    input: '',
    timeoutMs,
    // It prints nothing until the model has finished.
    silenceMs: null,
    signal,
    onLine: (_, stream) => {
      onProgress(stream === 'stdout' ? 'answering' : 'model-invoke is at work')
      return undefined
    },
    maxOutputBytes: maxBytesOf(setup),
  })
}

const maxBytesOf = ({ maxOutputBytes }: HounfourSetup): number => maxOutputBytes ?? 20 * 1024 * 1024

function answerFrom(outcome: GroupOutcome, setup: HounfourSetup, model: string | null): Answer {
  const secrets = secretsIn(setup.env)
  if (outcome.kind !== 'ended') return failedAnswer(failureOfOutcome(modelInvoke, outcome, secrets))
  if (outcome.exitCode !== 0) return failedAnswer(readExit({ ...outcome, secrets }))
  const text = outcome.stdout
  // A character that was cut in two leaves less than the limit.
  if (outcome.truncated && Buffer.byteLength(text) > maxBytesOf(setup) - 4)
    return malformed('The answer of model-invoke is larger than any review.')
  if (text.trim() === '') return malformed('model-invoke gave an empty answer.')
  if (isChunkedUnread(text)) {
    const why = 'The text is longer than what model-invoke gives to its model in one piece.'
    return failedAnswer(failureOf('rejected', why, 'Shorten what is reviewed, or use another reviewer.'))
  }
  return { kind: 'answered', text: withoutSecrets(text, secrets), usage: null, model, thread: null, notices: [] }
}

const malformed = (why: string): Answer =>
  failedAnswer(failureOf('malformed', why, 'Try again, or use another reviewer.'))

/** model-invoke splits a text over the model's limit, and then returns no findings because no model has read it. */
const isChunkedUnread = (text: string): boolean =>
  text.trimStart().startsWith('{') && text.includes('"chunked"') && parseRecord(text)?.chunked === true

type FailedExit = { readonly exitCode: number; readonly stderr: string }

/** The error that it prints as JSON is more exact than its exit code, which several causes share. */
export function readExit({ exitCode, stderr, secrets }: FailedExit & { readonly secrets: readonly string[] }): Failure {
  const error = lastError(stderr)
  const failure = classifyExit(error, exitCode)
  const quote = quoteForeign(error === null ? lastLine(stderr) : error.message, secrets)
  const name = error === null || error.code === '' ? '' : `, ${quoteForeign(error.code, secrets)}`
  return failureOf(
    failure,
    `model-invoke ended with exit code ${exitCode}${name}.${quote === '' ? '' : ` It says: ${quote}`}`,
    nextSteps[failure] ?? 'Run model-invoke by hand to see what is wrong, or use another reviewer.',
    failure === 'rate-limited' ? (error?.retryAfterMs ?? null) : null,
  )
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
    causes.find(({ codes }) => codes.split(' ').includes(code)) ?? causes.find(({ exits }) => exits.includes(exitCode))
  return cause?.failure ?? 'crashed'
}

type Cause = { readonly failure: FailureClass; readonly exits: readonly number[]; readonly codes: string }

const causes: readonly Cause[] = [
  { failure: 'server', exits: [1, 12], codes: 'PROVIDER_UNAVAILABLE RETRIES_EXHAUSTED CHAIN_EXHAUSTED API_ERROR' },
  { failure: 'rate-limited', exits: [], codes: 'RATE_LIMITED' },
  { failure: 'transport', exits: [], codes: 'CONNECTION_LOST' },
  { failure: 'timeout', exits: [3], codes: 'TIMEOUT' },
  { failure: 'auth', exits: [4], codes: 'MISSING_API_KEY AUTH_REVOKED' },
  // With 8 it continues in the background.
  { failure: 'malformed', exits: [5, 8], codes: 'INVALID_RESPONSE EMPTY_CONTENT' },
  { failure: 'quota', exits: [6], codes: 'BUDGET_EXCEEDED' },
  {
    failure: 'rejected',
    exits: [2, 7, 11, 13],
    codes:
      'INVALID_INPUT INVALID_CONFIG NATIVE_RUNTIME_REQUIRED NO_ELIGIBLE_ADAPTER CONTEXT_TOO_LARGE CHUNKING_EXCEEDED',
  },
  // Of the shell: the script's interpreter cannot be run, or is not there.
  { failure: 'not-installed', exits: [126, 127], codes: '' },
]

const nextSteps: { readonly [failure in FailureClass]?: string } = {
  'not-installed': 'Install what model-invoke needs to run, or use another reviewer.',
  auth: 'Set the API key that model-invoke is configured for, or use another reviewer.',
  quota: 'Raise the budget in the configuration of model-invoke, or use another reviewer.',
  'rate-limited': 'Wait a little and try again, or use another reviewer.',
  timeout: timeoutRemedy,
  rejected: 'Check the agent and the model that model-invoke is configured for, and the length of the text.',
}

/** Errors stand among the lines of its log; the last one is the reason for the exit. */
function lastError(stderr: string): PrintedError | null {
  const lines = stderr.slice(-200_000).split('\n').filter(mayBeError)
  for (const line of lines.slice(-maxParsedLines).reverse()) {
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

/** Each line that is no JSON after all costs an exception. */
const maxParsedLines = 500
const mayBeError = (line: string): boolean => /^\s*\{.*"(?:code|error)"/.test(line)
const lastLine = (text: string): string => text.trimEnd().slice(-4_000).split('\n').at(-1) ?? ''
