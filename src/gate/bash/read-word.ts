import type { DoubleQuotedChild, Word, WordPart } from 'unbash'
import { checkQuoted, checkUnquoted, isRevisionLike } from './check-characters.ts'
import { type Refusal, refuse } from './refusal.ts'

/** A word that every shell reads as the same text, whatever the variables, the files and the options are. */
export type StaticWord = {
  readonly kind: 'word'
  readonly text: string
  /** As it stands in the command line, quotes included. */
  readonly raw: string
  /** It carries an unquoted `^` or `@{…}`: part of a git revision, and a pattern for a zsh with EXTENDED_GLOB. */
  readonly isRevision: boolean
}

export function readWord(word: Word): StaticWord | Refusal {
  const parts: readonly WordPart[] = word.parts ?? [
    { type: 'Literal', pos: word.pos, end: word.end, value: word.value, text: word.text },
  ]
  let isRevision = false
  let isFirst = true
  for (const part of parts) {
    const refusal = checkPart(part, word, isFirst)
    if (refusal !== undefined) return refusal
    isRevision ||= part.type === 'Literal' && isRevisionLike(part.text)
    // Behind empty quotes a word has not begun yet: zsh expands the ~ of `""~`.
    isFirst &&= part.text === "''" || part.text === '""'
  }
  return { kind: 'word', text: word.value, raw: word.text, isRevision }
}

function checkPart(part: WordPart, word: Word, isFirst: boolean): Refusal | undefined {
  switch (part.type) {
    case 'SingleQuoted':
      return undefined
    case 'Literal':
      return checkUnquoted(part.text, word.text, isFirst)
    case 'DoubleQuoted':
      return firstOf(part.parts.map((child) => checkQuotedChild(child, word)))
    case 'SimpleExpansion':
    case 'ParameterExpansion':
    case 'ArithmeticExpansion':
      return expansion(word)
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      return substitution(word)
    case 'AnsiCQuoted':
    case 'LocaleString':
      return refuse(
        'quoting',
        word.text,
        'uses $\'…\' or $"…", which shells decode',
        "Use plain quotes: '…' keeps everything as it is.",
      )
    case 'Glob':
    case 'ExtendedGlob':
      return refuse(
        'glob',
        word.text,
        'is a pattern that the shell replaces by file names, and a file may be named like a flag',
        `Quote it where the command itself takes a pattern: '${word.text}'. Otherwise name the files, or use the Glob tool.`,
      )
    case 'BraceExpansion':
      return refuse(
        'brace',
        word.text,
        'is a brace expansion: one word for you, several for the shell',
        `Write the words out, or quote it: '${word.text}'.`,
      )
  }
}

function checkQuotedChild(part: DoubleQuotedChild, word: Word): Refusal | undefined {
  switch (part.type) {
    case 'Literal':
      return checkQuoted(part.text, word.text)
    case 'SimpleExpansion':
    case 'ParameterExpansion':
    case 'ArithmeticExpansion':
      return expansion(word)
    case 'CommandExpansion':
      return substitution(word)
  }
}

const expansion = (word: Word): Refusal =>
  refuse(
    'expansion',
    word.text,
    'contains a variable or arithmetic, whose value the gate cannot know',
    'Write the value itself, or single quotes where a literal $ is meant.',
  )

const substitution = (word: Word): Refusal =>
  refuse(
    'substitution',
    word.text,
    'runs another command inside this one',
    'Run that command by itself first, and use what it printed.',
  )

const firstOf = (refusals: readonly (Refusal | undefined)[]): Refusal | undefined =>
  refusals.find((refusal) => refusal !== undefined)
