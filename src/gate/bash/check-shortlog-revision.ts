import { type Call, hasFlag, type Problem } from './command-row.ts'

/** A bare word may be a path, and with nothing but paths git shortlog sums up a log that it reads from stdin. */
const revision = /^(HEAD|@|main$|master$|origin\/|refs\/)|\.\.|[~^]/

export function checkShortlogRevision(call: Call): Problem | undefined {
  const named = call.operands.slice(0, call.operandsBeforeDashes).some((word) => revision.test(word))
  // The reflog is no revision to it, and --tags may find nothing.
  if (call.isPiped || ((named || hasFlag(call, '--all')) && !hasFlag(call, '-g --walk-reflogs'))) return undefined
  return {
    rule: 'stdin',
    part: 'git shortlog',
    why: 'names no revision and would wait for a log on stdin',
    instead: 'Name one: git shortlog -sn HEAD, or main..HEAD, or --all.',
  }
}
