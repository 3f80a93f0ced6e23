import { reviewPlan } from '../plan/review-plan.ts'
import { makeRedactor } from '../redact/redact.ts'
import { askReflection } from '../reflect/ask.ts'
import { reflectAtStop, reflectBeforeCompaction } from '../reflect/at-stop.ts'

/** The bundle that holds all that a review needs. It is one, because the reviewers are most of its weight. */
export const reviews = { reviewPlan, askReflection, reflectAtStop, reflectBeforeCompaction, makeRedactor }
