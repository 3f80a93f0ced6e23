/** Gives each different line a number, the same line the same; `lines` are all of them in the order of their numbers. */
export function numberLines() {
  const numbers = new Map<string, number>()
  const numberOf = (line: string): number => {
    const known = numbers.get(line)
    if (known !== undefined) return known
    numbers.set(line, numbers.size)
    return numbers.size - 1
  }
  return { numberOf, lines: () => [...numbers.keys()] }
}
