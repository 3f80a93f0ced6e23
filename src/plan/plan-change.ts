import { approvedHash, type PlanState } from '../gate/plan-state.ts'
import { type Approval, type HandledPlan, handledPlanSchema } from '../schemas/records.ts'
import { readJson, saveJson, throwIfUnreadable } from '../state/files.ts'
import { reviewPaths } from '../state/own-paths.ts'
import { sha256 } from '../system/sha256.ts'
import { printable } from '../text/clean.ts'

export type PlanChange =
  | { kind: 'nothing' }
  /** The approved bytes are gone: the cycle is over, and the gate has been closed since they changed. */
  | { kind: 'approval-outdated'; why: string }
  /** Only ticks and white space differ from the approved text: the approval goes on for the new bytes. */
  | { kind: 'carried-over'; approval: Approval; planHash: string }
  /** An approval that no review gave, and that holds. It counts, and is recorded. */
  | { kind: 'approved-by-hand'; planHash: string; reason: string | null }

/** `planHash`: null where there is no plan. `isRecorded`: whether a review, a command of ours or a hook knows the approval. */
export function classifyPlanChange(
  planHash: string | null,
  approval: Approval,
  state: PlanState,
  isRecorded: boolean,
): PlanChange {
  const approved = approvedHash({ kind: 'recorded', approval })
  if (approved === null) return { kind: 'nothing' }
  if (planHash === null) return { kind: 'approval-outdated', why: 'docs/plan.md is gone' }
  if (approved !== planHash) return { kind: 'approval-outdated', why: changedAfterApproval }
  if (state.kind !== 'approved' || isRecorded) return { kind: 'nothing' }
  return { kind: 'approved-by-hand', planHash, reason: approval.reason ?? null }
}

export const changedAfterApproval = 'docs/plan.md was changed after its approval'
export const changesWereRequested = 'the user requested changes to docs/plan.md in the report'

/**
 * Whether nothing changed that was approved: list items that were ticked, white space at the ends of lines, line ends. An
 * item counts as one only where every reader of Markdown would take it for one.
 */
export function isOnlyTicked(approved: Buffer, now: Buffer): boolean {
  const [before, after] = [linesOf(approved), linesOf(now)]
  const mayTick = isPlain(before)
  return (
    before.length === after.length &&
    before.every((line, index) => {
      const other = after[index] ?? ''
      return (
        line === other ||
        (mayTick[index] === true && line.replace(openBox, '$1[x]') === other.replace(tickedBox, '$1[x]'))
      )
    })
  )
}

const openBox = /^( {0,3}(?:[-*+]|\d{1,9}[.)]) +)\[ \](?= )/
const tickedBox = /^( {0,3}(?:[-*+]|\d{1,9}[.)]) +)\[X\](?= )/

/** A backslash before white space is another one than before a line end. */
const linesOf = (plan: Buffer): readonly string[] =>
  plan
    .toString('latin1')
    .replace(/\s+$/, '')
    .split(/\r?\n/)
    .map((line) => (/\\[ \t]+$/.test(line) ? line : line.replace(/[ \t]+$/, '')))

/**
 * Which lines stand outside of code, a YAML header and HTML, as far as that cannot be read in two ways: up to the first
 * line that could.
 */
function isPlain(lines: readonly string[]): readonly boolean[] {
  let [isCode, isClear] = [false, lines[0] !== '---']
  return lines.map((line) => {
    const isFence = /^```[\w+#.-]*$/.test(line)
    if (isFence && (!isCode || line === '```')) isCode = !isCode
    else if (/`{3}|~{3}/.test(line) || (!isCode && /^\s*</.test(line))) isClear = false
    return isClear && !isCode && !isFence
  })
}

export function formatPlanChange(change: PlanChange): string | null {
  switch (change.kind) {
    case 'nothing':
      return null
    case 'approval-outdated':
      return `plan-gate: ${change.why}, so the approval is revoked and a new planning cycle begins. Until the plan is approved again, only docs/plan.md can be written.`
    case 'carried-over':
      return 'plan-gate: only ticks or white space changed in docs/plan.md, so the approval holds for it as it is now.'
    case 'approved-by-hand':
      return 'plan-gate: approval.json was written by hand, for docs/plan.md as it is now. The gate is open; ask the user "Ready to execute?" before you start.'
  }
}

/** An approval.json that changed while a tool call ran. `ended`: the approval that was there before has ended. */
export type Tampering = { readonly tool: string; readonly planHash: string | null; readonly ended: boolean }

export const formatTampering = ({ tool, planHash, ended }: Tampering): string =>
  [
    `plan-gate: approval.json changed while ${printable(tool)} ran${planHash === null ? '' : `: it named the plan ${planHash.slice(0, 12)} approved`}. Only a review or the user approves a plan, so it was put back${ended ? ', and the approval has ended' : ''}.`,
    'Stop here and tell the user. If they wrote it themselves: `plan-gate approve --force --reason "…"`, or write it again while no tool runs.',
  ].join('\n')

/** The last answer about a plan. An invalid file counts as none, and the plan is reviewed again. */
export function readHandled(root: string): HandledPlan | null {
  const read = readJson(root, reviewPaths.handled, handledPlanSchema, 256 * 1024)
  // A review is not paid for twice because of a disk error.
  throwIfUnreadable(reviewPaths.handled, read)
  return read.kind === 'read' ? read.value : null
}

/** For Claude, with its next tool call or the user's next message: what the user has decided meanwhile. */
export function leaveNote(root: string, note: string): void {
  const handled = readHandled(root) ?? { plan_hash: sha256(''), again: true, kind: 'silence', text: '', user: null }
  // One that Claude has not read yet is not lost to the next, unless Claude Code would truncate both.
  const both = handled.note === undefined ? note : `${handled.note}\n\n${note}`
  writeHandled(root, { ...handled, note: both.length > maxNoteLength ? note : both })
}

const maxNoteLength = 9_500

/** Once. */
export function takeNote(root: string): string | null {
  const { note = null, ...handled } = readHandled(root) ?? {}
  if (note !== null) writeHandled(root, handled as HandledPlan)
  return note
}

export const writeHandled = (root: string, handled: HandledPlan): void => saveJson(root, reviewPaths.handled, handled)
