import type { Usage } from './run-measured.ts'

/** One thing that was measured at one size. `of`: how many did it at once, where that is more than one. */
export type Measured = Usage & { readonly what: string }

export type Scenario = {
  readonly name: string
  readonly unit: string
  /** Ascending. `quick` is what the tests run: the same checks of what came out, at sizes that take seconds. */
  readonly sizes: { readonly full: readonly number[]; readonly quick: readonly number[] }
  /** Does it at this size, checks by content and count that everything came out as it must, and throws otherwise. */
  readonly run: (size: number) => Promise<readonly Measured[]>
}

/** A check that is no test's own: the same holds in `npm run load`. */
export function must(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`under load: ${what}`)
}
