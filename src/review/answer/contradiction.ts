import type { Verdict } from '../../schemas/review.ts'

/**
 * Whether the text around an answer names another verdict. Beside an approval every ambiguity counts, since a false
 * approval opens the gate, and a false contradiction costs another review.
 */
export function contradicts(verdict: Verdict, around: string): boolean {
  const prose = plain(around)
  if (verdict === 'APPROVED') return refusals.some((pattern) => pattern.test(prose))
  const names = ['APPROVED', 'CHANGES REQUIRED', 'DECISION NEEDED'].filter((name) => name !== verdict.replace('_', ' '))
  return [new RegExp(`\\b(?:${names.join('|')})\\b`, 'g'), declaredApproval].some((pattern) =>
    [...prose.matchAll(pattern)].some(({ index, 0: { length } }) => isClaim(prose, index, index + length)),
  )
}

/** Without Markdown and quotes, `CHANGES_REQUIRED` as two words; a sentence may go on in its next line. */
const plain = (text: string): string =>
  text
    .replace(/\p{Cf}/gu, '')
    .replaceAll('’', "'")
    .replace(/[*`~"“”|#>_{}()[\]\\-]+|\p{Extended_Pictographic}|\ufe0f/gu, ' ')
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')

const refusals = [
  /(?<!\bno (?:further |more |other )?)\bchanges (?:(?:is|are) )?(?:required|needed|necessary|requested)\b/i,
  /\b(?:needs?|requires?|request(?:ed|s|ing)?) (?!no )(?:\w+ )?changes\b/i,
  /\bdecision (?:is )?needed\b|\bskipped\b|\breject|\bdisapprov|\bunapproved\b|\bveto|\bwithh[eo]ld/i,
  /(?:\b(?:not|cannot|never|unable|neither|nor|without|hardly|once|if|unless|until)|n't),?(?:[ \n](?!(?:so|and|but|therefore|thus|hence|which)\b)[^\s.;:!?]+){0,8}[ \n](?:approv|accept|endors|ready\b|optimal\b|pass\b)/i,
  /\b(?:no approv|(?:would|could|might) (?:\w+ )?approv|i refuse)|\bnever(?: \w+){0,2} approv/i,
  /\bapprov\w*(?: [\w']+){0,3} (?:not|denied|withheld|refused|pending|once|if|only|unless|until|provided|subject|conditional\w*)\b/i,
  /\b(?:approv\w*|is optimal) ?[:=]? ?(?:is )?(?:false|denied|refused)\b|\bapprov\w* ?[:=] ?no\b/i,
  /\b(?:FAIL(?:S|ED)?|UNCERTAIN)\b/,
  /^(?:fail|uncertain|refused|declined)(?:[.:!,]|$| [–—])/im,
  /\b(?:verdict|result|status|outcome|assessment|conclusion|decision)(?: is)?(?: an?)?[ :=–—]{1,3}(?:fail|uncertain|no\b|negative|refus|revis|block)/i,
  // What else a verdict is called.
  /\bverdict ?[:=–—] ?(?!approv|pass\b)\p{L}/iu,
]

const declaredApproval = /\bverdict(?: is)?(?: an?)?[ :=–—]{1,3}(?:approved?|pass)\b/gi

function isClaim(prose: string, start: number, end: number): boolean {
  const isNegated = /\b(?:no|not|never|without|cannot|neither|nor|hardly|\w+n't)(?:[ \n]\w+){0,2}[ \n]?$/i
  const isOpen = /^ ?(?:\/|,? ?or\b)|^,? (?:only )?(?:if|once|unless|when|after|provided)\b/i
  return !isNegated.test(prose.slice(Math.max(0, start - 60), start)) && !isOpen.test(prose.slice(end, end + 20))
}
