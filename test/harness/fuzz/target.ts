import type { Random } from './random.ts'

/** One kind of input: what may come as it, and what has to hold whatever comes. */
export type Target = {
  readonly name: string
  /** Inputs that mean something: the search begins with them. */
  readonly seeds: readonly string[]
  /** What inputs of this kind are made of. */
  readonly pieces: readonly string[]
  /** A new input from nothing, where there is a grammar. */
  readonly make?: (random: Random) => string
  /** How many parses or decisions one look makes; each has 50 ms. One, where nothing is said. */
  readonly parses?: number
  readonly open: () => Opened
  /** Puts found inputs before the real program, for so many seconds. */
  readonly confirm?: (found: readonly string[], seconds: number) => Confirmed | Promise<Confirmed>
}

/** `ran`: how many of them the program took; `how`: by what, and what was not there. */
export type Confirmed = { readonly ran: number; readonly how: string; readonly failures: readonly Failure[] }

export type Opened = {
  /**
   * Looks at one input and throws a `Broken` where something does not hold. What it returns is a word for what came of
   * it: an input with a word that was not seen before is kept, and others are made from it.
   */
  readonly look: (input: string) => string | Promise<string>
  /** What can only be asked of many inputs at once, such as of another program. */
  readonly settle?: () => readonly Failure[]
  /** Inputs that another check goes on with. */
  readonly found?: () => readonly string[]
  /** Figures for the report. */
  readonly figures?: () => { readonly [name: string]: number }
  readonly close?: () => void
}

export type Failure = { readonly input: string; readonly why: string }

/** A property that does not hold. */
export class Broken extends Error {}

export function demand(holds: boolean, why: string): asserts holds {
  if (!holds) throw new Broken(why)
}

export const same = (one: unknown, other: unknown, why: string): void => {
  const [left, right] = [JSON.stringify(one), JSON.stringify(other)]
  if (left !== right) throw new Broken(`${why}: ${String(left).slice(0, 400)} ≠ ${String(right).slice(0, 400)}`)
}
