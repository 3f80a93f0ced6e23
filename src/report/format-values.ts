/** `0.4 s`, `41 s`, `2 min 13 s`, `1 h 5 min`. */
export function formatDuration(ms: number): string {
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** `1,234,567`. */
export const formatCount = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',')

/** `1 finding`, `3 findings`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`

/** `2026-01-02 03:04:05` of `2026-01-02T03:04:05.678Z`; what is no time stays as it is. */
export const formatTime = (at: string): string => {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/.exec(at) ?? []
  return day === undefined ? at : `${day} ${time}`
}

/** `12.3 kB`. */
export const formatBytes = (bytes: number): string =>
  bytes < 1000
    ? counted(bytes, 'byte')
    : bytes < 999_950
      ? `${(bytes / 1000).toFixed(1)} kB`
      : `${(bytes / 1e6).toFixed(1)} MB`

export const shortHash = (hash: string): string => hash.slice(0, 12)
