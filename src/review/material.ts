/** What a review sends of a request, without secrets. */
import { withholdFromDiff } from '../redact/sensitive-files.ts'
import type { Finding } from '../schemas/review.ts'
import { diffLines, type LineDiff } from '../text/line-diff.ts'
import type { Material, ReviewDependencies, ReviewRequest } from './request.ts'

type Prepared =
  | { readonly kind: 'prepared'; readonly material: Material; readonly notices: readonly string[] }
  | { readonly kind: 'failed'; readonly why: string; readonly nextStep: string }

/** First of all, since a secret that a budget cuts in two would no longer be recognised. */
export function prepareMaterial(
  request: ReviewRequest,
  sensitiveFiles: readonly string[],
  { redact }: Pick<ReviewDependencies, 'redact'>,
): Prepared {
  const { content } = request
  const withheld = request.type === 'code' ? withholdFromDiff(content, sensitiveFiles) : { diff: content, files: [] }
  const { clean, failed } = collectCleaner(redact)
  const cleanOrNone = (text: string | null): string | null => (text === null ? null : clean(text))
  const { type, iteration, rounds } = request
  const material: Material = {
    ...{ type, iteration, rounds },
    content: clean(withheld.diff),
    expertise: cleanOrNone(request.expertise),
    context: cleanOrNone(request.context),
    changes: cleanOrNone(request.changes),
    intent: cleanOrNone(request.intent),
    guidelines: cleanOrNone(request.guidelines),
    replies: cleanOrNone(request.replies),
    earlier: request.earlier.map((finding) => cleanFinding(finding, clean)),
  }
  const why = failed()
  if (why !== null)
    return {
      kind: 'failed',
      why: `Secrets could not be blanked: ${why}`,
      nextStep: 'Fix review.redaction.patterns in plan-gate.yaml.',
    }
  const blanked = diffLines(content, material.content)
  const prose = request.type === 'plan' ? blanked.find(hidesWords) : undefined
  if (prose !== undefined)
    return {
      kind: 'failed',
      why: `Line ${prose.before} of the plan and what follows look like a secret, which no reviewer may see, and what none has seen is not approved.`,
      nextStep: 'Take it out of the plan, or say it in other words.',
    }
  const lines = blanked.map(({ before }) => before)
  const { files } = withheld
  return {
    kind: 'prepared',
    material,
    notices: [
      ...(files.length === 0 ? [] : [`Not sent, because such files hold secrets: ${files.join(', ')}.`]),
      ...(lines.length === 0 || request.type === 'code'
        ? []
        : [`Blanked, because it looks like a secret, and not seen by the reviewer: in line ${lines.join(', ')}.`]),
    ],
  }
}

/** More than the one word that a secret is. */
function hidesWords({ removed, added }: LineDiff[number]): boolean {
  const words = (lines: readonly string[]): readonly string[] => lines.join(' ').split(/\s+/)
  const left = new Set(words(added))
  return words(removed).filter((word) => word !== '' && !left.has(word)).length > 2
}

const cleanFinding = (finding: Finding, clean: (text: string) => string): Finding => ({
  ...finding,
  section: clean(finding.section),
  problem: clean(finding.problem),
  evidence: clean(finding.evidence),
  fix: clean(finding.fix),
})

/** Redacts many parts; after a failure of one of them, none may be used. */
export function collectCleaner(redact: ReviewDependencies['redact']): {
  readonly clean: (text: string) => string
  readonly failed: () => string | null
} {
  let why: string | null = null
  return {
    clean: (text) => {
      const redaction = redact(text)
      if (redaction.kind === 'redacted') return redaction.text
      why ??= redaction.why
      return ''
    },
    failed: () => why,
  }
}
