import { parse } from 'unbash'
import { checkGap, checkTail } from './check-gap.ts'
import { checkText } from './check-text.ts'
import { joinStatement } from './join-commands.ts'
import { type Part, readCommand } from './read-command.ts'
import { isRefusal, type Refusal, refuse } from './refusal.ts'
import { agreesWithShellQuote, type Token } from './second-opinion.ts'

const mostCommands = 100

export type Line = {
  readonly kind: 'line'
  readonly parts: readonly Part[]
  /** More than one command, or a redirection. */
  readonly isCompound: boolean
}

/** A command line as static words, or why it is not made of them. */
export function readLine(source: string): Line | Refusal {
  const unreadable = checkText(source)
  if (unreadable !== undefined) return unreadable
  const script = parse(source)
  const error = script.errors?.[0]
  if (error !== undefined)
    return refuse('syntax', source, `is not a complete command line (${error.message})`, 'Close what is open.')

  const joined = script.commands.flatMap((statement, index) => joinStatement(statement, index, source))
  if (joined.length > mostCommands)
    return refuse('too-long', source, `joins more than ${mostCommands} commands`, 'Run them one by one.')

  const parts: Part[] = []
  const tokens: Token[] = []
  let end = 0
  for (const next of joined) {
    if (isRefusal(next)) return next
    const part = checkGap(source, end, next) ?? readCommand(next, source)
    if (isRefusal(part)) return part
    if (next.joint !== '') tokens.push(next.joint)
    tokens.push(...part.tokens)
    parts.push(part)
    end = next.command.end
  }
  const wrong = checkTail(source, end) ?? agreesWithShellQuote(source, tokens)
  if (wrong !== undefined) return wrong
  return { kind: 'line', parts, isCompound: parts.length > 1 || parts.some((part) => part.isRedirected) }
}
