/** What the page of `report --serve` needs beside the report, to be decided about. */
export type PlanToDecide = {
  /** SHA-256 of docs/plan.md's bytes; null: there is none. */
  readonly hash: string | null
  readonly isApproved: boolean
  readonly now: readonly string[]
  /** The text that was reviewed last in this cycle, where that is another one. */
  readonly reviewed: { readonly revision: number; readonly lines: readonly string[] } | null
}

export type DecideData = PlanToDecide & {
  readonly token: string
  /** The command that serves the page once more. */
  readonly again: string
}
