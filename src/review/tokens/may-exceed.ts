/** False is a proof: a token is at least one byte. So most texts need no tokenizer, which takes time to load. */
export function mayExceed(text: string, budget: number): boolean {
  if (text.length * 3 <= budget) return false
  if (text.length > budget) return true
  let bytes = text.length
  for (let at = 0; at < text.length; at++) bytes += bytesOver(text.charCodeAt(at))
  return bytes > budget
}

/** The bytes of UTF-8 beyond the first. A surrogate has two in a pair, three alone, and is always taken for three. */
const bytesOver = (code: number): number => (code < 0x80 ? 0 : code < 0x800 ? 1 : 2)
