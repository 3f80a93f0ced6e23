import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EffectiveConfig } from '../config/schema.ts'
import { readPlanScope } from '../gate/scope.ts'
import { makeRedactor } from '../redact/redact.ts'
import { createReviewers, routeFacts } from '../reviewers/create.ts'
import type { ReviewDependencies } from './request.ts'
import { type CountTokens, openTokenizer } from './tokens.ts'

export type ReviewSetup = {
  readonly config: EffectiveConfig
  readonly root: string
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
  readonly loadTokenizer: Parameters<typeof openTokenizer>[0]
}

/** The dependencies that all reviews share; the caller adds what is done with events, passes and threads. */
export function createReviewDependencies({
  config,
  root,
  env,
  signal,
  loadTokenizer,
}: ReviewSetup): Omit<ReviewDependencies, 'onEvent' | 'savePass' | 'saveThread'> {
  const redactor = makeRedactor(config.review.redaction.patterns)
  let opened: Promise<CountTokens> | undefined
  return {
    reviewers: createReviewers(config, root, env),
    facts: routeFacts(config, env, root),
    redact: redactor.text,
    tokenizer: () => {
      opened ??= openTokenizer(loadTokenizer)
      return opened
    },
    readChanges: readPlanScope,
    now: () => performance.now(),
    sleep: (ms) => sleep(ms, undefined, { signal }).catch(() => {}),
    random: () => randomBytes(6).toString('hex'),
    signal,
  }
}
