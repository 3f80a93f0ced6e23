import type { Failure, Question } from '../../schemas/backend.ts'

/** Codex has one text for a turn: who it is comes first, what it looks at last. */
export const composePrompt = ({ system, user }: Pick<Question, 'system' | 'user'>): string => `${system}\n\n${user}`

const longest = 1_048_576

/** A longer one would be refused after Codex has started; it counts characters, not what JavaScript calls length. */
export function refuseLength(question: Pick<Question, 'system' | 'user'>): Failure | null {
  const prompt = composePrompt(question)
  const length = prompt.length <= longest ? prompt.length : [...prompt].length
  if (length <= longest) return null
  return {
    failure: 'rejected',
    why: `What is to be reviewed has ${length} characters, and Codex takes ${longest} in one turn.`,
    nextStep: 'Review it in parts.',
    retryAfterMs: null,
  }
}
