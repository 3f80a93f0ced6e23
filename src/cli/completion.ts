import { Argument, Command } from 'commander'
import type { CompletionOutput } from '../schemas/output/completion.ts'
import { UserError } from '../system/user-error.ts'
import { bashScript } from './completion/bash-script.ts'
import { type Described, describeCommands } from './completion/describe-commands.ts'
import { fishScript } from './completion/fish-script.ts'
import { zshScript } from './completion/zsh-script.ts'
import { helpText } from './help-text.ts'
import { openTerminal } from './terminal.ts'

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const satisfies {
  readonly [shell: string]: (commands: readonly Described[]) => string
}
const shells = Object.keys(scripts) as (keyof typeof scripts)[]

export const completionCommand = (loadAll: () => Promise<Command[]>) => (): Command =>
  new Command('completion')
    .description(
      'Print a script that lets your shell complete the commands of plan-gate, their options and their values.',
    )
    .addArgument(new Argument('[shell]', 'which one').choices(shells))
    .option('--json', 'the commands and what they take, as JSON on stdout')
    .addHelpText(
      'after',
      helpText([
        ['source <(plan-gate completion bash)', 'for this shell; in ~/.bashrc for all'],
        ['plan-gate completion bash > ~/.local/share/bash-completion/completions/plan-gate'],
        ['plan-gate completion zsh > "${fpath[1]}/_plan-gate"'],
        ['plan-gate completion fish > ~/.config/fish/completions/plan-gate.fish'],
      ]),
    )
    .action(async (shell: keyof typeof scripts | undefined, flags: { json?: boolean }) => {
      const terminal = openTerminal(flags.json === true)
      const commands = describeCommands(await loadAll())
      if (terminal.json) return terminal.out(JSON.stringify({ commands } satisfies CompletionOutput))
      if (shell === undefined)
        throw new UserError(
          'There is no shell to make a script for.',
          `Name one: plan-gate completion ${shells.join('|')}.`,
        )
      terminal.out(scripts[shell](commands).trimEnd())
    })
