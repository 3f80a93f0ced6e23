import { cleanLine } from './clean-text.ts'
import { findObjects } from './find-objects.ts'
import { normaliseAnswer } from './normalise-answer.ts'
import { isRecord, type JsonRecord } from './record.ts'

/**
 * Whether an object of the answer stands in what was reviewed: then somebody else said it. White space does not count,
 * nor do the signs in front of the lines of a diff or a quotation, nor the escapes of a text in a program.
 */
export function findQuotation(reviewed: readonly string[]): (json: string, value: JsonRecord | null) => boolean {
  const variants = [...new Set(reviewed.filter(mayHoldVerdict).flatMap(variantsOf))]
  const packed = variants.map(pack)
  const said = new Set(variants.flatMap(answersIn))
  return (json, value) =>
    packed.some((text) => text.includes(pack(json))) || (value !== null && said.has(meaningOf(value)))
}

/** Or an escaped one. */
const mayHoldVerdict = (text: string): boolean => text.includes('verdict') || text.includes('\\u00')

const variantsOf = (text: string): string[] => {
  const unprefixed = text.replace(/^[-+>|#*/ \t]+/gm, '')
  return [text, unprefixed, unescaped(text), unescaped(unprefixed)]
}

const unescaped = (text: string): string => text.replace(/\\(?:[nrt]|(["'\\/]))/g, '$1')

const pack = (text: string): string => text.replace(/\s+/g, '')

const answersIn = (text: string): string[] =>
  findObjects(text).whole.flatMap(({ start, end }) => {
    const value = parseRecord(text.slice(start, end))
    return value !== null && Object.hasOwn(value, 'verdict') ? [meaningOf(value)] : []
  })

export function parseRecord(json: string): JsonRecord | null {
  try {
    const value: unknown = JSON.parse(json)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}

/** The order of its keys, and keys that nobody reads, make no other answer of it. */
const meaningOf = (value: JsonRecord): string =>
  JSON.stringify([cleanLine(value.verdict, 40), normaliseAnswer(value, 'APPROVED').answer])
