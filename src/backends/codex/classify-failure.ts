import type { Failure } from '../../schemas/backend.ts'
import { quoteForeign } from '../quote-foreign.ts'
import { type FailureRow, failureTable, type Remedy } from './failure-table.ts'

export type Classified = { readonly failure: Failure; readonly remedy: Remedy | null }

/** What Codex said about a failure, as a class with words of ours. null: it is none that is known. */
export function classifyFailure(said: string, secrets: readonly string[]): Classified | null {
  const row = failureTable.find(({ when }) => when.test(said))
  if (row === undefined) return null
  const { failure, nextStep } = row
  return {
    failure: { failure, why: withQuote(row.why, said, secrets), nextStep, retryAfterMs: retryAfterIn(row, said) },
    remedy: row.remedy ?? null,
  }
}

export function withQuote(why: string, said: string, secrets: readonly string[]): string {
  const quote = quoteForeign(messageIn(said), secrets)
  return quote === '' ? `${why}.` : `${why}: ${quote}`
}

/** Some errors of a server arrive as its whole body. */
function messageIn(said: string): string {
  if (!said.startsWith('{')) return said
  try {
    const body: { error?: { message?: unknown } } | null = JSON.parse(said)
    return typeof body?.error?.message === 'string' ? body.error.message : said
  } catch {
    return said
  }
}

function retryAfterIn({ failure }: FailureRow, said: string): number | null {
  if (failure !== 'rate-limited') return null
  const [, amount, unit] = /(?:try again|retry)(?: after| in)? (\d+(?:\.\d+)?) ?(ms|s|m)\w*/i.exec(said) ?? []
  if (amount === undefined || unit === undefined) return null
  return Math.round(Number(amount) * (units[unit.toLowerCase()] ?? 1))
}

const units: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000 }
