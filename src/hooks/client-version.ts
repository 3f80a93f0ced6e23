/** The version of the Claude Code that started this hook, as its environment tells it. */
export const clientVersion = (env: NodeJS.ProcessEnv = process.env): string | null =>
  /(\d+\.\d+\.\d+)/.exec(env.AI_AGENT ?? '')?.[1] ?? null
