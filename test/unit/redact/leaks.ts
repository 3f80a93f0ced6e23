/** What of a secret is still in a text: any eight characters of it in a row. */
export function leaks(secret: string, text: string, width = 8): readonly string[] {
  const found: string[] = []
  for (let at = 0; at + width <= secret.length; at += 1) {
    const part = secret.slice(at, at + width)
    if (text.includes(part)) found.push(part)
  }
  return found
}
