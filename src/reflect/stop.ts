/** Whether Claude may stop, decided before and after the final review, and in which words. */
import {
  bulletList,
  claimsOfReviewer,
  indentedSummary,
  noMessage,
  oneLine,
  type ReflectionMessage,
} from './messages.ts'
import type { OpenFinding, Reflection } from './session-state.ts'
import type { Trace } from './trace-plan.ts'

type StopFacts = {
  /** `stop_hook_active`: Claude was kept from stopping already and stops again. */
  readonly isActive: boolean
  readonly open: readonly OpenFinding[]
  /** What of it is to be mentioned; null: nothing. */
  readonly trace: Trace | null
  readonly traceBlocks: boolean
}

/**
 * Before any call; null: one review of the whole decides. A second stop is always let go: Claude was told once, and a
 * session must not be caught in a loop that only its user can break.
 */
export function decideStop({ isActive, open, trace, traceBlocks }: StopFacts): ReflectionMessage | null {
  if (isActive) return letGo(null, stillOpen(open))
  if (open.length > 0) {
    const findings = open.length === 1 ? '1 finding of this session is' : `${open.length} findings of this session are`
    return block(
      trace,
      `${findings} open (${oneLine(open.map(({ about }) => about).join(', '), 300)}).`,
      `these were found wrong and have not passed since.\n\n${formatOpen(open)}\n\n${howToGoOn}`,
    )
  }
  if (trace === null || !traceBlocks) return null
  const user = 'what was changed and what the approved plan names are not the same.'
  return block(
    trace,
    user,
    `${user} Take back what does not belong to it, carry out what is missing, or tell the user why it is as it is.`,
  )
}

/** Anything but a PASS holds Claude once, a reviewer that could not answer included. */
export function decideAfterReview(review: Reflection, trace: Trace | null): ReflectionMessage {
  switch (review.kind) {
    case 'judged': {
      const { verdict, summary } = review
      if (verdict === 'PASS') return letGo(trace)
      const doubt = verdict === 'FAIL' ? '' : ': from what it saw, it cannot tell that this is done'
      return block(
        trace,
        `the final review says ${verdict}. ${oneLine(summary, 300)}`.trimEnd(),
        `the final review of your work says ${verdict}${doubt}.\n\n${indentedSummary(summary)}\n\n${howToGoOn}`,
      )
    }
    case 'failed':
      // Cancelled by the user, who is there and knows.
      return review.failure === 'cancelled' ? letGo(trace) : unavailable(trace, review.why, review.nextStep)
    case 'refused':
      // The user has set the limit; a service that is busy is a reviewer that could not answer.
      return review.because === 'limit'
        ? letGo(trace, `plan-gate: Claude stops without a final review of its work: ${review.why}.`)
        : unavailable(trace, review.why, 'Wait until then, and let Claude stop once more.')
  }
}

/** `line`: for the user. */
export function letGo(trace: Trace | null, line: string | null = null): ReflectionMessage {
  const parts = [...(line === null ? [] : [line]), ...formatTrace(trace).map((text) => `plan-gate: ${text}`)]
  return parts.length === 0 ? noMessage : { ...noMessage, user: parts.join('\n') }
}

const block = (trace: Trace | null, user: string, model: string): ReflectionMessage => ({
  user: `plan-gate: Claude goes on: ${user}`,
  model: [`plan-gate: do not stop yet: ${model}`, ...formatTrace(trace), notBlockedTwice].join('\n\n'),
  blocks: true,
})

const unavailable = (trace: Trace | null, why: string, nextStep: string): ReflectionMessage =>
  block(
    trace,
    `the final review failed: ${oneLine(why, 300)} ${oneLine(nextStep, 300)}`,
    `the final review of your work failed: ${oneLine(why, 600)}\nThis says nothing about your work: change nothing because of it. Check once what you claim to have done, against the files and the output. Then tell the user that nobody else has reviewed it, why, and what they can do: ${oneLine(nextStep, 600)}`,
  )

const notBlockedTwice = 'You are not held back a second time: when this is done, or cannot be, stop and say which.'
const howToGoOn = `${claimsOfReviewer} Fix what is right; where one is wrong, say to the user why.`

const stillOpen = (open: readonly OpenFinding[]): string | null => {
  const names = open.map(({ about, verdict }) => `${about}: ${verdict}`)
  return names.length === 0 ? null : `plan-gate: still open:\n${bulletList(names, 10)}`
}

function formatOpen(open: readonly OpenFinding[]): string {
  const shown = open.slice(0, maxShown)
  const each = Math.floor(maxShownChars / shown.length)
  const parts = shown.map(({ about, verdict, summary }) =>
    [`${oneLine(about, 200)}: ${verdict}`, ...(summary === '' ? [] : [indentedSummary(summary, each)])].join('\n'),
  )
  const left = open.slice(maxShown).map(({ about }) => about)
  return [...parts, ...(left.length === 0 ? [] : [`And these:\n${bulletList(left, 20)}`])].join('\n\n')
}

const maxShown = 8
const maxShownChars = 4800

function formatTrace(trace: Trace | null): string[] {
  const { unplanned = [], undone = [] } = trace ?? {}
  return [
    ...(unplanned.length === 0 ? [] : [`Changed, and not named in the plan:\n${bulletList(unplanned, 15)}`]),
    ...(undone.length === 0
      ? []
      : [`Named in the plan under ## Changes, and nothing of the kind was done:\n${bulletList(undone, 15)}`]),
  ]
}
