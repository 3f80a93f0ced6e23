import { parseConfig } from '../../../src/config/load.ts'
import type { EffectiveConfig } from '../../../src/config/schema.ts'
import { readPlanScope } from '../../../src/gate/scope.ts'
import { makeRedactor } from '../../../src/redact/redact.ts'
import type {
  PassRecord,
  ReviewDependencies,
  ReviewEvent,
  ReviewOutcome,
  ReviewRequest,
  Settle,
} from '../../../src/review/request.ts'
import { reviewContent } from '../../../src/review/review.ts'
import type {
  Answer,
  AskReviewer,
  FailureClass,
  Question,
  ReviewerAnswer,
  ThreadAfter,
} from '../../../src/schemas/review.ts'
import type { PassTimes } from '../../../src/state/pass-times.ts'
import { failureOf } from '../reviewers/routes/failure-of.ts'
import { factsOf, type Machine, tableOf } from '../reviewers/routes/run-with.ts'
import { answer } from './reviewer-answers.ts'

/** One answer of a backend. The last one of a script is repeated. */
export type Said = Partial<Pick<Answer, 'thread' | 'notices'>> & {
  tookMs?: number
  usage?: number | null
  signs?: readonly string[]
} & (
    | { says: Partial<ReviewerAnswer> }
    | { writes: string }
    | { fails: FailureClass; why?: string }
    /** Until it is stopped, and as many milliseconds longer. */
    | { hangs: true; lateMs?: number }
  )

export type Scenario = {
  request?: Partial<ReviewRequest>
  /** Of plan-gate.yaml. */
  yaml?: string
  env?: { readonly [name: string]: string }
  machine?: Machine
  /** By the name of the row. */
  backends?: { readonly [name: string]: readonly Said[] | ((question: Question, n: number) => Said) }
  maxIterations?: number | null
  redact?: ReviewDependencies['redact']
  tokenizer?: ReviewDependencies['tokenizer']
  passTimes?: PassTimes
  /** Ends the review when it is asked for the nth time. */
  abortAt?: number
}

export type Reviewed = {
  outcome: ReviewOutcome
  asked: { backend: string; question: Question }[]
  events: ReviewEvent[]
  passes: PassRecord[]
  threads: ThreadAfter[]
  /** The reviewers whose question was ended. */
  stopped: string[]
}

export const smallDiff =
  'diff --git a/src/app.ts b/src/app.ts\nindex 1..2 100644\n--- a/src/app.ts\n+++ b/src/app.ts\n@@ -1 +1 @@\n-one\n+two\n'

/** The answer as it is. */
const settleAsReported: Settle = ({ statuses, ...reported }) => ({
  ...reported,
  previous: statuses,
  late: [],
  notices: [],
  unanswered: [],
  isUnfounded: false,
})

const plainRequest: ReviewRequest = {
  type: 'code',
  content: smallDiff,
  expertise: null,
  context: null,
  iteration: 1,
  earlier: [],
  lastId: 0,
  changes: null,
  intent: null,
  guidelines: null,
  replies: null,
  contested: [],
  rounds: null,
  settle: settleAsReported,
  root: null,
  thread: { kind: 'none' },
  fast: false,
  passTimeoutMs: 300_000,
  totalMs: 900_000,
}

const configOf = (yaml = ''): EffectiveConfig => {
  const parsed = parseConfig(yaml)
  if (parsed.kind === 'invalid') throw new Error(JSON.stringify(parsed.problems))
  return parsed.config
}

/** A whole review in which only the reviewers and the clock are ours. Codex is there; it is the row that serves. */
export async function reviewWith(scenario: Scenario = {}): Promise<Reviewed> {
  const { request, yaml = '', env = {}, machine, maxIterations = 3 } = scenario
  const { review } = configOf(yaml)
  const asked: Reviewed['asked'] = []
  const events: ReviewEvent[] = []
  const passes: PassRecord[] = []
  const threads: ThreadAfter[] = []
  const stopped: string[] = []
  const abort = new AbortController()
  let [now, draws] = [1_000, 0]

  const backend =
    (name: string): AskReviewer =>
    async (question, { onProgress, signal }) => {
      const n = asked.filter((each) => each.backend === name).length
      asked.push({ backend: name, question })
      const script = scenario.backends?.[name] ?? [{ says: {} }]
      const said = typeof script === 'function' ? script(question, n + 1) : (script[n] ?? script.at(-1))
      if (said === undefined) throw new Error(`${name} has nothing to say`)
      now += said.tookMs ?? 1_000
      for (const sign of said.signs ?? []) onProgress(sign)
      if (asked.length === scenario.abortAt) {
        abort.abort()
        return answerOf({ fails: 'cancelled' })
      }
      if ('hangs' in said) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
        await new Promise((resolve) => setTimeout(resolve, said.lateMs ?? 0))
        stopped.push(name)
        return answerOf({ fails: 'cancelled' })
      }
      return answerOf(said)
    }

  const outcome = await reviewContent(
    { ...plainRequest, ...request },
    { review, table: tableOf(yaml, env), maxIterations },
    {
      reviewers: ({ name }) => backend(name),
      facts: factsOf({ flatlineRouting: false, ...machine }),
      redact: scenario.redact ?? makeRedactor(review.redaction.patterns).text,
      tokenizer: scenario.tokenizer ?? (async () => (text) => Math.ceil(text.length / 4)),
      readChanges: readPlanScope,
      now: () => now,
      sleep: async (ms) => {
        now += ms
      },
      random: () => `tag${++draws}`,
      signal: abort.signal,
      ...(scenario.passTimes === undefined ? {} : { passTimes: scenario.passTimes }),
      onEvent: (event) => void events.push(event),
      savePass: (pass) => void passes.push(pass),
      saveThread: (thread) => void threads.push(thread),
    },
  )
  return { outcome, asked, events, passes, threads, stopped }
}

export function resultOf({ outcome }: Reviewed) {
  if (outcome.kind !== 'reviewed') throw new Error(`${outcome.failure}: ${outcome.why}`)
  return outcome.result
}

export function failureIn({ outcome }: Reviewed) {
  if (outcome.kind !== 'unavailable') throw new Error(`reviewed: ${outcome.result.verdict}`)
  return outcome
}

/** What the reviewer saw of each question. */
export const prompts = ({ asked }: Reviewed): string[] =>
  asked.map(({ question }) => `${question.system}\n\n${question.user}`)

function answerOf(said: Exclude<Said, { hangs: true }>): Answer {
  const { thread = null, notices = [] } = said
  if ('fails' in said)
    return {
      kind: 'failed',
      ...failureOf(said.fails),
      ...(said.why === undefined ? {} : { why: said.why }),
      thread,
      notices,
    }
  const text = 'writes' in said ? said.writes : JSON.stringify(answerText(said.says))
  const usage = said.usage === null ? null : { input: said.usage ?? 100, cached: 0, output: 20, reasoning: 5 }
  return { kind: 'answered', text, usage, model: null, thread, notices }
}

const answerText = (says: Partial<ReviewerAnswer>): object => {
  const { complexity, ...said } = answer(says)
  return {
    ...said,
    is_optimal: said.verdict === 'APPROVED',
    complexity: complexity === null ? null : { ...complexity, scope_category: 'low' },
  }
}
