import { escapeUntrusted } from '../redact/untrusted-text.ts'
import { bySeverity, countSeverities, foundBy, isBlocking, isUsers } from '../review/findings.ts'
import { failureClasses } from '../reviewers/failure.ts'
import type { EarlierFinding, FailureClass, Finding, Verdict } from '../schemas/review.ts'
import { type Expected, formatForecast } from '../state/pass-times.ts'
import { clipEnd } from '../text/clean.ts'
import type { TooLong } from './next-step.ts'
import type { SpentTokens } from './revisions.ts'

/** The parts of a review that are reported. All of it is the reviewer's text. */
export type ReviewSummary = {
  readonly summary: string
  readonly findings: readonly Finding[]
  readonly previous: readonly EarlierFinding[]
  readonly late: readonly string[]
  readonly stuck: readonly string[]
}

/** `no-route`: no reviewer could be asked. `not-recorded`: the files of plan-gate could not be read or written. */
export type Unavailability = FailureClass | 'no-route' | 'not-recorded'

/** Who looked, and what was done otherwise than asked for. */
type ReviewedBy = { readonly by: string; readonly notices: readonly string[] }
type AboutRevision = { readonly revision: number; readonly review: ReviewSummary }
type Asked = { readonly question: string | null }

export type PlanOutcome =
  | ({ readonly kind: 'approved' } & AboutRevision & ReviewedBy)
  /** A reviewer that nobody named would approve it, because those before it failed. */
  | ({ readonly kind: 'not-named' } & AboutRevision & Asked & ReviewedBy)
  /** `left`: how many more revisions are reviewed. `next`: what this review took, as the forecast of the next one. */
  | ({ readonly kind: 'changes-required'; readonly left: number; readonly next?: Expected | null } & AboutRevision)
  | ({ readonly kind: 'decision-needed' } & AboutRevision & Asked)
  /** `wasReviewed`: whether these bytes are the last revision, or were not reviewed at all. */
  | ({ readonly kind: 'limit-reached'; readonly wasReviewed: boolean; readonly spent: SpentTokens } & AboutRevision)
  | { readonly kind: 'unavailable'; readonly failure: Unavailability; readonly why: string; readonly nextStep: string }
  | { readonly kind: 'skipped'; readonly why: string }
  | { readonly kind: 'changed-during-review' }
  | { readonly kind: 'checklist'; readonly findings: readonly Pick<Finding, 'section' | 'problem' | 'fix'>[] }
  | ({ readonly kind: 'same-plan'; readonly verdict: Verdict } & AboutRevision & Asked)
  | ({ readonly kind: 'too-long' } & TooLong)
  | { readonly kind: 'not-utf8' }

/** Claude Code truncates added context at 10,000 characters. */
const maxMessageLength = 9000

/** `blocks`: whether Claude must act on it before it goes on. */
export const formatForClaude = (outcome: PlanOutcome): { readonly blocks: boolean; readonly text: string } => ({
  blocks: outcome.kind !== 'approved',
  text: joinParts(messageOf(outcome)),
})

export const formatForUser = (outcome: PlanOutcome): string => `plan-gate: ${messageOf(outcome).user}`

/** To Claude: what stands before its findings and after them. They get the characters that the other parts leave. */
type Message = {
  readonly user: string
  readonly before: readonly string[]
  readonly about?: AboutRevision
  readonly after?: readonly string[]
}

function joinParts({ before, about, after = [] }: Message): string {
  const limit = maxMessageLength - [...before, ...after].join('\n\n').length
  const findings = about === undefined ? [] : formatFindings(about.review, limit, annotated(about.revision))
  const own = about?.review.findings.filter(isUsers).map(({ id }) => id) ?? []
  const hint = own.length === 0 ? claimsNote : `${claimsNote} ${usersNote(own)}`
  const parts = [...before, findings.length === 0 ? '' : hint, ...findings, ...after]
  return parts.filter((piece) => piece !== '').join('\n\n')
}

const claimsNote = "These are the reviewer's claims. Verify each before acting on it."

const usersNote = (ids: readonly string[]): string =>
  `Not so ${ids.join(', ')}: the user wrote ${ids.length === 1 ? 'it' : 'them'}, so do what is asked for, or ask them.`

