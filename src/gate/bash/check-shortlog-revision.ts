import { type Call, hasFlag, type Problem } from './command-row.ts'

/** Without a revision, git shortlog sums up a log that it reads from stdin. */
export function checkShortlogRevision(call: Call): Problem | undefined {
  if (call.isPiped || call.operandsBeforeDashes > 0) return undefined
  if (hasFlag(call, '--all --branches --tags --remotes --glob --reflog')) return undefined
  return {
    rule: 'stdin',
    part: 'git shortlog',
    why: 'names no revision and would wait for a log on stdin',
    instead: 'Name one: git shortlog -sn HEAD.',
  }
}
