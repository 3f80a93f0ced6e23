import { couldBeSecret } from './could-be-secret.ts'
import type { Found } from './found.ts'
import { readValue } from './read-value.ts'

/** `Bearer …` and `Basic …`, in whatever header or sentence they stand. */
export function findHeaders(text: string): readonly Found[] {
  return Array.from(text.matchAll(scheme)).flatMap((match) => {
    const value = readValue(text, match.index + match[0].length)
    if (value === null || value.form === 'block') return []
    const isSecret =
      match[1]?.toLowerCase() === 'basic' ? holdsPassword(value.text) : couldBeSecret(value.text, 'token', 'data')
    return isSecret ? [{ kind: 'authorization', parts: value.parts }] : []
  })
}

const scheme = /\b(bearer|basic)[ \t]{1,8}(?=[\w"'`\\])/gi

/** A name and a password with a colon between them, in base64. */
const holdsPassword = (value: string): boolean =>
  /^[A-Za-z0-9+/]{8,}={0,2}$/.test(value) &&
  /^[\x20-\x7e]*:[\x20-\x7e]+$/.test(Buffer.from(value, 'base64').toString('latin1'))
