import { distance } from 'fastest-levenshtein'

/** The most similar name, at most `max` letters away; the earlier of two that are equally near. */
export function nearestName(written: string, names: readonly string[], max = 60): string | undefined {
  if (written.length > 60) return undefined
  let nearest: { name: string; steps: number } | undefined
  for (const name of names) {
    const steps = stepsBetween(bare(written), bare(name))
    // Two letters that changed places count as two, so that even a word of four may differ by two.
    const allowed = Math.max(Math.min(written.length, name.length) < 4 ? 1 : 2, Math.floor(name.length / 3))
    if (steps <= Math.min(allowed, max) && (!nearest || steps < nearest.steps)) nearest = { name, steps }
  }
  return nearest?.name
}

const stepsBetween = (written: string, name: string): number =>
  written.length >= 4 && name.startsWith(written) ? Math.min(1, name.length - written.length) : distance(written, name)

/** `maxRevisions` and `max-revisions` are `max_revisions`. */
const bare = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '')
