import type { CommandArgument, Redirection } from 'unbash'
import { checkBlank } from './check-gap.ts'
import { checkRedirection, redirectionTokens } from './check-redirection.ts'
import type { Joined } from './join-commands.ts'
import { readWord, type StaticWord } from './read-word.ts'
import { isRefusal, type Refusal, refuse } from './refusal.ts'
import type { Token } from './second-opinion.ts'

/** One simple command of the line. */
export type Part = {
  readonly kind: 'part'
  readonly words: readonly StaticWord[]
  /** It reads what the command before it prints. */
  readonly isPiped: boolean
  readonly isRedirected: boolean
  readonly text: string
  readonly tokens: readonly Token[]
}

export function readCommand({ command, joint }: Joined, source: string): Part | Refusal {
  const text = source.slice(command.pos, command.end)
  const { name, prefix } = command
  if (name === undefined || prefix.length > 0) return withoutPrefix(prefix[0]?.type, text)
  const words: StaticWord[] = []
  const tokens: Token[] = []
  let end = command.pos
  for (const piece of [name, ...command.suffix]) {
    const read = checkBlank(source, end, piece.pos) ?? readPiece(piece, source)
    if (isRefusal(read)) return read
    if (read.kind === 'word') words.push(read)
    tokens.push(...(read.kind === 'word' ? [{ word: read }] : read.tokens))
    end = piece.end
  }
  const isRedirected = words.length <= command.suffix.length
  return { kind: 'part', words, isPiped: joint === '|', isRedirected, text, tokens }
}

type Redirected = { readonly kind: 'redirection'; readonly tokens: readonly Token[] }

function readPiece(piece: CommandArgument | Redirection, source: string): StaticWord | Redirected | Refusal {
  switch (piece.type) {
    case 'Word':
      return readWord(piece)
    case 'Assignment':
      return withoutPrefix('Assignment', piece.text)
    case 'Redirect':
      return checkRedirection(piece, source) ?? { kind: 'redirection', tokens: redirectionTokens(piece) }
    case 'HereDoc':
    case 'HereString':
      return refuse(
        'here-document',
        source.slice(piece.pos, piece.end),
        'feeds a text to the command',
        'Name a file, or leave it out.',
      )
  }
}

const withoutPrefix = (type: string | undefined, text: string): Refusal =>
  type === 'Assignment' || type === undefined
    ? refuse(
        'assignment',
        text,
        'sets a variable, which can change what a command runs',
        'Leave the assignment out: run the command alone.',
      )
    : refuse('redirection', text, 'begins with a redirection', 'Put the command first; only /dev/null is allowed.')
