export const planClasses = [
  'rollback-removed',
  'steps-swapped',
  'path-missing',
  'test-dropped',
  'goal-against-changes',
  'permission-widened',
  'failure-case-dropped',
  'two-writers',
  'caller-not-listed',
  'requirement-dropped',
] as const

export const codeClasses = [
  'await-dropped',
  'condition-negated',
  'bound-off-by-one',
  'check-removed',
  'error-swallowed',
  'tests-removed',
  'arguments-swapped',
  'validation-dropped',
  'resource-left-open',
] as const

export const controlNames = ['unchanged', 'paraphrased', 'edited'] as const

export type DefectClass = (typeof planClasses)[number] | (typeof codeClasses)[number]
export type ControlName = (typeof controlNames)[number]

/** What was done to a plan or a change, and where it shows. No reviewer gets to see it. */
export type Defect = {
  readonly class: DefectClass
  readonly section: string
  /** All that were touched. */
  readonly sections: readonly string[]
  /** Of a change to code; null: of a plan. */
  readonly file: string | null
  /** As they are now: what was changed, and what stands beside a gap. */
  readonly lines: readonly number[]
  readonly why: string
  readonly was: string
  readonly is: string
}
