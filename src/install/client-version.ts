/** The oldest version in the test suite: since then `onFailure` also blocks for a hook that times out. */
const minClaude = [2, 1, 295] as const

/** From the output of `--version`: `git version 2.39.5`, `2.1.327 (Claude Code)`, `codex-cli 0.169.0`. */
export function parseVersion(text: string): readonly [number, number, number] | null {
  const match = /(\d+)\.(\d+)(?:\.(\d+))?/.exec(text)
  return match === null ? null : [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)]
}

export const isAtLeast = (version: readonly number[], minimum: readonly number[]): boolean => {
  const index = minimum.findIndex((number, i) => number !== version[i])
  return index === -1 || (version[index] ?? 0) > (minimum[index] ?? 0)
}

/** What does not hold with an older Claude Code; null if it is new enough. */
export const oldClientProblem = (version: readonly number[]): string | null =>
  isAtLeast(version, minClaude)
    ? null
    : `${version.join('.')} is older than ${minClaude.join('.')}: a hook that times out or cannot be started lets the call through, and there is no sandbox, so the list decides about commands`
