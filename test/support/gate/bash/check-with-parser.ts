import { type BashPolicy, type BashVerdict, checkCommand } from '../../../../src/gate/bash/check-command.ts'
import { readLine } from '../../../../src/gate/bash/parse.ts'

export const policy: BashPolicy = { compound: true, allowed: [], untrustedGitKeys: [] }

/** With the parser, whatever the line is. */
export const checkWithParser = (command: string, policy: BashPolicy): BashVerdict =>
  checkCommand(command, policy, readLine)

/** `allow`, or the rule that denies. */
export function ruleFor(command: string, more: Partial<BashPolicy> = {}): string {
  const verdict = checkWithParser(command, { ...policy, ...more })
  return verdict.kind === 'allow' ? 'allow' : verdict.rule
}
