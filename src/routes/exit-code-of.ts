import type { FailureClass } from '../schemas/backend.ts'
import { mainFailure } from './main-failure.ts'
import type { RouteOutcome } from './run-routes.ts'

/** 1: the service failed; 2: nobody to ask; 3: no time; 4: no credentials; 5: an answer that is none. */
const exitCodes: { readonly [name in FailureClass]: 1 | 2 | 3 | 4 | 5 } = {
  'not-installed': 2,
  auth: 4,
  quota: 1,
  'rate-limited': 1,
  timeout: 3,
  transport: 1,
  server: 1,
  malformed: 5,
  refused: 1,
  rejected: 1,
  crashed: 1,
  cancelled: 1,
}

/** What `plan-gate review` ends with. */
export const exitCodeOf = (outcome: RouteOutcome<unknown>): 0 | 1 | 2 | 3 | 4 | 5 =>
  outcome.kind === 'served' ? 0 : exitCodes[mainFailure(outcome).failure]
