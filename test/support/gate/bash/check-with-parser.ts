import { resolve } from 'node:path'
import type { Location } from '../../../../src/gate/bash/check-command.ts'
import { type BashPolicy, checkCommand } from '../../../../src/gate/bash/check-command.ts'
import { type Line, readLine } from '../../../../src/gate/bash/parse.ts'
import type { BashVerdict, Refusal } from '../../../../src/gate/bash/refusal.ts'
import type { Shell } from '../../../../src/gate/bash/words.ts'

/** A worktree at /repo, seen from its root; other/ is a repository of its own. */
const at = (directory: string): Location => ({
  directories: [directory],
  isRoot: directory === '/repo',
  gitProblem: () => (/^\/repo(?!\/other)(?:\/|$)/.test(directory) ? null : 'which is not in this worktree'),
})
const shell: Shell = { home: '/home/me', environment: ['HOME', 'PATH', 'editor'] }

export const policy: BashPolicy = {
  compound: true,
  allowed: [],
  untrustedGitKeys: [],
  promisorKeys: [],
  start: at('/repo'),
  enter: ({ directories: [from = ''] }, path) => at(resolve(from, path)),
  look: () => null,
  oddNames: () => [],
  shell,
}

export const readLineHere = (source: string): Line | Refusal => readLine(source, shell)

/** With the parser, whatever the line is. */
export const checkWithParser = (command: string, policy: BashPolicy): BashVerdict =>
  checkCommand(command, policy, readLine)

/** `allow`, or the rule that denies. */
export function ruleFor(command: string, more: Partial<BashPolicy> = {}): string {
  const verdict = checkWithParser(command, { ...policy, ...more })
  return verdict.kind === 'allow' ? 'allow' : verdict.rule
}
