import { lstatSync } from 'node:fs'
import { join, relative } from 'node:path'
import { gateClosedFor } from '../gate/closed-mark.ts'
import type { PlanState } from '../gate/plan-state.ts'
import { readPlanState } from '../gate/read-plan-state.ts'
import { findThreats, hasOtherStatusLine, type InstalledSettings, parseSettings } from '../install/settings.ts'
import type { LedgerEvent, Progress, Session } from '../schemas/records.ts'
import { isAlive, readRegular } from '../state/files.ts'
import { eventsFromEnd, maxLineBytes } from '../state/ledger.ts'
import { readThroughLinks } from '../state/linked-files.ts'
import {
  bundleNames,
  bundlePath,
  compiledConfigPath,
  installRecordPath,
  launchVariable,
  reviewPaths,
} from '../state/own-paths.ts'
import { sessionFolder } from '../state/sessions.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { claudeDir } from '../system/paths.ts'
import { clockTime, printable, roughTime } from '../text/clean.ts'
import { isRecord } from '../text/json.ts'
import { endProcess, worktreeRoot } from './runtime.ts'

type StatusSnapshot =
  /** A file of the control plane is not as it was installed. */
  | { kind: 'not-whole'; why: string }
  | { kind: 'invalid-config' }
  | { kind: 'closed'; why: string }
  | { kind: 'reviewing'; progress: Progress }
  | { kind: 'stands'; plan: PlanState; last: LedgerEvent | null; byHand: boolean }

/** Events that say where the plan stands. */
const statusEvents: readonly string[] =
  'reviewed review-unavailable approved approved-manually approval-revoked limit-reached changes-requested continued cycle-archived'.split(
    ' ',
  )

type StatusLineText = { tone: 'good' | 'bad' | 'busy' | 'waiting'; text: string }

function formatLine(status: StatusSnapshot, now: number): StatusLineText {
  switch (status.kind) {
    case 'not-whole':
      return { tone: 'bad', text: `gate not intact: ${status.why} (plan-gate doctor)` }
    case 'invalid-config':
      return { tone: 'bad', text: 'gate closed, plan-gate.yaml is invalid (plan-gate config)' }
    case 'closed':
      return { tone: 'bad', text: `gate closed in this session: ${status.why}` }
    case 'reviewing':
      return { tone: 'busy', text: formatRunningReview(status.progress, now) }
    case 'stands':
      return formatGate(status.plan, status.last, status.byHand ? ' · started by hand (plan-gate open)' : '')
  }
}

function formatRunningReview(
  { revision, pass, passes, backend, started_at, pass_started_at, expected_ms, sign }: Progress,
  now: number,
): string {
  const elapsedMs = now - Date.parse(pass_started_at ?? started_at)
  const elapsed = Number.isNaN(elapsedMs) ? '' : `, ${clockTime(elapsedMs)}`
  const expected = expected_ms === undefined ? '' : ` of ${roughTime(expected_ms)}`
  const doing = sign === undefined ? '' : ` · ${sign}`
  return `reviewing v${revision} (${backend}): pass ${pass} of ${passes}${elapsed}${expected}${doing}`
}

function formatGate(plan: PlanState, last: LedgerEvent | null, origin: string): StatusLineText {
  switch (plan.kind) {
    case 'missing':
      return { tone: 'waiting', text: `gate closed, no plan yet${origin}` }
    case 'approved':
      return { tone: 'good', text: `gate open, ${formatApprover(last)}${origin}` }
    case 'open':
      return { tone: 'waiting', text: `gate closed, ${formatLastEvent(last)}${origin}` }
  }
}

function formatApprover(last: LedgerEvent | null): string {
  if (last?.type === 'approved') return `v${last.revision} is approved`
  return last?.type === 'approved-manually' ? 'approved by hand' : 'the plan is approved'
}

function formatLastEvent(last: LedgerEvent | null): string {
  if (last === null) return 'the plan is not reviewed yet'
  const { type, revision, verdict, findings, failure } = last
  if (type === 'reviewed') {
    const found = findings === 1 ? '1 finding' : `${findings} findings`
    return `v${revision} ${verdict}${Number(findings) > 0 ? ` (${found})` : ''}`
  }
  if (type === 'review-unavailable') return `no verdict: ${failure} (plan-gate status)`
  if (type === 'limit-reached') return `v${revision} was the last one: your decision (plan-gate status)`
  if (type === 'changes-requested') return 'you have requested changes'
  return 'the plan is not reviewed yet'
}

