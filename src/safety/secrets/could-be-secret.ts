import { isPlaceholder } from './is-placeholder.ts'
import type { SecretName } from './secret-names.ts'

/**
 * Where a value was found. `data`: JSON, YAML, an environment file, a header; its name is nearly proof. `literal`: a
 * quoted string in code. `bare`: without quotes, where code has names and calls.
 */
export type Setting = 'data' | 'literal' | 'bare'

export function couldBeSecret(value: string, name: SecretName, setting: Setting): boolean {
  if (isPlaceholder(value) || (isPlainThing(value) && !(name === 'password' && /^\d{6,}$/.test(value)))) return false
  if (setting === 'bare' && /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$/.test(value)) return false
  const mixed = /[A-Za-z]/.test(value) && /\d/.test(value)
  switch (name) {
    case 'password':
      return couldBePassword(value, setting, mixed)
    case 'secret':
    case 'token':
    case 'key':
    case 'authorization':
      return value.length >= 8 && !/\s/.test(value) && couldBeMachineMade(value, setting, mixed)
    case 'session':
    case 'cookie':
      return value.length >= 12 && !/\s/.test(value) && mixed && !isMadeOfNames(value)
    case 'maybe':
      return value.length >= 20 && !/[\s/]/.test(value) && mixed && !isMadeOfNames(value)
  }
}

function couldBePassword(value: string, setting: Setting, mixed: boolean): boolean {
  if (/\s/.test(value)) return setting !== 'bare' && isPassphrase(value)
  if (value.length < 6) return setting === 'data' && mixed
  if (/^\d+$/.test(value)) return setting !== 'bare' && !'01234567890123456789'.includes(value)
  if (setting === 'bare') return mixed ? !isMadeOfNames(value) : /[a-z]/i.test(value) && /[!@#^&*?]/.test(value)
  if (mixed || /[!@#$^&*?%]/.test(value)) return setting === 'data' || !isCodeName(value)
  // A word alone: a password in data, in code more often the name of a field.
  return setting === 'data' ? !/pass|pwd/i.test(value) : /^[a-z]{16,}$/.test(value)
}

function couldBeMachineMade(value: string, setting: Setting, mixed: boolean): boolean {
  if (isMadeOfNames(value) && (setting !== 'data' || !mixed)) return false
  if (mixed) return setting !== 'bare' || value.length >= 10
  return (
    value.length >= (setting === 'data' ? 16 : 24) &&
    /^[A-Za-z+/=_-]+$/.test(value) &&
    !/[-_/]/.test(value.slice(4, -4)) &&
    setting !== 'bare'
  )
}

/** Three words or more, and none that talks about passwords: `Enter your password` is a label. */
const isPassphrase = (value: string): boolean =>
  /^[a-z]+(?: [a-z]+){3,30}$/.test(value) &&
  !/\b(?:pass|passw\w+|your|enter|the|is|must|please|and|or|to|for)\b/.test(value)

/** A date, a version, a colour, a size, a path, an address, a type, a media type: what names with `token` also hold. */
const isPlainThing = (value: string): boolean => plainThings.some((form) => form.test(value))

const plainThings = [
  /^\d{4}-\d\d(?:-\d\d)?/,
  /^[v^~]?\d+\.\d+/,
  /^#[0-9a-fA-F]{3,8}$/,
  /^0x[0-9a-fA-F]{1,16}$/,
  /^-?[\d.]+(?:px|em|rem|vh|vw|%|ms|s|m|h|d|kb|mb|gb|k)?$/i,
  /^(?:\.{0,2}|~)\/(?:[\w.@-]+\/)*[\w.@-]+$/,
  /^(?:[\w.@-]+\/)+[\w.@-]+\.[a-z]{1,5}$/i,
  /^[A-Za-z]:\\/,
  /^https?:\/\//,
  /^[a-z]+\/[a-z0-9.+-]+$/,
  /^(?:0{8}-0{4}-0{4}-0{4}-0{12})$/,
  /^(?:[A-Z]\w*)?(?:Ui|I)nt(?:8|16|32|64)(?:Clamped)?(?:Array)?$/,
  /^(?:SHA|sha|HMAC|hmac|RS|HS|ES|AES|aes|RSA|rsa|MD|md|ed|x)[-_]?\d+[\w-]{0,12}$/,
]

/** Words and short numbers joined by humps, dashes or dots: `utf8ToBytes`, `oauth2-token`, `level-4-heading`. */
function isMadeOfNames(value: string): boolean {
  if (!/^[A-Za-z_$][\w$.:/@ -]*$/.test(value)) return false
  const words = value.replace(/([a-z0-9])([A-Z])/g, '$1 $2').split(/[^A-Za-z0-9]+/)
  const isWord = (word: string) =>
    /^(?:[A-Z]?[a-z]{2,15}\d{0,3}|[A-Z]{1,12}\d{0,3}|[a-z]|\d{1,4}|\d{1,2}[a-z]{1,3})?$/.test(word)
  const short = words.filter((word) => word.length > 0 && word.length < 3).length
  return words.every(isWord) && short * 2 <= words.length
}

/** A name as code has it: with a dot, a hump or an underscore between its words. */
const isCodeName = (value: string): boolean => /[a-z][A-Z]|[_.:-]/.test(value) && isMadeOfNames(value)
