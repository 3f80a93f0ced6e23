import type { Scenario } from './scenario.ts'
import { hooksAtOnce } from './scenarios/hooks-at-once.ts'
import { largePlan } from './scenarios/large-plan.ts'
import { largeToolInput } from './scenarios/large-tool-input.ts'
import { largeTranscript } from './scenarios/large-transcript.ts'
import { longLedger } from './scenarios/long-ledger.ts'
import { manyFiles } from './scenarios/many-files.ts'
import { manyRevisions } from './scenarios/many-revisions.ts'
import { worktreesAtOnce } from './scenarios/worktrees-at-once.ts'

export const scenarios: readonly Scenario[] = [
  hooksAtOnce,
  worktreesAtOnce,
  manyRevisions,
  longLedger,
  manyFiles,
  largeToolInput,
  largeTranscript,
  largePlan,
]
