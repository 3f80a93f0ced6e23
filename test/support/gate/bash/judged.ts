import { type BashPolicy, judgeCommand } from '../../../../src/gate/bash/check-command.ts'

export const policy: BashPolicy = { compound: true, allowed: [], untrustedGitKeys: [] }

/** `allow`, or the rule that denies. */
export function judged(command: string, more: Partial<BashPolicy> = {}): string {
  const verdict = judgeCommand(command, { ...policy, ...more })
  return verdict.kind === 'allow' ? 'allow' : verdict.rule
}
