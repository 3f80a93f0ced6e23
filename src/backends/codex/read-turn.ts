import { readFileSync } from 'node:fs'
import type { Failure, FailureClass } from '../../schemas/backend.ts'
import { quoteForeign } from '../quote-foreign.ts'
import type { GroupOutcome } from '../run-in-group.ts'
import { type Classified, classifyFailure, withQuote } from './classify-failure.ts'
import type { CodexLimits } from './codex-setup.ts'
import type { TurnState } from './fold-turn.ts'
import type { Turn } from './turn.ts'

export type ReadingFrom = {
  readonly answerFile: string
  readonly maxAnswerBytes: number
  readonly secrets: readonly string[]
  /** A tool was at work where none may be. */
  readonly isTrespass: boolean
}

/** Codex tries five times whatever the reason is. To some an answer cannot come, and it would look for a network for ever. */
export function isHopeless({ trouble }: TurnState, { networkMs }: Pick<CodexLimits, 'networkMs'>): boolean {
  if (trouble === null) return false
  if (trouble.offlineMs >= networkMs) return true
  const known = classifyFailure(trouble.message, [])
  // The first 401 may only mean that a login has to be renewed.
  return trouble.times >= 2 && known !== null && lasting.includes(known.failure.failure)
}

const lasting: readonly FailureClass[] = ['auth', 'quota', 'refused', 'rejected', 'malformed']

/** What came of a run: its answer, or the class of its failure. */
export function readTurn(outcome: GroupOutcome, state: TurnState, from: ReadingFrom): Turn {
  const turn = judge(outcome, state, from)
  const thread = state.hasBegun ? state.thread : null
  return turn.kind === 'answered' ? { ...turn, thread, total: state.total } : { ...turn, thread, total: null }
}

type Judged = { readonly kind: 'answered'; readonly text: string } | ({ readonly kind: 'failed' } & Classified)

function judge(outcome: GroupOutcome, state: TurnState, from: ReadingFrom): Judged {
  if (from.isTrespass) return failed('not-installed', ...trespass)
  switch (outcome.kind) {
    case 'ended':
      return outcome.exitCode === 0 ? judgeAnswer(state, from) : judgeFailure(outcome.exitCode, state, from)
    case 'timed-out':
      return troubleOr(state, from, failed('timeout', `Codex did not finish within ${seconds(outcome.afterMs)}`, later))
    case 'silent':
      return troubleOr(state, from, failed('timeout', 'Codex has said nothing for too long', later))
    case 'stopped':
      return troubleOr(state, from, failed('crashed', 'Codex was ended', again))
    case 'cancelled':
      return failed('cancelled', 'The review was stopped', 'Start it again when you are ready.')
    case 'killed-by':
      return failed('crashed', `Codex was ended from outside (${outcome.signal})`, again)
    case 'not-found':
      return failed('not-installed', 'There is no Codex where it was', 'Install it: npm i -g @openai/codex.')
    case 'not-started':
      return failed(
        'not-installed',
        `Codex could not be started: ${quoteForeign(outcome.why, from.secrets)}`,
        reinstall,
      )
  }
}

const later = 'Try again, raise review.timeout_seconds, or use a faster model (review.models).'
const again = 'Try again; if it happens again, use another reviewer.'
const reinstall = 'Try `codex --version` yourself; reinstall it with npm i -g @openai/codex.'
const trespass = [
  'Codex used a tool although all of them were switched off, and was ended',
  'Update it: npm i -g @openai/codex@latest; or use another reviewer.',
] as const

/** Who is still trying again when the time is up has told the reason already. */
function troubleOr({ trouble, failure }: TurnState, { secrets }: ReadingFrom, judged: Judged): Judged {
  const said = trouble?.message ?? failure
  const known = said === null ? null : classifyFailure(said, secrets)
  return known === null ? judged : { kind: 'failed', ...known }
}

function judgeAnswer(state: TurnState, from: ReadingFrom): Judged {
  const text = state.said === null ? '' : readAnswer(from)
  if (text.trim() !== '') return { kind: 'answered', text }
  if (isRefusal(state))
    return failed('refused', 'The model declined to answer', 'Look at the text, or use another model.')
  return failed('malformed', state.isCompleted ? 'The answer is empty' : 'Codex ended in the middle of its turn', again)
}

/** Codex passes on nothing of a refusal; but the model has said something, and it was no command. */
const isRefusal = ({ isCompleted, total, tools, said }: TurnState): boolean =>
  isCompleted && said === null && tools.length === 0 && total !== null && total.output > total.reasoning

/** The file and not the event: a line may be cut, and only Codex itself writes there. */
function readAnswer({ answerFile, maxAnswerBytes }: ReadingFrom): string {
  try {
    return readFileSync(answerFile).toString('utf8', 0, maxAnswerBytes)
  } catch {
    return ''
  }
}

function judgeFailure(exitCode: number, state: TurnState, { secrets }: ReadingFrom): Judged {
  const said = state.failure ?? complaintIn(state)
  const known = classifyFailure(said, secrets)
  if (known !== null) return { kind: 'failed', ...known }
  const why = withQuote(`Codex ended with exit code ${exitCode}`, said, secrets)
  return { kind: 'failed', failure: { failure: 'crashed', why, nextStep: again, retryAfterMs: null }, remedy: null }
}

/** An error and the lines that explain it. */
function complaintIn({ complaints }: TurnState): string {
  const first = complaints.findIndex((line) => /^(error|thread '|Caused by)/i.test(line))
  return (first === -1 ? complaints.slice(-3) : complaints.slice(first, first + 6)).join(' ')
}

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`

function failed(failure: FailureClass, why: string, nextStep: string): Judged {
  const whole: Failure = { failure, why: `${why}.`, nextStep, retryAfterMs: null }
  return { kind: 'failed', failure: whole, remedy: null }
}
