import type { Config } from './config.ts'
import { explainConfigError, placeOfConfigError } from './explain-config-error.ts'
import validate from './generated/config.js'
import { byPlace, entryAt, type Finding, type Located, type Place, plainValue } from './located.ts'
import type { SchemaError } from './schema.ts'
import { quoted } from './show-value.ts'

export type CheckedConfig =
  | { readonly kind: 'valid'; readonly config: Config }
  | { readonly kind: 'invalid'; readonly findings: readonly Finding[] }

/** What a file says, held against the schema. Of what is wrong at the places that count, the first `limit` are told. */
export function checkConfig(root: Located, counts: (place: Place) => boolean, limit: number): CheckedConfig {
  const value = plainValue(root) ?? {}
  const broken = brokenExpressions(root)
  if (validate(value) && broken.length === 0) return { kind: 'valid', config: value }
  const errors = withoutNewerRoutes(validate.errors ?? [])
    .map((error) => ({ error, at: placeOfConfigError(error, root) }))
    .filter(({ at }) => counts(at))
    .sort(byPlace)
    // Cut before it is put in words: the search for similar names is what takes time.
    .slice(0, limit)
    .map(({ error }) => explainConfigError(error, root))
  return { kind: 'invalid', findings: [...errors, ...broken.filter(({ at }) => counts(at))] }
}

/** A table of a newer version may look like anything; that it is newer is all there is to say. */
function withoutNewerRoutes(errors: readonly SchemaError[]): readonly SchemaError[] {
  const isNewer = errors.some((error) => error.instancePath === '/review/route_schema' && error.keyword === 'maximum')
  return isNewer ? errors.filter(({ instancePath }) => !/^\/review\/routes(\/|$)/.test(instancePath)) : errors
}

/** Whether a text is a regular expression, no schema can tell. */
function brokenExpressions(root: Located): readonly Finding[] {
  const patterns = entryAt(root, ['review', 'redaction', 'patterns'])?.value
  if (patterns?.kind !== 'list') return []
  return patterns.items.flatMap((item) => {
    if (item.kind !== 'scalar' || typeof item.value !== 'string' || isExpression(item.value)) return []
    const message = `${item.path}: ${quoted(item.value)} is not a regular expression of JavaScript.`
    return [{ path: item.path, at: item.at, message }]
  })
}

function isExpression(source: string): boolean {
  try {
    new RegExp(source)
    return true
  } catch {
    return false
  }
}
