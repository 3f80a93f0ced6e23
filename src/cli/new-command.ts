import { Command } from 'commander'

/** A command with the help that stands above and below its options: what it does, examples, what else there is to know. */
export function newCommand(
  name: string,
  description: string,
  examples: readonly (string | readonly [command: string, does: string])[],
  more = '',
): Command {
  const described = examples.map((example) => (typeof example === 'string' ? ([example, ''] as const) : example))
  const width = Math.max(...described.map(([command, does]) => (does === '' ? 0 : command.length)))
  const lines = described.map(([command, does]) => `  $ ${command.padEnd(width)}  ${does}`.trimEnd())
  const help = `\nExamples:\n${lines.join('\n')}\n${more === '' ? '' : `\n${more}\n`}`
  return new Command(name).description(description).addHelpText('after', help)
}
