/** The result of one check, with its remedy. */
export type CheckResult = {
  name: string
  status: 'ok' | 'warning' | 'failed'
  detail: string
  remedy: string | null
}

export const ok = (name: string, detail: string): CheckResult => ({ name, status: 'ok', detail, remedy: null })

export const warning = (name: string, detail: string, remedy: string): CheckResult => ({
  name,
  status: 'warning',
  detail,
  remedy,
})

export const failed = (name: string, detail: string, remedy: string): CheckResult => ({
  name,
  status: 'failed',
  detail,
  remedy,
})

/** From the output of `--version`: `git version 2.39.5`, `2.1.326 (Claude Code)`, `codex-cli 0.169.0`. */
export function parseVersion(text: string): readonly [number, number, number] | null {
  const match = /(\d+)\.(\d+)(?:\.(\d+))?/.exec(text)
  return match === null ? null : [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)]
}

export const isAtLeast = (version: readonly number[], minimum: readonly number[]): boolean => {
  const index = minimum.findIndex((number, i) => number !== version[i])
  return index === -1 || (version[index] ?? 0) > (minimum[index] ?? 0)
}
