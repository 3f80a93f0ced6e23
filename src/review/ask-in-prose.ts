import { mainFailure } from '../routes/main-failure.ts'
import type { Route, RouteTable } from '../routes/route.ts'
import { type Attempt, runRoutes } from '../routes/run-routes.ts'
import type { Effort, Failure, Usage } from '../schemas/backend.ts'
import type { Prompt } from './prompts/compose-prompt.ts'
import type { ReviewDependencies } from './review-request.ts'

/** One question that is answered in words and not by a form. Everything in it is redacted already. */
export type ProseQuestion = {
  /** `canRead`: whether the reviewer of this row may look into the files. */
  readonly prompt: (canRead: boolean) => Prompt
  readonly model: string | null
  readonly effort: Effort
  /** The folder whose files may be read; null: none may. */
  readonly root: string | null
  readonly timeoutMs: number
}

export type ProseAnswer =
  | { readonly kind: 'answered'; readonly text: string; readonly usage: Usage | null }
  | ({ readonly kind: 'failed' } & Failure)

type ProseEffects = Pick<ReviewDependencies, 'backends' | 'facts' | 'redact' | 'now' | 'signal'> & {
  readonly trace: (line: string) => void
}

/**
 * Down the same table as any review. What is only advice is not worth waiting for, so each row is asked once; the
 * checklist has nothing to say in prose.
 */
export async function askInProse(
  question: ProseQuestion,
  { routes }: Pick<RouteTable, 'routes'>,
  effects: ProseEffects,
): Promise<ProseAnswer> {
  const startedAt = effects.now()
  const timeLeftMs = (): number => startedAt + question.timeoutMs - effects.now()
  const readers = routes.filter(({ backend }) => backend !== 'checklist')
  const routed = await runRoutes<Answered>(
    { routes: readers },
    {
      facts: effects.facts,
      attempt: (route) => askRow(question, route, timeLeftMs(), effects),
      timeLeftMs,
      maxAttempts: readers.length,
      trace: effects.trace,
      isCancelled: () => effects.signal.aborted,
    },
  )
  return routed.kind === 'served' ? { kind: 'answered', ...routed.value } : { kind: 'failed', ...mainFailure(routed) }
}

type Answered = { readonly text: string; readonly usage: Usage | null }

async function askRow(
  { prompt, model, effort, root }: ProseQuestion,
  { backend, capabilities, timeoutMs }: Route,
  leftMs: number,
  { backends, redact, signal }: ProseEffects,
): Promise<Attempt<Answered>> {
  const canRead = root !== null && capabilities.includes('tool_access')
  const { system, user } = prompt(canRead)
  const answer = await backends[backend](
    {
      system,
      user,
      model,
      effort,
      schema: null,
      thread: { kind: 'none' },
      root: canRead ? root : null,
      timeoutMs: Math.min(timeoutMs ?? leftMs, leftMs),
      subject: { type: 'code', content: user },
    },
    { signal, tell: () => {} },
  )
  const clean = redact(answer.kind === 'answered' ? answer.text : answer.why)
  if (answer.kind === 'answered')
    return clean.kind === 'redacted' ? { kind: 'success', value: { text: clean.text, usage: answer.usage } } : unshown
  const { failure, nextStep, retryAfterMs } = answer
  const why = clean.kind === 'redacted' ? clean.text : 'The reason cannot be shown.'
  return { kind: 'failure', failure, why, nextStep, retryAfterMs }
}

const unshown: Attempt<never> = {
  kind: 'failure',
  failure: 'malformed',
  why: 'Secrets in the answer could not be blanked.',
  nextStep: 'Mend review.redaction.patterns in plan-gate.yaml.',
  retryAfterMs: null,
}
