import { type ChecklistFinding, finding } from './finding.ts'

/** A reviewer that gets too much reads the beginning, and says nothing of the rest. */
export function checkSize(text: string, maxBytes: number, name: string): ChecklistFinding[] {
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxBytes) return []
  const line = Buffer.from(text).subarray(0, maxBytes).toString('utf8').split('\n').length
  return [
    finding('major', 'Size', {
      problem: `The ${name} has ${grouped(bytes)} bytes; at most ${grouped(maxBytes)} are reviewed.`,
      evidence: `Line ${line} is where the limit is reached.`,
      fix: 'Move listings and logs out of it, or split the work in two.',
    }),
  ]
}

const grouped = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')
