import { reviewPlan } from '../plan/review-plan.ts'
import { makeRedactor } from '../redact/redact.ts'
import { askReflection } from '../reflect/ask.ts'
import { reflectAtStop, reflectBeforeCompaction } from '../reflect/at-stop.ts'

/** Everything that needs a reviewer, as one bundle: the reviewers are most of its size. */
export const reviews = { reviewPlan, askReflection, reflectAtStop, reflectBeforeCompaction, makeRedactor }
