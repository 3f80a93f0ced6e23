import { createContext, Script } from 'node:vm'
import type { Found } from './found.ts'

/** The user's own expressions, compiled; or what is wrong with them. */
export type CustomPatterns =
  | { readonly kind: 'none' }
  | { readonly kind: 'compiled'; readonly forms: readonly RegExp[] }
  | { readonly kind: 'invalid'; readonly why: string }

const longest = 200

export function compilePatterns(sources: readonly string[]): CustomPatterns {
  const forms: RegExp[] = []
  for (const [index, source] of sources.entries()) {
    const place = `review.redaction.patterns[${index}]`
    if (source.length > longest) return { kind: 'invalid', why: `${place} is longer than ${longest} characters.` }
    try {
      forms.push(new RegExp(source, 'g'))
    } catch (error) {
      return { kind: 'invalid', why: `${place} is no regular expression: ${messageOf(error)}` }
    }
  }
  return forms.length === 0 ? { kind: 'none' } : { kind: 'compiled', forms }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** What the user's expressions may still take in one redaction, in milliseconds. */
export type Budget = { leftMs: number }
export const newBudget = (): Budget => ({ leftMs: 600 })

/**
 * What the expressions find in each text. An expression may be one that never ends: nothing inside this thread can stop
 * it but the watchdog of `node:vm`, which costs a tenth of a millisecond and is therefore asked for all texts at once.
 */
export function findCustom(
  texts: readonly string[],
  forms: readonly RegExp[],
  budget: Budget,
): ReadonlyMap<number, readonly Found[]> {
  const startedAt = performance.now()
  const timeout = Math.floor(budget.leftMs)
  if (timeout < 1) throw tooSlow()
  context ??= createContext({ run: () => {} })
  const found = new Map<number, Found[]>()
  context.run = () => {
    for (const [index, text] of texts.entries()) {
      const here = forms.flatMap((form) => matches(text, form))
      if (here.length > 0) found.set(index, here)
    }
  }
  try {
    script.runInContext(context, { timeout })
  } catch (error) {
    throw isTimeout(error) ? tooSlow() : error
  } finally {
    context.run = () => {}
  }
  budget.leftMs -= performance.now() - startedAt
  return found
}

const script = new Script('run()')
let context: ReturnType<typeof createContext> | undefined

/** It may come from the other context, whose `Error` is not ours. */
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'

const tooSlow = (): Error => new Error('The patterns in review.redaction.patterns take too long on this text.')

/** A match of nothing blanks nothing, and is passed over without an object for each. */
function matches(text: string, form: RegExp): Found[] {
  const found: Found[] = []
  for (let from = 0; from <= text.length; ) {
    form.lastIndex = from
    if (!form.test(text)) break
    if (form.lastIndex === from) {
      from += 1
      continue
    }
    form.lastIndex = from
    const match = form.exec(text)
    if (match === null) break
    const end = match.index + match[0].length
    if (match[0] !== '') found.push({ kind: 'custom', parts: [{ start: match.index, end }] })
    from = Math.max(end, match.index + (match[0] === '' ? 1 : 0))
  }
  return found
}
