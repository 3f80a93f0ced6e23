import { clipEnd } from '../review/clip-text.ts'
import { showHidden } from '../safety/show-hidden.ts'
import { type PackedTexts, packTexts } from './pack-texts.ts'
import { fateWords } from './trace-findings.ts'
import { fateTone, severityTones, type Tone } from './verdict-words.ts'
import type { CycleView, PlacedFinding } from './view-cycles.ts'

/** What the page's script shows: the plans, and where in them each finding stands. All texts are harmless as text. */
export type PageData = {
  readonly plans: PackedTexts
  /** In the order of the texts. */
  readonly revisions: readonly PageRevision[]
}

export type PageRevision = {
  readonly cycle: number
  readonly name: string
  readonly isThere: boolean
  readonly findings: readonly PageFinding[]
}

export type PageFinding = {
  readonly id: string
  readonly severity: string
  readonly severityTone: Tone
  readonly problem: string
  readonly fix: string
  readonly fate: string
  readonly fateTone: Tone
  readonly anchor: string
  readonly line: number | null
}

export function pageData(views: readonly CycleView[]): PageData {
  const all = views.flatMap((view) => view.revisions.map((revision) => ({ ...revision, view })))
  return {
    plans: packTexts(all.map(({ revision }) => revision.text ?? '')),
    revisions: all.map(({ revision, view, findings }) => ({
      cycle: view.cycle.cycle,
      name: `v${revision.revision}`,
      isThere: revision.text !== null,
      findings: findings.map((placed) => pageFinding(placed, view)),
    })),
  }
}

function pageFinding({ finding, line, anchor }: PlacedFinding, { traces }: CycleView): PageFinding {
  const trace = traces.find((each) => each.finding.id === finding.id)
  const shown = (text: string): string => showHidden(clipEnd(text.trim(), 4_000))
  return {
    id: showHidden(clipEnd(finding.id, 20)),
    severity: finding.severity,
    severityTone: severityTones[finding.severity],
    problem: shown(finding.problem),
    fix: shown(finding.fix),
    fate: trace === undefined ? '' : fateWords(trace),
    fateTone: trace === undefined ? 'plain' : fateTone(trace),
    anchor,
    line,
  }
}

/** As the text of a script element, which nothing in it can end: there is no `<` left. */
export const asScriptText = (data: PageData): string =>
  JSON.stringify(data).replace(
    /[<\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
