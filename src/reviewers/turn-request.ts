/** One turn with a program that remembers: on which thread, with what, and how to ask again where it was not accepted. */
import { statSync } from 'node:fs'
import type { Effort, Failure, Question, ThreadAfter, Usage } from '../schemas/review.ts'
import type { Schema } from '../schemas/schema.ts'
import { failureOf } from './failure.ts'
import type { Classified } from './program-failures.ts'

export type TurnRequest = {
  /** The id of the thread to continue. */
  readonly resume: string | null
  readonly keepsThread: boolean
  readonly effort: Effort | null
  readonly schema: Schema | null
  readonly replaced: { readonly was: string; readonly why: string } | null
  readonly notices: readonly string[]
}

export function firstRequest({ thread, effort, schema }: Question): TurnRequest {
  const request = { resume: null, keepsThread: thread.kind !== 'none', effort, schema, replaced: null, notices: [] }
  if (thread.kind !== 'resume') return request
  if (isThreadId(thread.id)) return { ...request, resume: thread.id }
  return replaceThread(request, thread.id, 'what was noted of it is not the id of a thread')
}

/** `codex exec resume` takes any other word for a new thread, without an error. */
export const isThreadId = (id: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(id)

const replaceThread = (request: TurnRequest, was: string, why: string): TurnRequest => ({
  ...request,
  resume: null,
  replaced: { was, why },
})

/** `thread` can be resumed; `total` is what all of it has used, where known. */
export type Turn =
  | { readonly kind: 'answered'; readonly text: string; readonly thread: string | null; readonly total: Usage | null }
  | ({ readonly kind: 'failed'; readonly thread: string | null; readonly total: null } & Classified)

/** null: there is no other way to ask, and this turn is final. */
export function fallbackRequest(request: TurnRequest, turn: Turn): TurnRequest | null {
  if (turn.kind !== 'failed') return null
  switch (turn.fallback) {
    case null:
      return null
    case 'new-thread':
      return request.resume === null ? null : replaceThread(request, request.resume, turn.failure.why)
    case 'no-effort': {
      if (request.effort === null) return null
      const notice = `Reasoning effort ${request.effort} was left out: the model does not take it.`
      return { ...request, effort: null, notices: [...request.notices, notice] }
    }
    case 'no-schema': {
      if (request.schema === null) return null
      const notice = 'The form of the answer was asked for in words only: the schema was refused.'
      return { ...request, schema: null, notices: [...request.notices, notice] }
    }
  }
}

/** Asks again without the thread, the effort or the schema where the program or the model did not accept it. */
export async function runWithFallbacks(
  question: Question,
  runTurn: (request: TurnRequest, timeoutMs: number) => Promise<Turn>,
  timeLeft: () => number,
): Promise<{ readonly request: TurnRequest; readonly turn: Turn }> {
  let request = firstRequest(question)
  for (;;) {
    const turn = await runTurn(request, timeLeft())
    const fallback = fallbackRequest(request, turn)
    if (fallback === null || timeLeft() <= 0) return { request, turn }
    request = fallback
  }
}

export function threadAfter(
  { resume, keepsThread, replaced }: TurnRequest,
  { thread, total }: Pick<Turn, 'thread' | 'total'>,
  program: string,
): ThreadAfter | null {
  if (!keepsThread || thread === null) return null
  const isOther = resume !== null && !isSameId(resume, thread)
  return {
    id: thread,
    used: total,
    replaced: isOther ? { was: resume, why: `${program} went on with another one.` } : replaced,
  }
}

export const isSameId = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

/** null where the folder under review is there. */
export const missingRoot = (root: string | null): Failure | null =>
  root === null || statSync(root, { throwIfNoEntry: false })?.isDirectory() === true
    ? null
    : failureOf(
        'rejected',
        `The folder under review is not there: ${root}`,
        'Run plan-gate in the folder that is to be reviewed.',
      )
