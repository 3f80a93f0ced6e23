/** 75,000 ms → 1:15. */
export function clockTime(ms: number): string {
  if (!Number.isFinite(ms)) return '?'
  const seconds = Math.max(0, Math.round(ms / 1000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

/** "about 3 min", or "about 40 s". */
export const roughTime = (ms: number): string =>
  ms < 90_000 ? `about ${Math.max(1, Math.round(ms / 1000))} s` : `about ${Math.round(ms / 60_000)} min`
