import type { Answer, AskContext, Backend, Failure, Question } from '../../schemas/backend.ts'
import { quoteForeign } from '../quote-foreign.ts'
import { adjustAsk, type CodexAsk, firstAsk } from './adjust-ask.ts'
import { answerFrom } from './answer-from.ts'
import type { Capabilities } from './capabilities.ts'
import { type CodexSetup, limitsOf } from './codex-setup.ts'
import { refuseLength } from './compose-prompt.ts'
import { readCapabilities } from './read-capabilities.ts'
import { runTurn, type TurnPlace } from './run-turn.ts'
import { withScratchFolder } from './with-scratch-folder.ts'

/** The Codex CLI: it reads and never writes, and on a thread it remembers what it has said before. */
export const codexBackend =
  (setup: CodexSetup): Backend =>
  async (question, context) => {
    const tooLong = refuseLength(question)
    if (tooLong !== null) return failed(tooLong)
    try {
      return await withScratchFolder(setup.scratch, (folder) => ask(setup, question, context, folder))
    } catch (error) {
      return failed({
        failure: 'crashed',
        why: `Codex could not be asked: ${quoteForeign(String(error), [])}`,
        nextStep: 'Look whether files can be written in the folder for temporary files, or use another reviewer.',
        retryAfterMs: null,
      })
    }
  }

async function ask(setup: CodexSetup, question: Question, context: AskContext, folder: string): Promise<Answer> {
  const deadline = performance.now() + question.timeoutMs
  const timeLeft = (): number => deadline - performance.now()
  const known = await readCapabilities(setup, folder, { timeoutMs: timeLeft(), signal: context.signal })
  if (known.kind === 'failed') return failed(known.failure)
  const unguarded = refuseOpenShell(question, known)
  if (unguarded !== null) return failed(unguarded)
  return settle({ setup, question, context, known, folder, limits: limitsOf(setup) }, timeLeft)
}

/** Asks, and asks the same again where something was not accepted that can be done without. */
async function settle(place: Omit<TurnPlace, 'timeoutMs'>, timeLeft: () => number): Promise<Answer> {
  let current: CodexAsk = firstAsk(place.question)
  for (;;) {
    const turn = await runTurn(current, { ...place, timeoutMs: timeLeft() })
    const next = adjustAsk(current, turn)
    if (next === null || timeLeft() <= 0) return answerFrom(current, turn, place.question)
    current = next
  }
}

/** The read-only sandbox lets a command read every file of this user; only a Codex without commands reads none. */
function refuseOpenShell({ root }: Question, { features }: Capabilities): Failure | null {
  if (root !== null || features.includes('shell_tool')) return null
  return {
    failure: 'not-installed',
    why: 'This Codex cannot be run without its shell tool, and could read any file.',
    nextStep: 'Update it: npm i -g @openai/codex@latest; or allow it to read with review.tool_access: true.',
    retryAfterMs: null,
  }
}

const failed = (failure: Failure): Answer => ({ kind: 'failed', ...failure, thread: null, notices: [] })
