import { readShippedPlans } from '../../../src/calibrate/cases.ts'
import { seededRandom } from '../../../src/calibrate/statistics.ts'
import type { AnsweredFinding, AskReviewer, ReviewerAnswer } from '../../../src/schemas/review.ts'

export type Skill = {
  /** The share of defects that it sees. */
  readonly recall: number
  /** The share of texts without one that it holds up. */
  readonly falseBlocks: number
}

/**
 * A reviewer of known skill that knows the shipped plans by heart. It sees a defect by comparing the text that it is sent
 * with what it remembers, and knows nothing of how or where defects are made.
 */
export function scriptedReviewer({ recall, falseBlocks }: Skill, seed: string): AskReviewer {
  const random = seededRandom(`reviewer ${seed}`)
  const happens = (share: number): boolean => random.below(1_000_000) < share * 1_000_000
  return async ({ user }) => {
    const defect = findDefect(user)
    const isSeen = defect !== null && happens(recall)
    const isWrong = !isSeen && happens(falseBlocks)
    const findings = [...(isSeen ? [defect] : []), ...(isWrong ? [unfounded] : [])]
    const answer: ReviewerAnswer & { readonly is_optimal: boolean } = {
      verdict: findings.length > 0 ? 'CHANGES_REQUIRED' : 'APPROVED',
      is_optimal: findings.length === 0,
      summary: 'Read.',
      question: null,
      findings,
      previous_findings: [],
      context_summary: null,
      complexity: null,
    }
    const usage = { input: 2000, cached: 0, output: 200, reasoning: 0 }
    return { kind: 'answered', text: JSON.stringify(answer), usage, model: 'scripted', thread: null, notices: [] }
  }
}

const unfounded: AnsweredFinding = {
  id: null,
  severity: 'major',
  section: 'Open Questions',
  problem: 'The colour of the button is left open.',
  evidence: 'Nothing about colours.',
  fix: 'Choose one.',
}

type Remembered = { readonly heading: string; readonly passages: ReadonlyMap<string, Passage> }
type Passage = { readonly section: string; readonly text: string; readonly place: number }

function headingOf(plan: string): string {
  const title = /^# (?:Plan: )?(.*)$/m.exec(plan)?.[1] ?? ''
  return title.toLowerCase()
}

/** Paragraphs and list items, by their words without order, case and what people write in two ways. */
function passagesOf(plan: string): ReadonlyMap<string, Passage> {
  let section = ''
  const blocks = plan.split(/\n(?=\n|\s*[-*] |\s*\d+\. |## )/).map((block) => block.trim())
  return new Map(
    blocks.flatMap((block, place) => {
      section = /^## (.*)$/m.exec(block)?.[1] ?? section
      const text = block.replace(/^#.*$/gm, '').replace(/\s+/g, ' ').trim()
      return text === '' ? [] : [[wordsOf(text), { section, text, place }] as const]
    }),
  )
}

const ways: readonly (readonly [RegExp, string])[] = [
  [/doesn't/g, 'does not'],
  [/don't/g, 'do not'],
  [/owing to/g, 'because of'],
  [/instead of/g, 'in place of'],
  [/for instance/g, 'for example'],
  [/in order to/g, 'to'],
  [/therefore/g, 'so'],
  [/even where/g, 'also where'],
  [/all the same/g, 'nevertheless'],
  [/\btoo\b/g, 'as well'],
  [/inside of/g, 'within'],
  [/\blike\b/g, 'such as'],
  [/there are none/g, 'none'],
]

const wordsOf = (text: string): string =>
  (
    ways
      .reduce((words, [from, to]) => words.replace(from, to), text.toLowerCase().replace(/^\s*[-*] /, ''))
      .match(/[\w./-]+/g) ?? []
  ).join(' ')

const remembered: readonly Remembered[] = readShippedPlans().flatMap((base) =>
  base.type === 'plan' ? [{ heading: headingOf(base.text), passages: passagesOf(base.text) }] : [],
)

function findDefect(prompt: string): AnsweredFinding | null {
  const plan =
    /(?:^|\n)(# (?:(?!\nmaterial-)[\s\S])*?\n## Open Questions\n+.*)/.exec(
      prompt.slice(prompt.indexOf(' the plan\n')),
    )?.[1] ?? ''
  const known = remembered.find(({ heading }) => heading === headingOf(plan))
  if (known === undefined) throw new Error(`no such plan: ${plan.slice(0, 80)}`)
  const now = passagesOf(plan)
  const gone = [...known.passages].filter(([words]) => !now.has(words)).map(([, passage]) => passage)
  const added = [...now].filter(([words]) => !known.passages.has(words)).map(([, passage]) => passage)
  const [was, is] = [gone[0], added[0]]
  if (was === undefined && is === undefined) return null
  const { section } = is ?? was ?? { section: '' }
  // Steps carry their numbers, so that two that change places are other passages.
  const isSwapped = gone.length === 2 && added.length === 2 && /^\d/.test(is?.text ?? '')
  const about = [...gone, ...added].map(({ text }) => text).join(' ')
  return {
    id: null,
    severity: 'major',
    section,
    problem: isSwapped
      ? `The order of two steps is wrong: ${about}`
      : is === undefined
        ? `This is missing, and nothing else covers it: ${about}`
        : `This contradicts the request and the rest, and more is allowed or claimed than exists: ${about}`,
    evidence: is === undefined ? 'The request.' : `"${is.text.replace(/^(?:[-*]|\d+\.) /, '')}"`,
    fix: was === undefined ? 'Take it out.' : `Write: ${was.text}`,
  }
}
