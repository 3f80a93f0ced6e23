export type ModelInvoke = {
  readonly agent: string
  readonly inputFile: string
  readonly systemFile: string
  /** null: the one that the agent is bound to. */
  readonly model: string | null
  readonly timeoutMs: number
}

/** What is asked stands in the two files: other users of the machine can read a command line. */
export const modelInvokeArgs = ({ agent, inputFile, systemFile, model, timeoutMs }: ModelInvoke): string[] => [
  ...['--agent', agent],
  ...['--input', inputFile],
  ...['--system', systemFile],
  ...(model === null ? [] : ['--model', model]),
  ...['--output-format', 'text'],
  '--json-errors',
  ...['--timeout', String(Math.max(1, Math.floor(timeoutMs / 1_000)))],
]
