import type { Target } from '../target.ts'
import { codexEvents } from './codex-events.ts'
import { commandLines } from './command.ts'
import { config } from './config.ts'
import { codeDiff } from './diff.ts'
import { gateHook } from './gate-hook.ts'
import { hookInput } from './hook-input.ts'
import { httpAnswer } from './http-answer.ts'
import { loadedText } from './loaded-text.ts'
import { modelInvoke } from './model-invoke.ts'
import { plan } from './plan.ts'
import { planReview } from './plan-review.ts'
import { settings } from './settings.ts'
import { stateFiles } from './state-files.ts'
import { toolPatterns } from './tool-patterns.ts'
import { transcript } from './transcript.ts'
import { verdict } from './verdict.ts'

/** Every kind of input that comes from outside; the command lines decide most. */
export const targets: readonly Target[] = [
  ...commandLines,
  loadedText,
  hookInput,
  gateHook,
  settings,
  config,
  ...stateFiles,
  verdict,
  codexEvents,
  httpAnswer,
  modelInvoke,
  plan,
  planReview,
  transcript,
  codeDiff,
  toolPatterns,
]
