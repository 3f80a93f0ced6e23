import { type Call, hasFlag, type Problem } from './command-row.ts'

/** Any of them makes branch and tag list, whatever else is given. */
const listing = '-l --list --contains --no-contains --merged --no-merged --points-at'

/** `git branch name` makes a branch; with a flag that lists, the name is a pattern. */
export function checkListMode(call: Call): Problem | undefined {
  const [name] = call.operands
  if (name === undefined || hasFlag(call, listing)) return undefined
  return {
    rule: 'operand',
    part: name,
    why: `is a name that ${call.name} would make`,
    instead: `To list: ${call.name} --list '${name}'.`,
  }
}
