import { makeRedactor } from '../safety/make-redactor.ts'
import { askReflection } from './ask-reflection.ts'
import { reflectAtStop } from './reflect-at-stop.ts'
import { reflectBeforeCompaction } from './reflect-before-compaction.ts'
import { reviewPlan } from './review-plan.ts'

/** The bundle that holds all that a review needs. It is one, because the reviewers are most of its weight. */
export const reviews = { reviewPlan, askReflection, reflectAtStop, reflectBeforeCompaction, makeRedactor }
