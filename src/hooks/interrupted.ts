import type { PlanOutcome } from '../plan/plan-news.ts'

/** Nobody hears it after Esc; a session that goes on, because only the machine had slept, does. */
export const interrupted: Extract<PlanOutcome, { kind: 'unavailable' }> = {
  kind: 'unavailable',
  failure: 'cancelled',
  why: 'It was stopped before it had come to an end.',
  nextStep: 'Save docs/plan.md again when it is to be reviewed.',
}
