import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import type { CompiledConfig, EffectiveConfig } from '../config/schema.ts'
import { inScope, readPlanScope } from '../gate/scope.ts'
import { readWorkingTree } from '../gate/working-tree.ts'
import { makeRedactor } from '../redact/redact.ts'
import { escapeUntrusted } from '../redact/untrusted-text.ts'
import type { PreCompact, Stop } from '../schemas/hook-events.ts'
import type { TreeBaseline } from '../schemas/worktree-baseline.ts'
import { readRegular } from '../state/files.ts'
import { isOwnPath, planPath } from '../state/own-paths.ts'
import { readTreeBaseline } from '../state/records.ts'
import { readReflectFile } from '../state/reflect-file.ts'
import { debug } from '../system/debug.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { gitSyncOrThrow } from '../system/hook-git.ts'
import { sha256 } from '../system/sha256.ts'
import { digestOfPath } from '../system/tree-state.ts'
import { type ChangedFile as ChangedFileWorktreeDiff, worktreeChanges } from '../system/worktree-diff.ts'
import { clipEnd } from '../text/clean.ts'
import { reflectUncached } from './ask.ts'
import {
  clearOpen,
  parseSessionState,
  type ReflectionSetup,
  type SessionState,
  updateSessionState,
  waitingFiles,
} from './session-state.ts'
import { decideAfterReview, decideStop, formatStop, type StopFacts } from './stop.ts'
import type { ReflectionSubject } from './subject.ts'
import { asList, asRecord, type EventAnswer, formatCompaction, noMessage, textOrNull, toHookAnswer } from './values.ts'

/**
 * Claude wants to stop. What was found wrong and not seen right since keeps it once, without a call; else one look at
 * the whole does, unless it is a PASS. A second stop is always let go.
 */
export async function reflectAtStop(
  root: string,
  event: Stop,
  setup: ReflectionSetup,
  extend: (ms: number) => void,
): Promise<EventAnswer> {
  const { compiled, settings } = setup
  const session = event.session_id ?? 'unknown'
  const read = readRegular(root, planPath)
  if (read.kind !== 'read') return toHookAnswer('Stop', noMessage)
  const plan = read.bytes.toString('utf8')
  const isActive = event.stop_hook_active === true
  const state = await withoutGoneFiles(root, session)
  extend(lookingMs)
  const work = isActive ? null : await readWork(root, plan)
  if (work?.isBegun === false && (await mayAskToStart(root, session, plan, state)))
    return toHookAnswer('Stop', noMessage)
  // Before anything is changed, Claude may still be asking: it must not be sent to begin.
  const traceability = work?.isBegun || settings.traceability === 'off' ? settings.traceability : 'advisory'
  const facts: StopFacts = {
    isActive,
    fails: state.fails,
    lastMessage: event.last_assistant_message ?? null,
    transcript: () => readTranscriptTail(event.transcript_path, mostOfTail, compiled),
    trace: work?.trace ?? null,
    traceability,
  }
  const decision = decideStop(facts)
  debug(`stop: ${decision.kind}`)
  if (decision.kind !== 'ask') return toHookAnswer('Stop', formatStop(decision, escapeUntrusted))
  const matter: ReflectionSubject = {
    kind: 'stop',
    subject: { hash: null, key: null, about: 'the work as a whole' },
    material: {
      content: decision.content,
      about: null,
      result: null,
      plan,
      changes: work?.diff ?? null,
      waiting: waitingFiles(state.sharing),
    },
    weigh: () => ({ model: 'review', effort: 'high', hints: [] }),
  }
  const review = await reflectUncached(root, session, setup, matter, extend)
  return toHookAnswer('Stop', formatStop(decideAfterReview(review, facts), escapeUntrusted))
}

const mostOfTail = 60_000

/** For the state of the session and for git, before anybody is asked. */
const lookingMs = 90_000

/** The first stop after an approval, with nothing done yet, is the question whether to start. */
async function mayAskToStart(root: string, session: string, plan: string, state: SessionState): Promise<boolean> {
  const askedToStart = sha256(plan)
  if (state.askedToStart === askedToStart || state.fails.fails.length > 0) return false
  await updateSessionState(root, session, (from) => ({ state: { ...from, askedToStart }, result: null }), null)
  return true
}

