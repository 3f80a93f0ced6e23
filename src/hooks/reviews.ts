import { reviewPlan } from '../plan/review-plan.ts'
import { makeRedactor } from '../redact/redact.ts'
import { askReflection } from '../reflect/ask.ts'
import { reflectAtStop, reflectBeforeCompaction } from '../reflect/at-stop.ts'
import { findBypass } from './bypassed-call.ts'

/** Everything that needs a reviewer, or is rare, as one bundle: the reviewers are most of its size. */
export const reviews = { findBypass, reviewPlan, askReflection, reflectAtStop, reflectBeforeCompaction, makeRedactor }
