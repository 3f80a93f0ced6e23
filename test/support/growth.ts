/**
 * How many times longer the work takes on twice the input: 2 where it is linear, 4 where it is quadratic. The least of
 * several measurements in processor time, because a busy machine and a collection of garbage only add; what is linear
 * shows it soon.
 */
export function growth(work: (text: string) => unknown, line: string, length: number): number {
  const text = line.repeat(length / line.length)
  work(text)
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 10 && least > 2.3; round += 1)
    least = Math.min(least, fastest(() => work(text + text)) / fastest(() => work(text)))
  return least
}

function fastest(work: () => unknown): number {
  const times = Array.from({ length: 3 }, () => {
    const [since, used] = [performance.now(), process.cpuUsage()]
    work()
    const { user, system } = process.cpuUsage(used)
    return Math.min(performance.now() - since, (user + system) / 1_000)
  })
  return Math.max(0.01, Math.min(...times))
}
