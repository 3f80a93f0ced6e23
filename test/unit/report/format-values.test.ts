import { describe, expect, it } from 'vitest'
import { countOf, formatBytes, formatCount, formatDuration, formatTime } from '../../../src/report/html.ts'

describe('values as people read them', () => {
  it.each([
    [formatDuration(0), '0.0 s'],
    [formatDuration(430), '0.4 s'],
    [formatDuration(9_949), '9.9 s'],
    [formatDuration(9_960), '10 s'],
    [formatDuration(59_600), '1 min'],
    [formatDuration(133_000), '2 min 13 s'],
    [formatDuration(3_600_000), '1 h'],
    [formatDuration(3_900_000), '1 h 5 min'],
    [formatCount(0), '0'],
    [formatCount(999), '999'],
    [formatCount(1_234_567), '1,234,567'],
    [countOf(1, 'pass', 'passes'), '1 pass'],
    [countOf(1_000, 'pass', 'passes'), '1,000 passes'],
    [formatBytes(1), '1 byte'],
    [formatBytes(200_000), '200.0 kB'],
    [formatBytes(999_999), '1.0 MB'],
    [formatTime('2026-01-02T03:04:05.678Z'), '2026-01-02 03:04:05'],
    [formatTime('yesterday'), 'yesterday'],
  ])('%s', (said, expected) => {
    expect(said).toBe(expected)
  })
})
