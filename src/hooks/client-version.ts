/** The version of the Claude Code that started this hook: `AI_AGENT=claude-code_2-1-326_harness`. */
export function clientVersion(env: NodeJS.ProcessEnv = process.env): string | null {
  const match = /^claude-code_(\d+)-(\d+)-(\d+)/.exec(env.AI_AGENT ?? '')
  return match === null ? null : match.slice(1, 4).join('.')
}
