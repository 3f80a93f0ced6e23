import type { Approval } from '../schemas/approval.ts'
import { reviewPaths } from './review-paths.ts'
import { saveJson } from './save-file.ts'
import { noStep, type Step } from './step.ts'

export const writeApproval = (root: string, approval: Approval, step: Step = noStep): void =>
  saveJson(root, reviewPaths.approval, approval, step)
