import { readPlanScope } from '../gate/scope.ts'
import { checkPlan } from '../reviewers/checklist/plan.ts'
import { sha256 } from '../system/sha256.ts'
import type { Base } from './bases.ts'
import { type ChangedFile, diffOf, makeCodeControl, seedCodeDefect } from './code-defects.ts'
import { makePlanControl, seedPlanDefect } from './plan-defects.ts'
import { type Random, seededRandom } from './statistics.ts'

/** The cases of a run: one copy of a base each, with one defect or with none. */

export type Case = {
  /** Names the base and what was done to it. */
  readonly id: string
  readonly base: Base
  readonly control: ControlName | null
  /** null: a control. */
  readonly defect: Defect | null
  /** What the reviewer is sent: a plan, or a diff. */
  readonly content: string
  /** What stands in the folder that it may read, besides the project. */
  readonly files: readonly { readonly path: string; readonly text: string | null }[]
  /** Of everything that the reviewer gets. */
  readonly hash: string
}

type Choice = {
  readonly classes: readonly DefectClass[]
  /** Each defect and each control is made in so many bases. */
  readonly perClass: number
  readonly seed: string
  readonly requiredSections: readonly string[]
}

export const classesOf = (type: Base['type']): readonly DefectClass[] => (type === 'plan' ? planClasses : codeClasses)

/** One's own bases come first; which of them get which defect depends on the seed alone. */
export function chooseCases(
  bases: readonly Base[],
  { classes, perClass, seed, requiredSections }: Choice,
): readonly Case[] {
  const ordered = (name: string): readonly Base[] => {
    const shuffled = seededRandom(`${seed} ${name}`).shuffle(bases)
    return [
      ...shuffled.filter(({ origin }) => origin === 'own'),
      ...shuffled.filter(({ origin }) => origin === 'shipped'),
    ]
  }
  const defects = classes.flatMap((name) =>
    firstOf(ordered(name), perClass, (base) => defectCase(base, name, seed, requiredSections)),
  )
  const used = new Set(defects.map(({ base }) => base.id))
  const controls = controlNames.flatMap((name) => {
    const order = ordered(name)
    // Where there is a choice, those that got a defect: the two figures are about the same texts.
    const preferred = [...order.filter(({ id }) => used.has(id)), ...order.filter(({ id }) => !used.has(id))]
    return firstOf(preferred, perClass, (base) => controlCase(base, name, seed, requiredSections))
  })
  return [...defects, ...controls]
}

function firstOf(bases: readonly Base[], count: number, make: (base: Base) => Case | null): readonly Case[] {
  const made: Case[] = []
  for (const base of bases) {
    if (made.length >= count) break
    const one = make(base)
    if (one !== null) made.push(one)
  }
  return made
}

const randomFor = (seed: string, base: Base, name: string): Random => seededRandom(`${seed} ${base.id} ${name}`)

function defectCase(base: Base, name: DefectClass, seed: string, sections: readonly string[]): Case | null {
  const random = randomFor(seed, base, name)
  if (base.type === 'code') {
    const mutant = seedCodeDefect(base.files, name, random)
    return mutant === null ? null : codeCase(base, mutant.files, { defect: mutant.defect, control: null })
  }
  const facts = { exists: base.exists, hasRequest: base.intent !== null }
  const mutant = seedPlanDefect(base.text, name, facts, random)
  if (mutant === null || isSeenByChecklist(base, mutant.text, sections)) return null
  return planCase(base, mutant.text, { defect: mutant.defect, control: null })
}

function controlCase(base: Base, name: ControlName, seed: string, sections: readonly string[]): Case | null {
  if (base.type === 'code') {
    const files = makeCodeControl(base.files, name)
    return files === null ? null : codeCase(base, files, { defect: null, control: name })
  }
  const text = makePlanControl(base.text, name, randomFor(seed, base, name))
  return text === null || isSeenByChecklist(base, text, sections)
    ? null
    : planCase(base, text, { defect: null, control: name })
}

type What = Pick<Case, 'defect' | 'control'>

const idOf = (base: Base, { defect, control }: What): string => `${base.id} ${defect?.class ?? control}`

function planCase(base: Base, text: string, what: What): Case {
  const request = base.intent === null ? [] : [{ path: 'docs/request.md', text: base.intent }]
  const files = [{ path: 'docs/plan.md', text }, ...(base.origin === 'shipped' ? request : [])]
  return {
    id: idOf(base, what),
    base,
    ...what,
    content: text,
    files,
    hash: sha256(JSON.stringify([base.intent, text])),
  }
}

function codeCase(base: Base & { readonly type: 'code' }, files: readonly ChangedFile[], what: What): Case {
  const content = diffOf(files)
  const after = new Map(files.map((file) => [file.path, file.after]))
  // A file that is gone from the change is as it was before it.
  const written = base.files.map(({ path, before }) => ({ path, text: after.get(path) ?? before }))
  return {
    id: idOf(base, what),
    base,
    ...what,
    content,
    files: written,
    hash: sha256(JSON.stringify([base.intent, content])),
  }
}

/** Such a text is handed back before any reviewer is asked, so it says nothing about one. */
function isSeenByChecklist(
  base: Base & { readonly type: 'plan' },
  text: string,
  requiredSections: readonly string[],
): boolean {
  const setup = { requiredSections, maxBytes: 1_000_000, readChanges: readPlanScope, exists: base.exists }
  const known = new Set(checkPlan(base.text, setup).map(({ problem }) => problem))
  return checkPlan(text, setup).some(({ problem }) => !known.has(problem))
}

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
