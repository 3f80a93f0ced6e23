/** What a program prints when the sandbox has refused it something. */
const signs: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/Read-only file system|\bEROFS\b/i, 'a write'],
  [
    /Network is unreachable|Could not resolve host|name resolution|\bENETUNREACH\b|\bEAI_AGAIN\b|\bENOTFOUND\b/i,
    'the network',
  ],
  [/Address family not supported|\bEAFNOSUPPORT\b/i, 'a socket'],
  [/Device or resource busy|\bEBUSY\b/i, 'a write'],
  [/Operation not permitted|\bEPERM\b/i, 'an operation'],
]

/** For display, not for a decision: programs say it in their own words, and may say it for other reasons. */
export function findRefusals(output: string): readonly string[] {
  const text = output.length > 200_000 ? output.slice(0, 100_000) + output.slice(-100_000) : output
  return [...new Set(signs.filter(([pattern]) => pattern.test(text)).map(([, what]) => what))]
}

/** For Claude, with the result of the command. */
export function explainRefusals(refused: readonly string[], isApproved: boolean): string {
  const what = refused.join(' and ')
  return isApproved
    ? `plan-gate: the sandbox seems to have refused ${what}. While the plan is carried out, commands write in this worktree, in /tmp and in the caches of package managers. Read-only are everything else and what decides about the gate: .claude, plan-gate.yaml, .mcp.json, .git/config and the git hooks. Tell the user if the plan needs more.`
    : `plan-gate: the sandbox seems to have refused ${what}: until docs/plan.md is approved, a command sees everything and changes nothing, without a network. /tmp is writable. Test, build, lint and type-check runners may write, and what they write is thrown away. Do not look for a way round; go on with the plan.`
}
