import { looksSecret } from '../looks-secret.ts'
import { type Blanked, blankOut } from './blank-out.ts'
import { findSecrets } from './find-secrets.ts'

/** Nothing shorter holds a name and a secret, or a token. */
const shortest = 8

/**
 * Looked at again until nothing more is found, since a mark can bring a name and a value together that were apart.
 * That is also why redacting twice changes nothing.
 */
export function redactPlainText(text: string): Blanked {
  let kinds: readonly string[] = []
  let left = text
  for (let round = 0; round < 20; round += 1) {
    const next =
      left.length >= shortest && looksSecret(left) ? blankOut(left, findSecrets(left)) : { text: left, kinds: [] }
    if (next.text === left) return { text: left, kinds }
    kinds = kinds.length === 0 ? next.kinds : [...kinds, ...next.kinds]
    left = next.text
  }
  throw new Error('The text shows something new to redact each time that it is looked at.')
}
