import { isCallRunning } from '../gate/call-notes.ts'
import { approvedHash } from '../gate/plan-state.ts'
import { readPlanState } from '../gate/read-plan-state.ts'
import { closeApproved } from '../gate/sandbox/approved.ts'
import { readWorkingTree, rebaselineOrForget } from '../gate/working-tree.ts'
import { compileConfig } from '../install/compile-config.ts'
import { annotatePlan } from '../plan/annotate.ts'
import { changedAfterApproval, changesWereRequested, leaveNote } from '../plan/plan-change.ts'
import { type ReviewedRevision, readRevisionLimit, readSpentTokens, reviewedRevisions } from '../plan/revisions.ts'
import { formatUserNote, lastUserNumber, readUserFindings } from '../plan/user-decisions.ts'
import { makeRedactor } from '../redact/redact.ts'
import type { PlanToDecide } from '../report/page-data.ts'
import type { UserComment } from '../review/findings.ts'
import { accepts, type FromSchema, integer, integerOrNull, listOf, objectOf, text } from '../schemas/schema.ts'
import { readApproval, readPlanBytes } from '../state/approval.ts'
import { endCycle, withLock } from '../state/cycles.ts'
import { appendEvent, throwIfLedgerDamaged } from '../state/ledger.ts'
import { planPath } from '../state/own-paths.ts'
import { saveAnnotated } from '../state/revisions.ts'
import { UserError } from '../system/errors.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { sha256 } from '../system/sha256.ts'
import { clipEnd, splitLines } from '../text/clean.ts'
import { readOutline } from '../text/markdown.ts'
import { approveByHand, isApprovedAlready, planHasChanged } from './approve.ts'

/** What the user decides in the page of `report --serve`. */

/** The texts that the page shows, line by line and without secrets. */
export function readPlanToDecide(root: string): PlanToDecide {
  const redact = redactorFor(root)
  const plan = readPlanBytes(root)
  const last = reviewedRevisions(root).at(-1)
  if (plan.kind === 'read' && plan.bytes.length > maxPlanToShow)
    throw new UserError(`${planPath} is larger than a megabyte, so it is not shown.`, 'Have it shortened first.')
  const now = plan.kind === 'read' ? plan.bytes.toString('utf8') : null
  return {
    hash: plan.kind === 'read' ? sha256(plan.bytes) : null,
    isApproved: readPlanState(root).kind === 'approved',
    now: linesOf(redact(now ?? '')),
    reviewed:
      last === undefined || last.plan === now ? null : { revision: last.revision, lines: linesOf(redact(last.plan)) },
  }
}

/** A browser draws each line of it. */
const maxPlanToShow = 1_000_000

const linesOf = (text: string): readonly string[] => splitLines(text).map((line) => line.replace(/\r?\n$/, ''))

/** Throws where the secrets cannot be found: nothing is shown or recorded then. */
function redactorFor(root: string): (text: string) => string {
  const redactor = makeRedactor(compileConfig(root).config.review.redaction.patterns)
  return (content) => {
    const clean = redactor.text(content)
    if (clean.kind === 'redacted') return clean.text
    throw new UserError(
      `Secrets cannot be redacted (${clean.why}), so nothing is shown or recorded.`,
      'Fix review.redaction.patterns in plan-gate.yaml, then reload the page.',
    )
  }
}

/** `of`: which of the two texts; `lost`: a line that is no more, of which only the quotation is left. */
const lineComment = objectOf({ of: { enum: ['now', 'reviewed', 'lost'] }, line: integer, quote: text, text })

/** `revision`: the one whose lines were shown beside the plan. `comment`: on the plan as a whole; why it is approved. */
const decisionSchema = objectOf({
  decision: { enum: ['approve', 'request-changes'] },
  plan_hash: text,
  revision: integerOrNull,
  comment: text,
  comments: listOf(lineComment),
})

export type Decision = FromSchema<typeof decisionSchema>

/** Null for anything but a decision. */
export const parseDecision = (value: unknown): Decision | null => (accepts(decisionSchema, value) ? value : null)

/** In words, for the page. Refusals are `UserError`s. Whatever was refused has changed nothing. */
export async function recordDecision(root: string, gitDirs: GitDirs, decision: Decision): Promise<string> {
  const decide = async (): Promise<string> => {
    // Of any session: a call can reach this server, and the user's own terminal is another way.
    if (isCallRunning(gitDirs.own)) throw callIsRunning(decision)
    const shown = readPlanToDecide(root)
    if (shown.hash === null) throw new UserError(`There is no ${planPath} any more.`, 'Have it written first.')
    if (shown.hash !== decision.plan_hash || (shown.reviewed?.revision ?? null) !== decision.revision)
      throw planHasChanged()
    return decision.decision === 'approve'
      ? approve(root, gitDirs, decision)
      : requestChanges(root, gitDirs, decision, shown)
  }
  const held = await withLock(root, decide, { waitMs: 6_000 })
  if (held.kind === 'done') return held.value
  throw new UserError(
    'A review of the plan is running, so nothing was recorded.',
    'Wait for its end (plan-gate status), then reload the page. What you have written stays.',
  )
}

