/** Without marks, numbers in front and case: `## 2. Changes:` is `changes`. */
export const plainTitle = (title: string): string =>
  title
    .slice(0, 500)
    .toLowerCase()
    .replace(/[`*_"'\u201c\u201d]/g, '')
    .replace(/^[\s#\u00a7]+/, '')
    .replace(/^\d{1,3}(?:[.)]\d{1,3})*[.)]?\s+/, '')
    .replace(/^section\s+/, '')
    .replace(/[\s:.,]+$/, '')
    .replace(/\s+/g, ' ')

/** Up to the end of a word. */
export const beginsWith = (text: string, start: string): boolean =>
  text.startsWith(start) && /^[^\p{L}\p{N}]/u.test(text.slice(start.length))

/** Whether two findings stand in the same place; the line may have moved since. */
export function isSamePlace(a: string, b: string): boolean {
  const [one, other] = [plainTitle(withoutLine(a)), plainTitle(withoutLine(b))]
  return one === other || beginsWith(one, other) || beginsWith(other, one)
}

const withoutLine = (section: string): string => section.slice(0, 500).replace(/:\d+(?:[-:,]\d+)*\s*$/, '')
