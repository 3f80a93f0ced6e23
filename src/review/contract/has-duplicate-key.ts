/** Whether an object of this JSON, as deep as anybody reads it, has a key twice: then nobody knows which counts. */
export function hasDuplicateKey(json: string): boolean {
  const keys: (Set<string> | undefined)[] = []
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === 123 || code === 91) keys[Math.min(++depth, deepest + 1)] = undefined
    else if (code === 125 || code === 93) depth--
    else if (code === 34) {
      const end = endOfString(json, at)
      if (depth <= deepest && isKey(json, end)) {
        const known = keys[depth] ?? new Set()
        keys[depth] = known
        // With its escapes read: `"\u0076erdict"` is a verdict as well.
        const key = JSON.parse(json.slice(at, end)) as string
        if (known.has(key)) return true
        known.add(key)
      }
      at = end - 1
    }
  }
  return false
}

const deepest = 5

/** Behind the closing quote. */
function endOfString(json: string, from: number): number {
  let at = from + 1
  while (at < json.length && json.charCodeAt(at) !== 34) at += json.charCodeAt(at) === 92 ? 2 : 1
  return at + 1
}

function isKey(json: string, from: number): boolean {
  let at = from
  while (json.charCodeAt(at) <= 32) at++
  return json.charCodeAt(at) === 58
}
