import type { BashVerdict } from '../../../../../src/gate/bash/refusal.ts'

export type Rule = Extract<BashVerdict, { kind: 'deny' }>['rule']

/** Command lines of one family: what is allowed, and what is denied by which rule. */
export type Rows = { readonly allow: readonly string[]; readonly deny: { readonly [rule in Rule]?: readonly string[] } }
