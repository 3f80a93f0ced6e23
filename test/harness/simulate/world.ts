import type { Severity } from '../../../src/schemas/review.ts'

/** What a reviewer and an author are like. */
export type Cell = {
  /** True defects of a first plan; 10 % are critical, 55 % major. */
  readonly defects: number
  /** The share of them that a reading finds, and of the share `hard` of them. */
  readonly recall: number
  readonly recallHard: number
  readonly hard: number
  /** False findings of a first reading, and a round in text that did not change. */
  readonly falseFirst: number
  readonly falseLater: number
  /** After a fix its opposite is asked for. */
  readonly opposite: number
  readonly fixWorks: number
  readonly fixBreaks: number
  /** The verifier drops a false finding. */
  readonly dropsFalse: number
  /** A major finding is called critical. */
  readonly inflates: number
  /** A finding that the author contests is given up, each round. */
  readonly heeds: number
}

export const cells = {
  good: {
    ...{ defects: 4, recall: 0.75, recallHard: 0.35, hard: 0.3, falseFirst: 0.5, falseLater: 0.3 },
    ...{ opposite: 0.04, fixWorks: 0.85, fixBreaks: 0.1, dropsFalse: 0.6, inflates: 0.08, heeds: 0.6 },
  },
  typical: {
    ...{ defects: 5, recall: 0.6, recallHard: 0.25, hard: 0.4, falseFirst: 1, falseLater: 0.6 },
    ...{ opposite: 0.08, fixWorks: 0.75, fixBreaks: 0.15, dropsFalse: 0.5, inflates: 0.1, heeds: 0.6 },
  },
  noisy: {
    ...{ defects: 6, recall: 0.45, recallHard: 0.15, hard: 0.5, falseFirst: 2, falseLater: 1.2 },
    ...{ opposite: 0.15, fixWorks: 0.65, fixBreaks: 0.25, dropsFalse: 0.35, inflates: 0.15, heeds: 0.5 },
  },
} as const satisfies { readonly [name: string]: Cell }
export type CellName = keyof typeof cells

/** Where nothing is known; README.md says why these. A policy that hangs on them is none. */
export const assumptions = {
  /** A second reading on the same thread, as a share of the recall. */
  secondLook: 0,
  /** The same for the verifier of the first round, whose main task is another. */
  verifier: 0.7,
  /** An earlier finding that is still there is seen again. */
  seesAgain: 0.8,
  /** A status is left out. */
  silent: 0.02,
  /** Asked whether unfounded changes are required indeed, the reviewer approves. */
  yields: 0.9,
  /** Later rounds read text that did not change with this share of attention. */
  rereads: 1,
  /** The author acts on minor findings, and on late ones while something else is open; the messages say so since then. */
  fixesMinor: 0.5,
  fixesLate: 0.5,
}
export type Assumptions = { readonly [name in keyof typeof assumptions]: number }

/**
 * Chance by name instead of by order: the same event has the same outcome under each policy, so that two policies are
 * compared on the same plans and the same reviewers.
 */
type Event = readonly (string | number)[]
export type Chance = {
  readonly below: (share: number, ...event: Event) => boolean
  /** Poisson. */
  readonly count: (mean: number, ...event: Event) => number
  readonly pick: (n: number, ...event: Event) => number
}

export function chanceOf(...seed: Event): Chance {
  const draw = (event: Event): number => uniform([...seed, ...event].join('/'))
  return {
    below: (share, ...event) => draw(event) < share,
    pick: (n, ...event) => Math.floor(draw(event) * n),
    count: (mean, ...event) => {
      let [n, left] = [0, draw([...event, 0])]
      for (const limit = Math.exp(-mean); left > limit; left *= draw([...event, n])) n += 1
      return n
    },
  }
}

/** FNV-1a, and the last step of MurmurHash so that near texts give far numbers. */
function uniform(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  for (const factor of [0x85ebca6b, 0xc2b2ae35]) hash = Math.imul(hash ^ (hash >>> 15), factor)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}

/** A defect of the plan, or what a reviewer wrongly takes for one. */
export type Issue = {
  readonly key: string
  readonly isTrue: boolean
  readonly severity: Severity
  readonly isHard: boolean
  readonly passage: number
  /** The reviewer calls a major one critical. */
  readonly isInflated: boolean
}

export const severityOf = (chance: Chance, key: string): Severity =>
  chance.below(0.1, key, 'critical') ? 'critical' : chance.below(0.55 / 0.9, key, 'major') ? 'major' : 'minor'

export const passages = 27
const perSection = 3

export const sectionOf = (passage: number): string => `Part ${'ABCDEFGHI'[Math.floor(passage / perSection)]}`

/** Each change of a passage is another text. */
export const textOf = (passage: number, version: number): string =>
  `Worker w${passage} reads queue q${passage} in state s${version} before record r${passage} is written.`

export const planOf = (versions: readonly number[]): string =>
  versions
    .map((version, passage) =>
      passage % perSection === 0
        ? `## ${sectionOf(passage)}\n\n${textOf(passage, version)}\n`
        : `${textOf(passage, version)}\n`,
    )
    .join('\n')
