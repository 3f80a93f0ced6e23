import type { Answer, AskContext, Backend, Failure, Question } from '../../schemas/backend.ts'
import { quoteForeign, withoutSecrets } from '../quote-foreign.ts'
import { type GroupOutcome, runInGroup } from '../run-in-group.ts'
import { modelInvokeArgs } from './model-invoke-args.ts'
import { type Exit, isUnknownModel, readExit } from './read-exit.ts'
import { withPrivateFiles } from './with-private-files.ts'

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
export const hounfourBackend =
  (setup: HounfourSetup): Backend =>
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
  { signal, tell }: AskContext,
  files: Files,
  model: string | null,
  timeoutMs: number,
): Promise<GroupOutcome> {
  tell('waiting for model-invoke')
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
        tell(stream === 'stdout' ? 'answering' : 'model-invoke is at work')
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
