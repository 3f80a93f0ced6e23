export type ProseVerdict = 'PASS' | 'FAIL' | 'UNCERTAIN'

/**
 * The verdict of a review in prose, from its first five lines. "Verdict: PASS" counts before a line that begins with
 * the word, and that before the word in capitals further on; where the clearest ones differ, nothing is certain.
 */
export function parseVerdict(text: string): ProseVerdict {
  const lines = text
    .slice(0, 50_000)
    .trim()
    .split(/\r\n?|\n/, 5)
    .map(plain)
  for (const patterns of [declared, leading, mentioned]) {
    const found = new Set(lines.flatMap((line) => patterns.flatMap((pattern) => verdictsIn(line, pattern))))
    const [only] = found
    if (only !== undefined) return found.size === 1 ? only : 'UNCERTAIN'
  }
  return 'UNCERTAIN'
}

/** A line without what Markdown, tables, JSON and emoji put around its words. */
const plain = (line: string): string =>
  line
    .slice(0, 2000)
    .replace(/[*`~"“”{}[\]()|#>]|(?<!\w)['’_]+|['’_]+(?!\w)|\p{Extended_Pictographic}|\ufe0f/gu, ' ')
    .replace(/^\s*(?:[-+•–—]|\d{1,3}[.)])\s/, ' ')
    .replace(/\s+/g, ' ')
    .trim()

const any = '(pass|fail|uncertain)(?!\\w|-\\w)'
const capitals = '(PASS|FAIL|UNCERTAIN)(?!\\w|-\\w)'

const declared = [
  new RegExp(
    `\\b(?:verdict|result|status|outcome|assessment|conclusion|decision)(?: is)?(?: a)? ?[:=–—-]? ?${any}`,
    'gi',
  ),
]

const leading = [
  new RegExp(`^${capitals}`, 'g'),
  // With a sign behind it, since "Pass the token on" tells the author what to do.
  /^(Pass|Fail|Uncertain)(?=[:.!,]| [–—-] )/g,
  new RegExp(`^${any}[.!:]?$`, 'gi'),
]

/** Said of the whole: "All tests PASS" is not. */
const mentioned = [new RegExp(`(?:\\b(?:is|as|an?|overall)|[:;,.=→–—-]) ${capitals}`, 'g')]

function verdictsIn(line: string, pattern: RegExp): ProseVerdict[] {
  return [...line.matchAll(pattern)].flatMap((match): ProseVerdict[] => {
    const before = line.slice(0, match.index + match[0].search(/\S+$/))
    const after = line.slice(match.index + match[0].length)
    if (negation.test(before) || openEnd.test(after)) return []
    return verdictNames.filter((name) => name === match[1]?.toUpperCase())
  })
}

const verdictNames = ['PASS', 'FAIL', 'UNCERTAIN'] as const

const negation = /\b(?:no|not|never|without|cannot|\w+n['’]t|neither|nor|hardly)(?: \w+){0,2} ?$/i

/** A choice that the reviewer did not make, or a condition that is not met yet. */
const openEnd =
  /^ ?(?:\/|,? ?or\b|,? ?(?:pass|fail|uncertain)\b)|^,? (?:only )?(?:if|once|unless|when|after|provided)\b/i
