import type { Effort, Question } from '../../schemas/backend.ts'
import type { Schema } from '../../schemas/schema.ts'
import type { Turn } from './turn.ts'

/** How the question is put: it starts as it was asked and loses what is not accepted. */
export type CodexAsk = {
  readonly resume: string | null
  readonly keepsThread: boolean
  readonly effort: Effort | null
  readonly schema: Schema | null
  readonly replaced: { readonly was: string; readonly why: string } | null
  readonly notices: readonly string[]
}

export function firstAsk({ thread, effort, schema }: Question): CodexAsk {
  const ask = { resume: null, keepsThread: thread.kind !== 'none', effort, schema, replaced: null, notices: [] }
  if (thread.kind !== 'resume') return ask
  if (isThreadId(thread.id)) return { ...ask, resume: thread.id }
  return replaceThread(ask, thread.id, 'what was noted of it is not the id of a thread')
}

/** The next way to put the question; null: this turn is the last word. */
export function adjustAsk(ask: CodexAsk, turn: Turn): CodexAsk | null {
  if (turn.kind !== 'failed') return null
  switch (turn.remedy) {
    case null:
      return null
    case 'new-thread':
      return ask.resume === null ? null : replaceThread(ask, ask.resume, turn.failure.why)
    case 'no-effort':
      return ask.effort === null
        ? null
        : {
            ...ask,
            effort: null,
            notices: [...ask.notices, `Reasoning effort ${ask.effort} was left out: the model does not take it.`],
          }
    case 'no-schema':
      return ask.schema === null
        ? null
        : {
            ...ask,
            schema: null,
            notices: [...ask.notices, 'The form of the answer was asked for in words only: the schema was refused.'],
          }
  }
}

/** `codex exec resume` takes any other word for a new thread, without saying so. */
const isThreadId = (id: string): boolean => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(id)

const replaceThread = (ask: CodexAsk, was: string, why: string): CodexAsk => ({
  ...ask,
  resume: null,
  replaced: { was, why },
})
