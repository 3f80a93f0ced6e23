import type { Answer, Question, ThreadAfter, Usage } from '../../schemas/backend.ts'
import type { CodexAsk } from './adjust-ask.ts'
import type { Turn } from './turn.ts'

/** What a turn comes to: its own share of what the thread has used, and the thread that it left behind. */
export function answerFrom(ask: CodexAsk, turn: Turn, question: Question): Answer {
  const thread = threadAfter(ask, turn)
  const { notices } = ask
  if (turn.kind === 'failed') return { kind: 'failed', ...turn.failure, thread, notices }
  const usage = usageOfTurn(ask, turn, question)
  return { kind: 'answered', text: turn.text, usage, model: question.model, thread, notices }
}

function threadAfter(ask: CodexAsk, { thread, total }: Turn): ThreadAfter | null {
  if (!ask.keepsThread || thread === null) return null
  const isOther = ask.resume !== null && !isSame(ask.resume, thread)
  const replaced =
    ask.resume !== null && isOther ? { was: ask.resume, why: 'Codex went on with another one.' } : ask.replaced
  return { id: thread, used: total, replaced }
}

function usageOfTurn({ resume }: CodexAsk, { thread, total }: Turn, question: Question): Usage | null {
  if (total === null || resume === null || thread === null || !isSame(resume, thread)) return total
  const before = question.thread.kind === 'resume' ? question.thread.used : null
  return before === null ? null : subtract(total, before)
}

/** Codex reports what the whole thread has used. Less than before means that it has begun to count anew. */
function subtract(total: Usage, before: Usage): Usage | null {
  const rest = {
    input: total.input - before.input,
    cached: total.cached - before.cached,
    output: total.output - before.output,
    reasoning: total.reasoning - before.reasoning,
  }
  return Object.values(rest).some((tokens) => tokens < 0) ? null : rest
}

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()
