const rounds = 10

/**
 * Whether a piece of work takes longer than that. By the clock or in processor time, whichever is less, and the best of
 * several rounds: others work on this machine, and a collection of garbage is not the work's. Only what is always slow
 * is slow.
 */
export function isSlow(work: () => unknown, ms: number): boolean {
  for (let round = 0; round < rounds; round += 1) {
    const [start, used] = [performance.now(), process.cpuUsage()]
    try {
      work()
    } catch {
      // What it throws is another matter.
    }
    const { user, system } = process.cpuUsage(used)
    if (Math.min(performance.now() - start, (user + system) / 1000) <= ms) return false
  }
  return true
}
