import type { Argument, Command, Option } from 'commander'
import type { CompletionOutput } from '../../schemas/output/completion.ts'

export type Described = CompletionOutput['commands'][number]
export type Value = Described['operands'][number]['value']

/** What may stand where a help text has this name in brackets. Whatever else it is called is any text. */
const valueKinds: { readonly [placeholder: string]: Value['kind'] } = {
  file: 'file',
  strategy: 'file',
  folder: 'folder',
  commit: 'commit',
  base: 'commit',
  branch: 'commit',
}

/** The commands as data, from the very objects that parse them. */
export const describeCommands = (commands: readonly Command[]): Described[] =>
  commands.map((command) => ({
    name: command.name(),
    description: firstSentence(command.description()),
    options: [...command.options, helpOption].map(describeOption),
    operands: command.registeredArguments.map((argument) => ({
      name: argument.name(),
      is_repeated: argument.variadic,
      value: valueFor(argument.name(), argument.argChoices),
    })),
  }))

const helpOption = { short: '-h', long: '--help', description: 'display help for command', flags: '' } as Option

const describeOption = ({ short, long, description, flags, required, optional, argChoices, defaultValue }: Option) => ({
  names: [short, long].filter((name) => name !== undefined),
  description: firstSentence(description),
  takes: required ? ('a value' as const) : optional ? ('perhaps a value' as const) : ('nothing' as const),
  is_repeated: Array.isArray(defaultValue),
  value: valueFor(/[<[]([^>\]]+)/.exec(flags)?.[1] ?? '', argChoices),
})

const valueFor = (placeholder: string, choices: Argument['argChoices']): Value => ({
  kind: choices === undefined ? (valueKinds[placeholder] ?? 'text') : 'choice',
  choices: choices ?? [],
})

/** Beside a name there is room for so much. */
const firstSentence = (text: string): string => /^.*?(?=[.:;] |[.]?$)/s.exec(text.replace(/ \(.*\)/, ''))?.[0] ?? text