function messageOf(outcome: PlanOutcome): Message {
  switch (outcome.kind) {
    case 'approved':
      return approvedMessage(outcome)
    case 'not-named':
      return notNamedMessage(outcome)
    case 'changes-required':
      return changesMessage(outcome)
    case 'decision-needed':
      return decisionMessage(outcome)
    case 'limit-reached':
      return limitMessage(outcome)
    case 'same-plan':
      return samePlanMessage(outcome)
    case 'checklist':
      return checklistMessage(outcome)
    case 'unavailable': {
      const what = failureWords[outcome.failure]
      const nextStep = (limit: number): string => oneLine(outcome.nextStep, limit) || remedyOf(outcome.failure)
      return {
        user: `no review: ${what}. ${nextStep(300)} Nothing was counted; the gate stays closed.`,
        before: [
          `plan-gate: docs/plan.md could not be reviewed: ${what}.`,
          oneLine(outcome.why, 600),
          `What the user can do: ${nextStep(600)}`,
          'This says nothing about the plan: do not revise it because of this. No revision was counted, and the gate stays closed. Tell the user; when the cause is fixed, save docs/plan.md again unchanged, and it is reviewed.',
        ],
      }
    }
    case 'skipped':
      return {
        user: `the plan was not reviewed: ${oneLine(outcome.why, 300)} Only you can approve it: plan-gate approve --force --reason "…".`,
        before: [
          `plan-gate: docs/plan.md was not reviewed: ${oneLine(outcome.why, 300)}`,
          'So only the user can approve it. Present the plan to them and stop: they approve it with `plan-gate approve --force --reason "…"`. Do not run that for them.',
        ],
      }
    case 'changed-during-review':
      return {
        user: 'the plan changed during its review; nothing was approved, and nothing was counted.',
        before: [
          'plan-gate: docs/plan.md changed during its review, so the verdict is about another text. Nothing is approved, and no revision was counted.',
          'When the plan is complete, save docs/plan.md once more; that text is reviewed. Do not change it before the verdict.',
        ],
      }
    case 'too-long': {
      const { tokens, limit, sections } = outcome
      return {
        user: `the plan has ${tokens} tokens, more than ${limit} (plan.max_tokens); it was not reviewed.`,
        before: [
          `plan-gate: docs/plan.md was not sent to review: it has ${tokens} tokens, more than ${limit} (plan.max_tokens in plan-gate.yaml), and a plan is never shortened for its reviewer.`,
          `The largest sections: ${sections.map((section) => `${oneLine(section.title, 80)} (about ${section.tokens})`).join(', ')}.`,
          'Shorten them: keep what is to be done and why; leave out listings, logs and copied code, or make two plans of it. No revision was counted.',
        ],
      }
    }
    case 'not-utf8':
      return {
        user: 'the plan is not UTF-8 text; it was not reviewed.',
        before: [
          'plan-gate: docs/plan.md was not sent to review: its bytes are not UTF-8 text.',
          'Write the file again as UTF-8. No revision was counted.',
        ],
      }
  }
}

export type OutcomeOf<K extends PlanOutcome['kind']> = Extract<PlanOutcome, { kind: K }>

function approvedMessage(outcome: OutcomeOf<'approved'>): Message {
  const { revision, review, by, notices } = outcome
  const { findings, late } = review
  const came = findings.filter(({ id }) => late.includes(id)).map(({ id }) => id)
  const cameLate = came.length === 0 ? '' : `, of which came late: ${oneLine(came.join(', '), 100)}`
  const open = findings.map(({ id }) => `${oneLine(id, 12)}${late.includes(id) ? ', which came late' : ''}`).join('; ')
  const hasOpen = findings.length > 0
  return {
    user: [
      `revision ${revision} of the plan is approved by ${oneLine(by, 100)}.`,
      hasOpen ? `Still open: ${countSeverities(findings)}${cameLate} (plan-gate findings --open).` : '',
      oneLine(notices.join(' '), 250),
      'Claude asks you before anything is executed.',
    ]
      .filter((sentence) => sentence !== '')
      .join(' '),
    before: [
      `plan-gate: revision ${revision} of docs/plan.md is approved. The gate is open for exactly this text.`,
      `It was reviewed by ${oneLine(by, 200)}.`,
      summaryOf(review),
      formatNotices(notices),
      hasOpen
        ? 'What is still open does not block the plan; fixing it now would end the approval. The user decides with it in view.'
        : '',
    ],
    about: outcome,
    after: [
      `Now tell the user in three sentences what will be done, who reviewed it${hasOpen ? `, and what is still open (${clipEnd(open, 200)})` : ''}, and ask: "Ready to execute?" Execute nothing by yourself. When they agree, use the skill implement-approved-plan. Any edit of docs/plan.md but ticking its boxes ends the approval.`,
    ],
  }
}

