import type { PassKind } from '../review/prompts/pass-instructions.ts'

/** What a pass is for, in a word. */
export const passWords = {
  plan: 'understand',
  review: 'find',
  verify: 'verify',
  combined: 'the only pass',
} as const satisfies { readonly [pass in PassKind]: string }
