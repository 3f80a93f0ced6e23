/**
 * How many times longer the work takes on twice the input: 2 where it is linear, 4 where it is quadratic. The least of a
 * few measurements, because a busy machine only adds.
 */
export function growth(work: (text: string) => unknown, line: string, length: number): number {
  const text = line.repeat(length / line.length)
  work(text)
  return Math.min(...Array.from({ length: 3 }, () => fastest(() => work(text + text)) / fastest(() => work(text))))
}

function fastest(work: () => unknown): number {
  const times = Array.from({ length: 3 }, () => {
    const since = performance.now()
    work()
    return performance.now() - since
  })
  return Math.min(...times)
}