const callIsRunning = ({ decision }: Decision): UserError =>
  new UserError(
    'A tool call of Claude Code is running, or was interrupted, so nothing was recorded.',
    decision === 'approve'
      ? 'Try again when it has ended, or in your terminal: plan-gate approve --force --reason "…"'
      : 'Try again when it has ended. What you have written stays.',
  )

async function approve(root: string, gitDirs: GitDirs, decision: Decision): Promise<string> {
  if (readPlanState(root).kind === 'approved') throw isApprovedAlready()
  if (decision.comments.length > 0)
    throw new UserError(
      'An approval carries no comments on lines: nobody would have to settle them.',
      'Remove them, or request changes.',
    )
  const reason = redactorFor(root)(clipEnd(decision.comment.trim(), 3_000))
  await approveByHand(root, gitDirs, reason || 'approved in the report', undefined, decision.plan_hash)
  return `${planPath} is approved by you: the gate is open until it changes. Claude hears of it with your next message.`
}

async function requestChanges(
  root: string,
  gitDirs: GitDirs,
  decision: Decision,
  shown: PlanToDecide,
): Promise<string> {
  throwIfLedgerDamaged(root, 'so nothing was recorded')
  const findings = toComments(root, decision, shown)
  const { plan } = compileConfig(root).config
  const hadApproval = readPlanState(root).kind === 'approved'
  const approved = approvedHash(readApproval(root))
  // Later, a hook would end this cycle, and the comments with it.
  if (approved !== null) {
    rebaselineOrForget(gitDirs.own, readWorkingTree(root, gitDirs))
    await endCycle(root, hadApproval ? changesWereRequested : changedAfterApproval)
    closeApproved(gitDirs.own)
  }
  const reviewed = reviewedRevisions(root)
  const last = reviewed.at(-1)
  await appendEvent(root, {
    type: 'changes-requested',
    plan_hash: decision.plan_hash,
    revision: last?.revision ?? 0,
    findings,
  })
  const { revisions, limit } = readRevisionLimit(root, plan.max_revisions)
  // Who asks for changes wants them reviewed.
  if (revisions >= limit || readSpentTokens(root, reviewed, plan.cycle_tokens ?? null) !== null)
    await appendEvent(root, { type: 'continued', revision: revisions })
  leaveNote(root, formatUserNote(findings, hadApproval))
  if (last !== undefined) annotateAgain(root, last)
  const ids = findings.map(({ id }) => id).join(', ')
  const ended = hadApproval ? ', and the approval has ended: the gate is closed' : ''
  const [them, settled] = findings.length === 1 ? ['it', 'it is'] : ['them', 'they are']
  return `Recorded as ${ids}${ended}. Claude gets ${them} with your next message, and the plan is held until ${settled} settled.`
}

function annotateAgain(root: string, { revision, plan, result }: ReviewedRevision): void {
  const known = new Set(result.findings.map(({ id }) => id))
  const users = readUserFindings(root).flatMap(({ finding }) => (known.has(finding.id) ? [] : [finding]))
  const findings = [...result.findings, ...users]
  const date = new Date().toISOString()
  saveAnnotated(root, revision, annotatePlan(plan, { ...result, findings, revision, date }))
}

/** A line of the ledger that is longer would lose them. */
const maxBytes = 28_000
const maxComments = 100

function toComments(root: string, decision: Decision, shown: PlanToDecide): readonly UserComment[] {
  const redact = redactorFor(root)
  const first = lastUserNumber(root) + 1
  const whole = { section: 'Overall', place: '', quote: '', text: decision.comment }
  const comments = [whole, ...decision.comments.map((comment) => placed(comment, shown))]
    .map((comment) => ({ ...comment, text: redact(comment.text.replace(/\r\n?/g, '\n').trim()) }))
    .filter(({ text }) => text !== '')
    .map((comment, index) => ({ id: `U${first + index}`, ...comment }))
  if (comments.length === 0)
    throw new UserError('There is no comment yet.', 'Say what has to change: on a line, or on the plan as a whole.')
  if (comments.length > maxComments || Buffer.byteLength(JSON.stringify(comments)) > maxBytes)
    throw new UserError(
      `Too much at once: at most ${maxComments} comments with about 25,000 characters. Nothing was recorded.`,
      'Keep some of it elsewhere, send the rest, and start `plan-gate report --serve` again for the second part.',
    )
  return comments
}

/** The quotation is ours: what the page sends of it counts only where the line is no more. */
function placed(
  { of, line, quote, text }: FromSchema<typeof lineComment>,
  shown: PlanToDecide,
): Omit<UserComment, 'id'> {
  if (of === 'lost') return { section: 'Overall', place: '', quote: clipEnd(quote.trim(), maxQuote), text }
  const lines = of === 'now' ? shown.now : (shown.reviewed?.lines ?? [])
  const found = lines[line - 1]
  if (found === undefined) throw planHasChanged()
  const section = readOutline(lines.join('\n')).sections.findLast(({ from, to }) => from <= line && line <= to)
  return {
    section: clipEnd(section?.title ?? '', 200) || 'Overall',
    place: of === 'now' ? `${planPath}:${line}` : `revision ${shown.reviewed?.revision}, line ${line}`,
    quote: clipEnd(found.trim(), maxQuote),
    text,
  }
}

const maxQuote = 200
