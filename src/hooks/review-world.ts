import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { readPlanScope } from '../gate/scope/read-plan-scope.ts'
import type { ReviewDependencies } from '../review/review-request.ts'
import { openTokenizer } from '../review/tokens/open-tokenizer.ts'
import type { Tokenizer } from '../review/tokens/tokenizer.ts'
import { makeRedactor } from '../safety/make-redactor.ts'
import type { EffectiveConfig } from '../schemas/config.ts'
import { reviewBackends } from './review-backends.ts'
import { routeFacts } from './route-facts.ts'

type Place = {
  readonly config: EffectiveConfig
  readonly root: string
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
  readonly loadTokenizer: Parameters<typeof openTokenizer>[0]
}

/** What every review here has in common; who asks adds what is done with signs of life, passes and threads. */
export function createReviewDependencies({
  config,
  root,
  env,
  signal,
  loadTokenizer,
}: Place): Omit<ReviewDependencies, 'tell' | 'keepPass' | 'keepThread'> {
  const redactor = makeRedactor(config.review.redaction.patterns)
  let opened: Promise<Tokenizer> | undefined
  return {
    backends: reviewBackends(config, root, env),
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
