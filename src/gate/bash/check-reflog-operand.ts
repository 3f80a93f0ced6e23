import type { Call, Problem } from './command-row.ts'

/** `git reflog expire`, `delete`, `drop`, and whatever later versions add, are no names of references. */
export function checkReflogOperand({ operands }: Call): Problem | undefined {
  const [ref] = operands
  if (ref === undefined || /^HEAD\b|[/@~^]/.test(ref)) return undefined
  return {
    rule: 'operand',
    part: ref,
    why: 'may be a subcommand of git reflog that changes it',
    instead: `For the reflog of a branch: git reflog show ${ref}.`,
  }
}
