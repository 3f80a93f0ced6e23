/** What a review asks of `codex exec` and `codex exec resume`, by the flags that their help texts name. */
const required = {
  exec: [
    '--json',
    '--sandbox',
    '--cd',
    '--skip-git-repo-check',
    '--output-last-message',
    '--output-schema',
    '--ephemeral',
    '--model',
  ],
  resume: ['--json', '--model'],
} as const

/** What a Codex can do beyond what every review needs. */
export type Capabilities = {
  /** The names that `codex features list` knows. */
  readonly features: readonly string[]
  readonly canIgnoreRules: boolean
}

export type HelpTexts = { exec: string; resume: string }

/** The flags that this Codex lacks; none means that it can do every kind of review. */
export function missingCapabilities(help: HelpTexts): string[] {
  const exec = flagsIn(help.exec)
  const resume = flagsIn(help.resume)
  return [
    ...required.exec.filter((flag) => !exec.has(flag)).map((flag) => `exec ${flag}`),
    ...required.resume.filter((flag) => !resume.has(flag)).map((flag) => `exec resume ${flag}`),
  ]
}

/** Help texts list a flag at the start of its own line: `  -s, --sandbox <MODE>` or `      --json`. */
export const flagsIn = (help: string): Set<string> =>
  new Set([...help.matchAll(/^ +(?:-[a-zA-Z], )?(--[a-z][a-z-]*)/gm)].flatMap(([, flag]) => flag ?? []))

/** `shell_tool    stable    true`; what is only kept so that old configurations still load is gone. */
export const featuresIn = (list: string): string[] =>
  [...list.matchAll(/^([a-z][\w.]*) +(\S.*?) +(?:true|false)\s*$/gm)].flatMap(([, name, stage]) =>
    name === undefined || stage === 'removed' ? [] : name,
  )
