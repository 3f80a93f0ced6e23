export type CodexRequest = {
  readonly cwd: string
  /** The id of the thread to go on with. */
  readonly resume: string | null
  readonly keepsThread: boolean
  readonly model: string | null
  readonly schemaFile: string | null
  readonly answerFile: string
  /** `key=value`, as `-c` takes them. */
  readonly settings: readonly string[]
  /** The user's rules can take a command out of the sandbox. */
  readonly canIgnoreRules: boolean
}

/**
 * Everything stands before `resume`, which does not take all of it and inherits none of it: without `-s`, a thread that
 * began read-only may write. The prompt comes on stdin.
 */
export const codexArgs = (request: CodexRequest): string[] => [
  'exec',
  '--json',
  ...['-s', 'read-only'],
  '--skip-git-repo-check',
  ...['-C', request.cwd],
  ...['-o', request.answerFile],
  ...(request.canIgnoreRules ? ['--ignore-rules'] : []),
  ...(request.keepsThread ? [] : ['--ephemeral']),
  ...(request.model === null ? [] : [`--model=${request.model}`]),
  ...(request.schemaFile === null ? [] : ['--output-schema', request.schemaFile]),
  ...request.settings.flatMap((setting) => ['-c', setting]),
  ...(request.resume === null ? [] : ['resume', request.resume]),
  '-',
]
