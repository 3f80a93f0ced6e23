import { checkFile } from './check-file.ts'
import type { FlagKind } from './command-row.ts'
import { type Refusal, refuse } from './refusal.ts'

export type Valued = Exclude<FlagKind, 'plain' | 'pair'>

const number = /^[-+]?\d+(\.\d+)?([kKMGTPEZYRQ](i?B)?|[bBcw%])?$/
/** `%G?`, `%+G?` and `%(signature)` check a signature: git runs gpg, or what gpg.program names. */
const signature = /%[-+ ]?G|%\(\*?signature/

export function checkValue(kind: Valued, flag: string, value: string): Refusal | undefined {
  switch (kind) {
    case 'optional':
    case 'text':
    case 'textUnlessLast':
    case 'any':
      return undefined
    case 'number':
      return number.test(value)
        ? undefined
        : refuse('value', `${flag} ${value}`, 'does not give a number', `Write ${flag} and a number.`)
    case 'file':
      return value === '-' ? refuse('stdin', `${flag} -`, 'reads from stdin', 'Name a file.') : checkFile(value)
    case 'format':
    case 'optionalFormat':
      return signature.test(value)
        ? refuse('value', value, 'asks for a signature, for which git runs gpg', 'Leave %G… and %(signature…) out.')
        : undefined
  }
}

/** A value that is a word of its own must not look like a flag: programs differ in whether they would take it for one. */
export function checkOwnWord(kind: Valued, flag: string, value: string): Refusal | undefined {
  if (kind === 'any') return undefined
  if (kind !== 'number' && /^-(?!\d)/.test(value) && value !== '-')
    return refuse(
      'value',
      `${flag} ${value}`,
      'gives a value that looks like a flag',
      `Write it in one word with ${flag}.`,
    )
  return checkValue(kind, flag, value)
}