/** What was found wrong in a file that is no more cannot be mended, and never be seen right. */
async function withoutGoneFiles(root: string, session: string): Promise<SessionState> {
  const state = parseSessionState(readReflectFile(root, session))
  const gone = state.fails.fails.filter(({ key }) => isGone(root, key)).map(({ key }) => key)
  if (gone.length === 0) return state
  const without = (from: SessionState): SessionState => gone.reduce(clearOpen, from)
  return updateSessionState(root, session, (from) => ({ state: without(from), result: without(from) }), without(state))
}

function isGone(root: string, key: string): boolean {
  const path = /^file ([^/].*)$/s.exec(key)?.[1]
  return path !== undefined && !existsSync(join(root, path))
}

/** Far more than is shown of it; a transcript of days is not read from its beginning. */
const mostBytes = 8 * 1024 * 1024

/** How the session ends in Claude Code's own record of it; empty where that cannot be read. */
export function readTranscriptTail(
  path: string | null | undefined,
  maxChars: number,
  { config }: CompiledConfig,
): string {
  const redactor = makeRedactor((config as EffectiveConfig).review.redaction.patterns)
  return tailOfTranscript(endOf(path), maxChars, (text) => {
    const clean = redactor.text(text)
    return clean.kind === 'redacted' ? clean.text : null
  })
}

function endOf(path: string | null | undefined): string {
  if (path === undefined || path === null || path === '') return ''
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const stat = fstatSync(fd)
      if (!stat.isFile()) return ''
      const bytes = Buffer.alloc(Math.min(stat.size, mostBytes))
      const count = readSync(fd, bytes, 0, bytes.length, stat.size - bytes.length)
      return bytes.toString('utf8', 0, count)
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    debug(`the transcript cannot be read: ${String(error)}`)
    return ''
  }
}

/**
 * The end of a session from its transcript: what Claude said, which tools it used, and which of them failed. Read from
 * the last line backwards, as far as there is room. Lines that are something else, half a line at the beginning of a
 * cut file included, are passed over. `clean` blanks secrets before anything is cut: half of one would not be known.
 * What it cannot do (null) is handed on whole, to who redacts the whole.
 */
export function tailOfTranscript(jsonl: string, maxChars: number, clean: (text: string) => string | null): string {
  const told: string[] = []
  let room = maxChars
  let end = jsonl.length
  for (let lines = 0; end > 0 && room > 0 && lines < mostLines; lines++) {
    const start = jsonl.lastIndexOf('\n', end - 1) + 1
    for (const { before, text, most } of piecesIn(jsonl.slice(start, end)).reverse()) {
      if (room <= 0) break
      const whole = text.slice(0, mostToClean)
      const cleaned = clean(whole)
      if (cleaned === null) return [`${before}${whole}`, ...told].join('\n')
      const piece = clipEnd(`${before}${clipEnd(cleaned, most)}`, room)
      told.unshift(piece)
      room -= piece.length + 1
    }
    end = start - 1
  }
  return told.join('\n')
}

/** A transcript has many lines that nobody said; past so many the session is another one. */
const mostLines = 20_000
const mostToClean = 100_000

/** `before`: our words, which say what the text is. */
type Piece = { readonly before: string; readonly text: string; readonly most: number }

function piecesIn(line: string): Piece[] {
  // Most lines are neither, and some of those are very long.
  if (!/"role":\s?"(?:assistant|user)"/.test(line)) return []
  const { type, isSidechain, message } = asRecord(parsed(line))
  if ((type !== 'assistant' && type !== 'user') || isSidechain === true) return []
  const { content } = asRecord(message)
  if (typeof content === 'string') return type === 'assistant' ? said(content) : []
  return asList(content).flatMap((block) => pieceOf(asRecord(block), type))
}

function pieceOf(block: { readonly [field: string]: unknown }, role: 'assistant' | 'user'): Piece[] {
  if (role === 'user') return block.type === 'tool_result' && block.is_error === true ? failedResult(block.content) : []
  if (block.type === 'text') return said(textOrNull(block.text) ?? '')
  if (block.type !== 'tool_use') return []
  const name = `${textOrNull(block.name) ?? 'a tool'}] `
  const text = `${name}${JSON.stringify(block.input ?? {})}`
  return [{ before: '[used ', text, most: Math.min(name.length, 200) + mostOfInput }]
}

const mostOfText = 4000
const mostOfInput = 600

const said = (text: string): Piece[] =>
  text.trim() === '' ? [] : [{ before: '', text: text.trim(), most: mostOfText }]

