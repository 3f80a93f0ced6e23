import { ownCommand } from '../state/start-command.ts'
import { packageRoot } from '../system/package.ts'
import { withCommand } from '../text/own-commands.ts'

let here: string | undefined

/** What the command line says to people goes through here, so that each command in it runs where the person is. */
export function withOwnCommand(text: string): string {
  if (!text.includes('plan-gate')) return text
  here ??= commandHere()
  return withCommand(text, here)
}

/** The current folder may have been removed, and the package with it. */
function commandHere(): string {
  try {
    return ownCommand(process.cwd(), packageRoot()) ?? 'plan-gate'
  } catch {
    return 'plan-gate'
  }
}
