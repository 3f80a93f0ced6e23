import type { IncomingHttpHeaders } from 'node:http'

/** How long a server asks to be left alone: milliseconds, seconds, or a date. */
export function readRetryAfter(headers: IncomingHttpHeaders, now: number): number | null {
  const precise = numberIn(headers['retry-after-ms'])
  if (precise !== null) return Math.round(precise)
  const header = headers['retry-after']?.trim()
  if (header === undefined) return null
  const seconds = numberIn(header)
  if (seconds !== null) return Math.round(seconds * 1000)
  const date = header.endsWith('GMT') ? Date.parse(header) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

const numberIn = (header: string | string[] | undefined): number | null =>
  typeof header === 'string' && /^\d{1,12}(?:\.\d+)?$/.test(header.trim()) ? Number(header) : null