const failedResult = (content: unknown): Piece[] => {
  const text =
    textOrNull(content) ??
    asList(content)
      .map((block) => textOrNull(asRecord(block).text) ?? '')
      .join('\n')
  return [{ before: '[it failed] ', text: text.trim(), most: mostOfInput }]
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

/** What was done since the approval; `trace` is that held against the plan. null: it cannot be told. */
type Work = { readonly diff: string | null; readonly trace: Trace | null; readonly isBegun: boolean | null }

const unknownWork: Work = { diff: null, trace: null, isBegun: null }

async function readWork(root: string, plan: string): Promise<Work> {
  const gitDirs = readGitDirs(root)
  if (gitDirs === null) return unknownWork
  // Where git may be made to run something, a look would be the attack; this says so first.
  const now = readWorkingTree(root, gitDirs)
  if (now.kind === 'failed') return notToBeTold(now.why)
  const baseline = readTreeBaseline(gitDirs.own)
  const before: Pick<TreeBaseline, 'head' | 'paths'> =
    baseline.kind === 'read' ? baseline.value : { head: 'HEAD', paths: {} }
  /** What was changed before the approval and is still the same, be it committed since. */
  const wasSo = (path: string): boolean => {
    const name = Buffer.from(path).toString('latin1')
    const known = before.paths[name]
    return known !== undefined && known.digest === (now.paths[name] ?? { digest: digestOfPath(root, name) }).digest
  }
  const ours = ({ path }: ChangedFileWorktreeDiff): boolean => path !== planPath && !isOwnPath(path) && !wasSo(path)
  try {
    const { diff, files } = await worktreeChanges(gitDirs, before.head, (args, env) =>
      gitSyncOrThrow(root, args, gitMs, env),
    )
    const changed = files.filter(ours)
    return {
      diff: clipDiff(diff),
      trace: tracePlan(readPlanScope(plan), changed, (path, entry) => inScope(path, [entry])),
      isBegun: changed.length > 0,
    }
  } catch (error) {
    return notToBeTold(error instanceof Error ? error.message : String(error))
  }
}

/** For one command of git; a stop must not wait for it as long as for a review. */
const gitMs = 10_000

function notToBeTold(why: string): Work {
  debug(`what changed since the approval is not known: ${why}`)
  return unknownWork
}

/** Whole files, so that no secret is cut in two before it is looked for. */
function clipDiff(diff: string): string {
  if (diff.length <= mostOfDiff) return diff
  const end = diff.lastIndexOf('\ndiff --git ', mostOfDiff)
  return `${diff.slice(0, Math.max(0, end))}\n[… and more files that are not shown …]`
}

const mostOfDiff = 1_000_000

/** What the approved plan names, as `gate/scope` reads it: a file, a folder (ending in `/`) or a pattern. */
type PlannedEntry = {
  readonly pattern: string
  readonly mark: 'new' | 'changed' | 'deleted' | 'renamed' | 'unstated'
  readonly line: number
}

/** `from`: what a renamed file was called before, otherwise null. */
export type ChangedFile = {
  readonly path: string
  readonly from: string | null
  readonly status: 'added' | 'changed' | 'deleted' | 'renamed'
}

/** Each row is said in words: what stands in it is ready to be listed. */
export type Trace = {
  /** Files changed that the plan does not name. */
  readonly unplanned: readonly string[]
  /** Entries of the plan that no change belongs to, or none of the kind that it announces. */
  readonly undone: readonly string[]
}

/** Whether an entry covers a path is for the gate to say, which holds writes to the same entries. */
type Covers = (path: string, entry: PlannedEntry) => boolean

/** The diff of the worktree held against the plan. null when the plan names nothing that could be compared. */
export function tracePlan(
  planned: readonly PlannedEntry[],
  changed: readonly ChangedFile[],
  covers: Covers,
): Trace | null {
  if (planned.length === 0) return null
  const isPlanned = (path: string): boolean => planned.some((entry) => covers(path, entry))
  return {
    unplanned: changed.flatMap((file) => unplannedIn(file, isPlanned)),
    undone: planned.flatMap((entry) => undoneIn(entry, changed, covers)),
  }
}

/** A file that moved touches two paths, and each has to be named. */
function unplannedIn({ path, from, status }: ChangedFile, isPlanned: (path: string) => boolean): string[] {
  const isCovered = isPlanned(path) || followsFrom(path).some(isPlanned)
  if (from === null) return isCovered ? [] : [`${path} (${status})`]
  if (isCovered) return isPlanned(from) ? [] : [`${from} (moved to ${path})`]
  return [`${path} (moved from ${from})`]
}

/** A lock file says what its manifest asks for; nobody writes it into a plan. */
const locks: { readonly [name: string]: readonly string[] } = {
  'package-lock.json': ['package.json'],
  'npm-shrinkwrap.json': ['package.json'],
  'yarn.lock': ['package.json'],
  'pnpm-lock.yaml': ['package.json', 'pnpm-workspace.yaml'],
  'bun.lock': ['package.json'],
  'bun.lockb': ['package.json'],
  'Cargo.lock': ['Cargo.toml'],
  'go.sum': ['go.mod'],
  'poetry.lock': ['pyproject.toml'],
  'uv.lock': ['pyproject.toml'],
  'Gemfile.lock': ['Gemfile'],
  'composer.lock': ['composer.json'],
}

function followsFrom(path: string): string[] {
  const [, folder = '', name = ''] = /^(.*\/)?([^/]+)$/s.exec(path) ?? []
  const manifests = Object.hasOwn(locks, name) ? (locks[name] ?? []) : []
  return manifests.map((manifest) => `${folder}${manifest}`)
}

function undoneIn(entry: PlannedEntry, changed: readonly ChangedFile[], covers: Covers): string[] {
  const touched = changed.flatMap((file) => whatHappened(file).filter(({ path }) => covers(path, entry)))
  const accepted = kept[entry.mark]
  if (touched.some(({ what }) => accepted.includes(what))) return []
  const where = `${entry.pattern} (line ${entry.line} of the plan${marked[entry.mark]})`
  const [other] = touched
  return [other === undefined ? `${where}: no change` : `${where}: ${instead[other.what]}`]
}

type What = 'added' | 'changed' | 'deleted' | 'moved-away' | 'moved-here'

const whatHappened = ({ path, from, status }: ChangedFile): { readonly path: string; readonly what: What }[] =>
  status === 'renamed' && from !== null
    ? [
        { path: from, what: 'moved-away' },
        { path, what: 'moved-here' },
      ]
    : [{ path, what: status === 'renamed' ? 'changed' : status }]

const anything: readonly What[] = ['added', 'changed', 'deleted', 'moved-away', 'moved-here']

/** What counts as done. git sees a move as a deletion and an addition when much else changed in the file. */
const kept: { readonly [mark in PlannedEntry['mark']]: readonly What[] } = {
  new: ['added', 'changed', 'moved-here'],
  changed: ['added', 'changed', 'moved-here'],
  deleted: ['deleted', 'moved-away'],
  renamed: ['added', 'deleted', 'moved-away', 'moved-here'],
  unstated: anything,
}

const marked: { readonly [mark in PlannedEntry['mark']]: string } = {
  new: ', new',
  changed: ', changed',
  deleted: ', deleted',
  renamed: ', renamed',
  unstated: '',
}

const instead: { readonly [what in What]: string } = {
  added: 'it was added instead',
  changed: 'it is still there, with changes',
  deleted: 'it was deleted instead',
  'moved-away': 'it was moved away instead',
  'moved-here': 'another file was moved there instead',
}

const mostOfTailReflectBeforeCompaction = 120_000

/** Before the context shrinks: what a second reader thinks is worth keeping. Whatever goes wrong, it shrinks without. */
export async function reflectBeforeCompaction(
  root: string,
  event: PreCompact,
  setup: ReflectionSetup,
  extend: (ms: number) => void,
): Promise<EventAnswer> {
  const content = readTranscriptTail(event.transcript_path, mostOfTailReflectBeforeCompaction, setup.compiled)
  if (content === '') return toHookAnswer('PreCompact', noMessage)
  const plan = readRegular(root, planPath)
  const matter: ReflectionSubject = {
    kind: 'compaction',
    subject: { hash: null, key: null, about: 'the session so far' },
    material: {
      content,
      about: null,
      result: null,
      plan: plan.kind === 'read' ? plan.bytes.toString('utf8') : null,
      changes: null,
      waiting: [],
    },
    weigh: () => ({ model: 'review', effort: 'medium', hints: [] }),
  }
  const look = await reflectUncached(root, event.session_id ?? 'unknown', setup, matter, extend)
  if (look.kind === 'judged') return toHookAnswer('PreCompact', formatCompaction(look.summary, escapeUntrusted))
  debug(`no look back before the compaction: ${look.why}`)
  return toHookAnswer('PreCompact', noMessage)
}
