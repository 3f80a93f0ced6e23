import type { AnsweredFinding, ReviewerAnswer, Verdict } from '../schemas/review.ts'
import { isBlocking, sameFinding, uniteFindings } from './findings.ts'
import type { PassAnswer, PassQuestion, ValidPass } from './passes.ts'

/** Several readers of one text: who is waited for, what they found together, and what each concludes in the end. */

/** Somebody who reads beside the one that leads. */
export type Reader = {
  readonly name: string
  readonly ask: (question: PassQuestion) => Promise<PassAnswer>
  readonly stop: () => void
  /** What a pass of it is expected to take; null: not known. */
  readonly expectedMs: number | null
}

/** What a reader concluded in the end; `why` it did not. */
export type ReaderReport = { readonly name: string; readonly verdict: Verdict | null; readonly why: string | null }

type Running<T> = { readonly answer: Promise<T>; readonly stop: () => void; readonly expectedMs: number | null }

/**
 * Waits for all of them; once more have answered than are still at it, for the others only a twentieth longer than the
 * slowest of these took, or as long as they usually take. null: it was not waited for any longer.
 */
export function gather<T>(all: readonly Running<T>[], isAnswer: (given: T) => boolean): Promise<readonly (T | null)[]> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now()
    const given: (T | null)[] = all.map(() => null)
    const open = new Set(all)
    let answers = 0
    let timer: NodeJS.Timeout | undefined
    const end = (): void => {
      clearTimeout(timer)
      const late = [...open]
      open.clear()
      for (const { stop } of late) stop()
      resolve(given)
    }
    all.forEach((one, index) => {
      one.answer.then((answer) => {
        if (!open.delete(one)) return
        given[index] = answer
        answers += Number(isAnswer(answer))
        if (open.size === 0) return end()
        // Of those who have not failed.
        if (answers <= open.size) return
        const tookMs = performance.now() - startedAt
        const usualMs = Math.max(0, ...[...open].map(({ expectedMs }) => expectedMs ?? 0))
        clearTimeout(timer)
        timer = setTimeout(end, Math.max(tookMs / 20, usualMs - tookMs))
      }, reject)
    })
  })
}

/** An id that the reader made up could be the one that another finding gets. */
export const withSource = (answer: ReviewerAnswer, name: string): ReviewerAnswer => ({
  ...answer,
  findings: answer.findings.map((finding) => ({
    ...finding,
    id: finding.id !== null && /^[FU]\d{1,9}$/.test(finding.id) ? finding.id : null,
    sources: [name],
  })),
})

/** All that was found. Each new one gets an id, by which a verification can name it. */
export function uniteAnswers(lead: ReviewerAnswer, others: readonly ReviewerAnswer[]): ReviewerAnswer {
  const findings = others.reduce<readonly AnsweredFinding[]>(
    (all, { findings }) => uniteFindings(all, findings),
    uniteFindings(lead.findings, []),
  )
  return { ...lead, findings: findings.map((finding, index) => ({ ...finding, id: finding.id ?? `N${index + 1}` })) }
}

/** As a verification is handed it: who has reported a finding says nothing about it. */
export const handOn = (answer: ReviewerAnswer): string =>
  JSON.stringify({ ...answer, findings: answer.findings.map(({ sources: _, ...finding }) => finding) })

/** With the sources of what was handed on; one that the verification has added is of the reader that leads. */
export const withSources = (
  verified: readonly AnsweredFinding[],
  found: readonly AnsweredFinding[],
  lead: string,
): readonly AnsweredFinding[] =>
  verified.map((finding) => ({ ...finding, sources: sameFinding(finding, found)?.sources ?? [lead] }))

export const missingFrom = (
  findings: readonly AnsweredFinding[],
  among: readonly AnsweredFinding[],
): readonly AnsweredFinding[] => findings.filter((finding) => sameFinding(finding, among) === undefined)

/** What held it up and does no more, be it left out or called minor. */
export const droppedBy = (
  verified: readonly AnsweredFinding[],
  found: readonly AnsweredFinding[],
): readonly AnsweredFinding[] => missingFrom(found.filter(isBlocking), verified.filter(isBlocking))

export type Looked = { readonly reader: Reader; readonly pass: ValidPass }

/**
 * An approval needs each reader that answered, and none is outvoted: what the verification has dropped of a reader, and
 * an approval that this reader has not given, are put to its own row, afresh.
 */
export async function askReaders(
  verified: ReviewerAnswer,
  found: readonly AnsweredFinding[],
  others: readonly Looked[],
  ask: (reader: Reader, answer: ReviewerAnswer) => Promise<PassAnswer>,
): Promise<{ readonly answer: ReviewerAnswer; readonly reports: readonly ReaderReport[] }> {
  const held = await Promise.all(
    others.map(async ({ reader, pass }) => {
      const own = found.filter((one) => isBlocking(one) && one.sources?.includes(reader.name))
      const dropped = droppedBy(verified.findings, own)
      const disagrees = pass.answer.verdict !== 'APPROVED' && verified.verdict === 'APPROVED'
      if (dropped.length === 0 && !disagrees) return { reader, verdict: pass.answer.verdict, answer: null }
      const again = await ask(reader, { ...pass.answer, findings: dropped.length === 0 ? own : dropped })
      const { answer } = again.kind === 'valid' ? again : { answer: { ...pass.answer, findings: own } }
      return { reader, verdict: answer.verdict, answer: withVerdictAsFinding(answer, reader.name) }
    }),
  )
  const kept = held.flatMap(({ answer, reader }) =>
    answer === null ? [] : withSources(answer.findings, found, reader.name),
  )
  const findings = uniteFindings(verified.findings, kept)
  const verdicts = [verified.verdict, ...held.map(({ verdict }) => verdict)]
  const verdict = graverVerdicts.find((one) => verdicts.includes(one)) ?? verified.verdict
  const asking = held.find(({ answer }) => answer?.verdict === 'DECISION_NEEDED')?.answer
  return {
    answer: { ...verified, verdict, findings, question: verified.question ?? asking?.question ?? null },
    reports: held.map(({ reader, verdict }) => ({ name: reader.name, verdict, why: null })),
  }
}

const graverVerdicts: readonly Verdict[] = ['CHANGES_REQUIRED', 'DECISION_NEEDED']

/** Changes that are required without a finding would be asked of another reader, who does not know them. */
function withVerdictAsFinding(answer: ReviewerAnswer, name: string): ReviewerAnswer {
  if (answer.verdict !== 'CHANGES_REQUIRED' || answer.findings.some(isBlocking)) return answer
  const finding: AnsweredFinding = {
    id: null,
    severity: 'major',
    section: 'the whole',
    problem: answer.summary,
    evidence: `The verdict of ${name}, which it kept when it was asked again.`,
    fix: 'Fix what it names, or say in a reply why it does not hold.',
  }
  return { ...answer, findings: [...answer.findings, finding] }
}
