/** A shorter text that still fails: ever smaller pieces are left out, for as long as there is time. */
export function shrinkText(text: string, fails: (text: string) => boolean, forMs = 5_000): string {
  const until = performance.now() + forMs
  let shortest = text
  for (let size = Math.ceil(text.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < shortest.length; ) {
      if (performance.now() > until) return shortest
      const shorter = shortest.slice(0, at) + shortest.slice(at + size)
      if (shorter.length < shortest.length && fails(shorter)) shortest = shorter
      else at += size
    }
  }
  return shortest
}
