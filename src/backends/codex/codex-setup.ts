export type CodexSetup = {
  /** The absolute path of `codex`. */
  readonly program: string
  readonly env: NodeJS.ProcessEnv
  /** A folder of the user's own for what is known of each Codex; null: it is found out each time. */
  readonly cacheDir: string | null
  /** A folder for files that live as long as a question; null for the system's own. */
  readonly scratch: string | null
  readonly limits?: Partial<CodexLimits>
}

export type CodexLimits = {
  /** Deep thought is silent for minutes; this is longer. */
  readonly silenceMs: number
  /** For how long Codex may look for a network. It would do so for ever. */
  readonly networkMs: number
  readonly maxOutputBytes: number
}

export const limitsOf = ({ limits }: CodexSetup): CodexLimits => ({
  silenceMs: 240_000,
  networkMs: 15_000,
  maxOutputBytes: 8 * 1024 * 1024,
  ...limits,
})
