import type { Failure, Usage } from '../../schemas/backend.ts'
import type { Remedy } from './failure-table.ts'

/** What came of one run. `thread` is one that can be resumed, `total` what all of it has used, where that is known. */
export type Turn =
  | { readonly kind: 'answered'; readonly text: string; readonly thread: string | null; readonly total: Usage | null }
  | {
      readonly kind: 'failed'
      readonly failure: Failure
      readonly remedy: Remedy | null
      readonly thread: string | null
      readonly total: null
    }
