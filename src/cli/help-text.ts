/** What stands below the options of each command, in one form. */
export function helpText(examples: readonly (readonly [command: string, does?: string])[], more = ''): string {
  const width = Math.max(...examples.map(([command, does]) => (does === undefined ? 0 : command.length)))
  const lines = examples.map(([command, does = '']) => `  $ ${command.padEnd(width)}  ${does}`.trimEnd())
  return `\nExamples:\n${lines.join('\n')}\n${more === '' ? '' : `\n${more}\n`}`
}