function formatNotices(notices: readonly string[]): string {
  const rest = notices.length - maxNotices
  const more = rest > 0 ? [`- And ${rest} more, in the annotated plan.`] : []
  const shown = notices.slice(0, maxNotices).map((notice) => `- ${oneLine(notice, 300)}`)
  return notices.length === 0 ? '' : ['About this review:', ...shown, ...more].join('\n')
}

const maxNotices = 8

const notNamedMessage = (outcome: OutcomeOf<'not-named'>): Message => ({
  user: `the plan is not approved: only ${oneLine(outcome.by, 200)} has looked at it, because those before it failed, and nobody named it. You decide: see to the first reviewer and have the plan saved again, name this one under review.routes, or plan-gate approve --force --reason "…".`,
  before: [
    `plan-gate: docs/plan.md is not approved. Only ${oneLine(outcome.by, 200)} has looked at it, and plan-gate.yaml does not name that reviewer: it was asked because those before it failed.`,
    indented(outcome.question ?? '', 1500),
    summaryOf(outcome.review),
    formatNotices(outcome.notices),
  ],
  about: outcome,
  after: [
    'Tell the user what was and what was not looked at, and let them decide: they see to it that the first reviewer answers and you save docs/plan.md again unchanged, they name this one under review.routes in plan-gate.yaml, or they approve the plan as it is with `plan-gate approve --force --reason "…"`. Do none of it for them. No revision was counted, and the gate stays closed.',
  ],
})

function changesMessage(outcome: OutcomeOf<'changes-required'>): Message {
  const { revision, left, review, next } = outcome
  const found = countSeverities(review.findings)
  const eachTakes = next ? `, each in ${formatForecast(next)}` : ''
  return {
    user: `revision ${revision} of the plan is not approved: ${found}, ${left} more to be reviewed${eachTakes}.${stuckForUser(review)} (${annotated(revision)})`,
    before: [
      `plan-gate: revision ${revision} of docs/plan.md is not approved: changes are required (${found}). ${left === 1 ? '1 more revision is' : `${left} more revisions are`} reviewed before the user has to decide${eachTakes}.`,
      summaryOf(review),
      review.findings.some(isBlocking) ? '' : nothingBlocks,
    ],
    about: outcome,
    after: [formatStuckPoints(review), howToRevise, pointToFiles(revision)],
  }
}

const nothingBlocks =
  'None of the findings blocks the plan, but the reviewer has not approved it. Fix what is right, or tell the user that only this is left and let them decide. If the next review is the same, the user decides in any case.'

const howToRevise = [
  'What to do now:',
  '1. Check each finding against the code before you change anything.',
  '2. Where it is right, fix the plan, and with it what came late; a minor one only if its fix is plain, since each change can bring a new mistake. Where it is wrong, answer under `## Review replies` in docs/plan.md: `- F2: contest: ` and the evidence (file, line, what it shows). The section is handed to the reviewer and is no part of the plan.',
  '3. Save docs/plan.md once, with all changes: each saved text is a revision.',
].join('\n')

const decisionMessage = (outcome: OutcomeOf<'decision-needed'>): Message => ({
  user: `the reviewer has a question for you: ${oneLine(outcome.question ?? '', 300) || 'see'} (${annotated(outcome.revision)})`,
  before: [
    `plan-gate: revision ${outcome.revision} of docs/plan.md needs a decision that only the user can take. Put this question to them, in your words and with what they need to know, and wait for the answer:`,
    `  ${indented(outcome.question ?? '', 1500) || '(The reviewer named no question; see its summary and findings.)'}`,
    summaryOf(outcome.review),
  ],
  about: outcome,
  after: [
    formatStuckPoints(outcome.review),
    'Do not answer it yourself, and do not revise the plan before they answer. Then write their decision into docs/plan.md; it is reviewed again.',
    pointToFiles(outcome.revision),
  ],
})

