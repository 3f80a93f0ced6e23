import type { Flags } from './command-row.ts'

/** What branch, tag and for-each-ref take to choose, sort and print refs. */
export const refFlags: Flags = {
  plain: '--no-color -i --ignore-case --omit-empty',
  optional: '--color',
  textUnlessLast: '--contains --no-contains --merged --no-merged',
  text: '--points-at',
  any: '--sort',
  format: '--format',
}

export const columnFlags: Flags = { plain: '--no-column', optional: '--column' }
