import type { ConfigProblem } from './parse-config.ts'

/** What a person sees, a line for each; most terminals make a link of the place. */
export const describeProblems = (problems: readonly ConfigProblem[], fileName: string): readonly string[] =>
  problems.map(
    ({ line, column, message, hint }) => `${fileName}:${line}:${column}  ${message}${hint ? ` ${hint}` : ''}`,
  )