/** Most important first: a gate that does not hold. */
function readStatusSnapshot(root: string): StatusSnapshot {
  const why = integrityProblem(root)
  if (why !== null) return { kind: 'not-whole', why }
  const config = readUnchecked<{ problems?: readonly string[] }>(root, compiledConfigPath)
  if (config?.problems !== undefined && config.problems.length > 0) return { kind: 'invalid-config' }
  const closed = gateClosedFor(readGitDirs(root)?.own ?? root, process.env.CLAUDE_CODE_SESSION_ID)
  if (closed !== null) return { kind: 'closed', why: closed.why }
  const progress = readUnchecked<Progress>(root, reviewPaths.progress)
  if (progress !== null && isAlive(progress.pid)) return { kind: 'reviewing', progress }
  return { kind: 'stands', plan: readPlanState(root), last: readLastEvent(root), byHand: isByHand(root) }
}

/** A session that plan-gate did not start. */
const isByHand = (root: string): boolean => {
  const id = process.env.CLAUDE_CODE_SESSION_ID
  return id !== undefined && readUnchecked<Session>(root, `${sessionFolder(id)}/session.json`)?.launched === false
}

/** The plan state is shown even if the last event cannot be read. */
function readLastEvent(root: string): LedgerEvent | null {
  try {
    const [last = null] = eventsFromEnd(root, statusEvents, maxLedgerTailBytes)
    return last
  } catch {
    return null
  }
}

/** Only the end of a long ledger is read. */
const maxLedgerTailBytes = 2 * maxLineBytes

/** Only whether the bundles exist; their bytes are compared after each command. */
function integrityProblem(root: string): string | null {
  const gitDirs = readGitDirs(root)
  const record =
    gitDirs === null ? null : readUnchecked<{ settings?: InstalledSettings }>(gitDirs.own, installRecordPath)
  if (gitDirs === null || record?.settings === undefined) return 'its install record is missing'
  const [threat] = findThreats(root, gitDirs.mainRoot, record.settings)
  if (threat !== undefined) return `${relative(root, threat.file)}: ${threat.what}`
  const missing = bundleNames.find((name) => !isFile(join(root, bundlePath(name))))
  return missing === undefined ? null : `${missing}.mjs is missing`
}

const isFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true

/** Skips schema validation to keep the status line fast; only a few fields are used. */
function readUnchecked<T>(root: string, path: string): T | null {
  const read = readRegular(root, path)
  try {
    return read.kind === 'read' ? (JSON.parse(read.bytes.toString('utf8')) as T) : null
  } catch {
    return null
  }
}

/**
 * The line below Claude Code's prompt. It never waits: stdin is not read, and files are opened so that no pipe or lock
 * can block. On any failure it prints nothing.
 */
try {
  const root = worktreeRoot()
  // The launcher has looked, and a repository's own must not run here where Claude Code does not load it.
  const theirs = process.env[launchVariable] === undefined ? otherStatusLine(root) : null
  if (theirs !== null) runOtherStatusLine(theirs)
  endProcess({ stdout: `${colour(formatLine(readStatusSnapshot(root), Date.now()))}\n`, exitCode: 0 })
} catch {
  endProcess({ exitCode: 0 })
}

/** A status line that the user configured after our install; by Claude Code's precedence it would win over ours. */
function otherStatusLine(root: string): string | null {
  const own = ['.claude/settings.local.json', '.claude/settings.json'].map((path) => join(root, path))
  for (const file of [...own, join(claudeDir(), 'settings.json')]) {
    const read = readThroughLinks(file)
    const parsed = parseSettings(read.kind === 'read' ? read.bytes.toString('utf8') : '')
    if (parsed.kind === 'invalid' || !hasOtherStatusLine(parsed.settings)) continue
    const { statusLine } = parsed.settings
    return isRecord(statusLine) && typeof statusLine.command === 'string' ? statusLine.command : null
  }
  return null
}

/** Runs it as Claude Code would: same input, output passed through. */
function runOtherStatusLine(command: string): never {
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  spawnSync(command, { shell: true, stdio: ['inherit', 'inherit', 'ignore'], timeout: 4_500 })
  return endProcess({ exitCode: 0 })
}

function colour({ tone, text }: StatusLineText): string {
  const line = printable(`▣ plan-gate: ${text}`, 120)
  const colour = { good: 32, bad: 31, busy: 36, waiting: 33 }[tone]
  return process.env.NO_COLOR ? line : `\u001b[${colour}m${line}\u001b[0m`
}
