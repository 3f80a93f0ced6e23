import { failureClasses, severities, verdicts } from './review.ts'
import { bool, count, type FromSchema, listOf, objectOf, type Schema, text, textOrNull, texts } from './schema.ts'

const countOrNull = { type: ['integer', 'null'], minimum: 0 } as const
const numberOrNull = { type: ['number', 'null'], minimum: 0 } as const
const part = { type: 'number', minimum: 0, maximum: 1 } as const

/** A line of the journal of `plan-gate calibrate`: a review that was paid for, or what the judge said about one. */
export const calibrationLineSchema = {
  $id: 'calibration-line',
  anyOf: [
    objectOf({
      kind: { const: 'review' },
      /** Names the cell, the case with its text, and the repeat. */
      key: text,
      /** null: there is a verdict. */
      failure: { enum: [...failureClasses, null] },
      why: textOrNull,
      verdict: { enum: [...verdicts, null] },
      findings: listOf(
        objectOf({ severity: { enum: severities }, section: text, problem: text, evidence: text, fix: text }),
      ),
      model: textOrNull,
      seconds: { type: 'number', minimum: 0 },
      calls: count,
      input: countOrNull,
      cached: countOrNull,
      output: countOrNull,
      dollars: numberOrNull,
    }),
    objectOf({ kind: { const: 'judgement' }, key: text, answers: listOf(bool) }),
  ],
} as const satisfies Schema

export type CalibrationLine = FromSchema<typeof calibrationLineSchema>
export type ReviewLine = Extract<CalibrationLine, { readonly kind: 'review' }>

const share = objectOf({
  hits: count,
  of: count,
  share: { type: ['number', 'null'], minimum: 0, maximum: 1, description: 'null: nothing was counted.' },
  low: { ...part, description: 'Of the 95 % interval, on the effective size of the sample.' },
  high: part,
  effective: { type: 'number', minimum: 0, description: 'So many independent reviews would say as much.' },
  icc: { ...part, description: 'How much the repeats of one case are alike.' },
  bases: { ...count, description: 'Plans or changes that the copies are made of.' },
  alike: {
    enum: ['repeats', 'bases'],
    description: 'What limits the effective size: repeats or bases that are alike.',
  },
})

const cell = objectOf({
  name: { ...text, description: 'The row of the route table, with the effort and the readers where these differ.' },
  route: text,
  model: textOrNull,
  effort: { ...text, description: 'auto: as review.effort has it.' },
  readers: { ...countOrNull, description: 'null: as review.readers has it.' },
  reviews: { ...count, description: 'That ended with a verdict.' },
  failed: { ...count, description: 'That ended without one; they count neither for nor against the reviewer.' },
  recall: { ...share, description: 'The defects that it reported.' },
  held: { ...share, description: 'The defects for which it also held the plan or the change up.' },
  false_blocks: { ...share, description: 'The copies without a defect that it held up.' },
  unsure: { ...count, description: 'Findings that neither code nor a judge could decide; they count as no hit.' },
  classes: listOf(objectOf({ class: text, recall: share, held: share })),
  seconds: { ...numberOrNull, description: 'Of one review; the median.' },
  tokens: { ...numberOrNull, description: 'Of one review; the median.' },
  calls: { ...numberOrNull, description: 'Questions to the reviewer in one review; the median.' },
  dollars: { ...numberOrNull, description: 'Of all reviews, by the price of the row.' },
})

const agreement = objectOf({ pairs: count, agreed: count, kappa: { type: 'number', minimum: -1, maximum: 1 } })
const nothing = { type: 'null' } as const

export const calibrationSchema = {
  $id: 'calibration',
  title: 'What `plan-gate calibrate --json` prints: how much a reviewer finds, and what it holds up for nothing',
  ...objectOf({
    made_at: text,
    plan_gate: text,
    type: { enum: ['plan', 'code'] },
    seed: text,
    repeat: { ...count, description: 'How often each case is reviewed by each cell.' },
    defects: { ...count, description: 'Copies with a defect.' },
    controls: { ...count, description: 'Copies without one.' },
    bases: listOf(
      objectOf({
        name: text,
        origin: { enum: ['shipped', 'own'] },
        note: textOrNull,
        is_held: {
          ...bool,
          description: 'The unchanged copy was held up in most reviews of every cell: it may have a defect of its own.',
        },
      }),
    ),
    complete: { ...bool, description: 'false: reviews are missing; the same command goes on.' },
    why: { ...textOrNull, description: 'Why it is not complete.' },
    forecast: objectOf({
      reviews: { ...count, description: 'That are still to be made.' },
      calls: count,
      judge_calls: { ...count, description: 'Questions to the judge, at most.' },
      seconds: numberOrNull,
      tokens: numberOrNull,
      dollars: numberOrNull,
      words: text,
    }),
    cells: listOf(cell),
    comparisons: listOf(objectOf({ one: text, other: text, is_apart: bool, words: text })),
    proposal: {
      anyOf: [objectOf({ yaml: text, why: texts }), nothing],
      description: 'A route table to paste into plan-gate.yaml; null: too little was measured or found.',
    },
    notes: { ...texts, description: 'What the figures do not say.' },
    rule: {
      ...agreement,
      description: 'How far code alone agrees with the labelled sample, of the pairs that it decides.',
    },
    judge: {
      anyOf: [
        objectOf({
          route: text,
          ...agreement.properties,
          why: { ...textOrNull, description: 'Why it did not answer everything; null: it did.' },
        }),
        nothing,
      ],
      description: 'The same for the judge, of all pairs; null: there is none.',
    },
  }),
} as const satisfies Schema

export type Calibration = FromSchema<typeof calibrationSchema>
export type CellResult = Calibration['cells'][number]