function limitMessage(outcome: OutcomeOf<'limit-reached'>): Message {
  const { revision, wasReviewed, review, spent } = outcome
  const limit =
    spent === null
      ? `${revision} revisions were reviewed without approval, and that is the limit`
      : `its reviews have used ${spent.tokens} tokens, and the limit is ${spent.limit} (plan.cycle_tokens)`
  const state = wasReviewed
    ? `revision ${revision} of docs/plan.md is not approved, and it was the last one to be reviewed${spent === null ? '' : `: ${limit}`}`
    : `docs/plan.md was not sent to review: ${limit}`
  return {
    user: `${spent === null ? `${revision} revisions` : `${spent.tokens} tokens of reviews`} without approval. You decide: plan-gate continue, plan-gate waive, or plan-gate approve --force --reason "…".${stuckForUser(review)} (${annotated(revision)})`,
    before: [`plan-gate: ${state} (${countSeverities(review.findings)} open). Stop revising.`, summaryOf(review)],
    about: outcome,
    after: [
      formatStuckPoints(review),
      'Present the open points to the user: what the reviewer wants, the arguments for and against, what you would do. They decide: `plan-gate continue` allows more revisions, `plan-gate waive F2 --reason "…"` decides one finding, `plan-gate approve --force --reason "…"` approves the plan as it is. Do none of it for them, and do not write docs/plan.md until they have decided.',
      pointToFiles(revision),
    ],
  }
}

function samePlanMessage(outcome: OutcomeOf<'same-plan'>): Message {
  const { revision, verdict, question, review } = outcome
  const asked = indented(question ?? '', 1500)
  return {
    user: `the plan is the same text as revision ${revision} (${verdict}); it was not reviewed again.`,
    before: [
      `plan-gate: docs/plan.md is the same text as revision ${revision}, which has been reviewed: ${verdict} (${countSeverities(review.findings)}). It was not reviewed again, and no revision was counted.`,
      asked === '' ? '' : `The question to the user still stands:\n  ${asked}`,
    ],
    about: outcome,
    after: [
      formatStuckPoints(review),
      'Change the plan where a finding is right, or contest it under `## Review replies`, with the evidence. If you cannot do either, ask the user.',
      pointToFiles(revision),
    ],
  }
}

function checklistMessage({ findings }: OutcomeOf<'checklist'>): Message {
  const points = findings.slice(0, maxChecklistFindings).map(({ section, problem, fix }) => {
    const words = [section === '' ? '' : `${section}:`, problem, fix].filter((text) => text !== '')
    return `- ${oneLine(words.join(' '), 300)}`
  })
  const rest = findings.length - points.length
  return {
    user: `the plan is not ready for review: ${findings.length} ${findings.length === 1 ? 'point' : 'points'} to fix first.`,
    before: [
      'plan-gate: docs/plan.md is not ready for review. It was not sent, and no revision was counted. Fix this first:',
      points.join('\n'),
      rest > 0 ? `And ${rest} more of this kind.` : '',
      'Then save docs/plan.md once, with all changes.',
    ],
  }
}

/** More than a plan can get wrong one by one; a hundred wrong paths are one mistake. */
const maxChecklistFindings = 25

const summaryOf = ({ summary }: ReviewSummary): string => {
  const text = indented(summary, 800)
  return text === '' ? '' : `The reviewer: ${text}`
}

const formatStuckPoints = ({ stuck }: ReviewSummary): string =>
  stuck.length === 0
    ? ''
    : [
        'Stuck, so do not try the same again; ask the user to decide:',
        ...stuck.slice(0, 5).map((words) => `- ${oneLine(words, 300)}`),
      ].join('\n')

const annotated = (revision: number): string => `.claude/review/plan_v${revision}.annotated.md`

