import type { AskReviewer } from '../../schemas/review.ts'
import { failedAnswer, failureOf } from '../failure.ts'

export type ClaudeSetup = {
  /** The absolute path of `claude`. */
  readonly program: string
  readonly env: NodeJS.ProcessEnv
}

/** Claude Code in print mode, with tools that only read. */
export const claudeReviewer =
  (_setup: ClaudeSetup): AskReviewer =>
  async () =>
    failedAnswer(failureOf('not-installed', 'Claude is not a reviewer yet.', 'Use another one.'))
