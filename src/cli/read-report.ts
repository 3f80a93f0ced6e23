import { basename } from 'node:path'
import { compileConfig } from '../hooks/compile-config.ts'
import type { Gate, ReportData, SessionDenials } from '../report/report-data.ts'
import { makeRedactor } from '../safety/make-redactor.ts'
import type { EffectiveConfig } from '../schemas/config.ts'
import type { Status } from '../schemas/output/status.ts'
import { listSessions } from '../store/list-sessions.ts'
import { readApproval } from '../store/read-approval.ts'
import { readDenials } from '../store/read-denials.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { packageVersion } from '../system/package-files.ts'
import { checkRecord } from './check-record.ts'
import { readCycles } from './read-cycles.ts'
import { readStatus } from './read-status.ts'

/** All that `.claude/review` of a worktree tells. */
export function readReport(root: string, gitDirs: GitDirs): ReportData {
  const status = readStatus(root, gitDirs)
  const { patterns } = (compileConfig(root).config as EffectiveConfig).review.redaction
  return {
    ...readRecord(root, patterns),
    name: basename(root),
    place: root,
    gate: gateOf(root, status),
    limit: status.limit,
    // That there is no approval yet is where the gate stands, and no fault of the record.
    checks: checkRecord(root).filter(({ name }) => name !== 'approval' || status.plan.kind === 'approved'),
  }
}

/** The same for reviews that were kept: the plan and the gate that they belonged to are not there. */
export function readKeptReport(root: string, folder: string): ReportData {
  return {
    ...readRecord(root, []),
    name: basename(folder),
    place: folder,
    gate: { kind: 'kept', words: 'The worktree that they come from, and its gate, are not here.' },
    limit: null,
    checks: checkRecord(root).filter(({ name }) => name !== 'approval'),
  }
}

/** Nothing worth a page: no revision, no denial, and no event but that the gate was installed. */
export const isEmpty = ({ cycles, sessions, problems }: ReportData): boolean =>
  problems.length === 0 &&
  cycles.every(({ revisions, events }) => revisions.length === 0 && events.every(({ type }) => type === 'installed')) &&
  sessions.every(({ denials }) => denials.length === 0)

type Record = Pick<ReportData, 'made_at' | 'version' | 'cycles' | 'sessions' | 'problems'>

function readRecord(root: string, patterns: readonly string[]): Record {
  const redactor = makeRedactor(patterns)
  const problems: string[] = []
  const cycles = readCycles({ root, redact: redactor.text, problem: (words) => problems.push(words) })
  return {
    made_at: new Date().toISOString(),
    version: packageVersion(),
    cycles,
    sessions: listSessions(root).map(({ folder, session }): SessionDenials => {
      const id = session?.session_id ?? basename(folder)
      return {
        session: id,
        client_version: session?.client_version ?? null,
        started_at: session?.started_at ?? null,
        last_seen_at: session?.last_seen_at ?? null,
        denials: readDenials(root, id),
      }
    }),
    problems,
  }
}

function gateOf(root: string, { plan, review, unavailable }: Status): Gate {
  if (review !== null)
    return {
      kind: 'reviewing',
      words: `Revision ${review.revision} is with ${review.backend}: pass ${review.pass} of ${review.passes}.`,
    }
  const failed = unavailable === null ? '' : ` The last review came to no verdict: ${unavailable}`
  switch (plan.kind) {
    case 'missing':
      return { kind: 'no-plan', words: 'There is no plan yet.' }
    case 'open':
      return { kind: 'closed', words: `${plan.because}.${failed}` }
    case 'approved':
      return { kind: 'open', words: approvalWords(root) }
  }
}

function approvalWords(root: string): string {
  const read = readApproval(root)
  if (read.kind !== 'recorded') return 'The plan is approved.'
  const { route, review_version: revision, reason } = read.approval
  if (typeof route !== 'string' || route === 'manual')
    return `The plan as it stands was approved by hand${reason ? `: ${reason}` : '.'}`
  return `Revision ${revision ?? '?'} of the plan, as it stands, is approved by ${route}.`
}