const pointToFiles = (revision: number): string =>
  `In full: ${annotated(revision)} (the plan with the findings in it) and .claude/review/plan_v${revision}.codex.json.`

export const failureWords: { readonly [failure in Unavailability]: string } = {
  'not-installed': 'the reviewer is not installed',
  auth: 'the reviewer has no valid login or key',
  quota: 'the quota of the account is used up',
  'rate-limited': 'the service is rate-limiting requests',
  timeout: 'the reviewer did not answer in time',
  transport: 'the service could not be reached',
  server: 'the service failed',
  malformed: 'the answer of the reviewer is not a review',
  refused: 'the model declined to review',
  rejected: 'the request was not accepted',
  crashed: 'the reviewer ended unexpectedly',
  cancelled: 'the review was interrupted',
  'no-route': 'no reviewer can be asked',
  'not-recorded': 'the files of plan-gate could not be read or written',
}

/** What the user can do where the reviewer's own remedy does not say it. */
export function remedyOf(failure: Unavailability): string {
  switch (failure) {
    case 'no-route':
      return '`plan-gate routes` says why each of them is not available.'
    case 'not-recorded':
      return 'Check the free disk space and .claude/review; `plan-gate doctor` says more.'
    default:
      return failureClasses[failure].nextStep
  }
}

/** Most severe first; findings that do not fit are counted, with the file that has them. */
function formatFindings(review: ReviewSummary, limit: number, file: string): readonly string[] {
  const findings = bySeverity(review.findings)
  const shown: string[] = []
  let left = limit - reservedForOmittedNote
  for (const finding of findings) {
    const text = formatFinding(finding, review)
    if (text.length + 2 > left) break
    shown.push(text)
    left -= text.length + 2
  }
  const rest = findings.slice(shown.length)
  if (rest.length === 0) return shown
  const named = rest.map(({ id, severity }) => `${oneLine(id, 12)} ${severity}`).join(', ')
  const are = rest.length === 1 ? '1 more finding is' : `${rest.length} more findings are`
  return [...shown, `${are} in ${file}: ${clipEnd(named, 150)}. Read ${rest.length === 1 ? 'it' : 'them'} there.`]
}

const reservedForOmittedNote = 300

function formatFinding(finding: Finding, { previous, late }: ReviewSummary): string {
  const { id, severity, raised_as, section, problem, evidence, fix } = finding
  const again = previous.find((entry) => entry.id === id && entry.status === 'not_fixed')
  return [
    `${oneLine(id, 12)} · ${severity}${raised_as === undefined ? '' : ` (was ${raised_as})`} · ${oneLine(section, 200) || 'no section named'}${oneLine(foundBy(finding), 200)}`,
    field('Problem', problem, 1000),
    field('Evidence', evidence, 600),
    field('Fix', fix, 600),
    again === undefined ? '' : field('Still open since the last review', again.reason, 300),
    late.includes(id) ? '  (It came late, so it does not block the plan.)' : '',
  ]
    .filter((line) => line !== '')
    .join('\n')
}

const field = (label: string, value: string, limit: number): string => {
  const text = indented(value, limit)
  return text === '' ? '' : `  ${label}: ${text}`
}

/** Text of the reviewer never begins a line: only plan-gate's own text does. */
const indented = (text: string, limit: number): string => clipEnd(linesOf(escapeUntrusted(text)).join('\n    '), limit)
const oneLine = (text: string, limit: number): string => clipEnd(linesOf(escapeUntrusted(text)).join(' '), limit)

const linesOf = (text: string): readonly string[] =>
  text
    .split(/[\n\r\v\f\u0085\u2028\u2029]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')

const stuckForUser = ({ stuck: [first] }: ReviewSummary): string =>
  first === undefined ? '' : ` Stuck: ${oneLine(first, 160)}`

export const unavailable = (failure: Unavailability, why: string, nextStep: string): OutcomeOf<'unavailable'> => ({
  kind: 'unavailable',
  failure,
  why,
  nextStep,
})

/** Result of a cancelled review. Only seen if the session survives (e.g. the lock was lost while the machine slept). */
export const interrupted = unavailable(
  'cancelled',
  'The review was cancelled.',
  'Save docs/plan.md again to have it reviewed.',
)
