import { type Call, hasFlag, type Problem } from './command-row.ts'

/** A bare word may be a path, and with nothing but paths git shortlog sums up a log that it reads from stdin. */
const revision = /^(HEAD|@|main$|master$|origin\/|refs\/)|\.\.|[~^]/

export function checkShortlogRevision(call: Call): Problem | undefined {
  const named = call.operands.slice(0, call.operandsBeforeDashes)
  if (call.isPiped || named.some((word) => revision.test(word))) return undefined
  if (hasFlag(call, '--all --branches --tags --remotes --glob --reflog')) return undefined
  return {
    rule: 'stdin',
    part: 'git shortlog',
    why: 'names no revision and would wait for a log on stdin',
    instead: 'Name one: git shortlog -sn HEAD, or main..HEAD, or --all.',
  }
}
