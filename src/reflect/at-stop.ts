import { closeSync, constants, existsSync, readSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { CompiledConfig } from '../config/schema.ts'
import { inScope, readPlanScope, type ScopeEntry } from '../gate/scope.ts'
import { readWorkingTree } from '../gate/working-tree.ts'
import { makeRedactor } from '../redact/redact.ts'
import type { HookAnswer } from '../schemas/hook-answer.ts'
import type { PreCompact, Stop } from '../schemas/hook-events.ts'
import type { TreeBaseline } from '../schemas/records.ts'
import { openRegular, readRegular } from '../state/files.ts'
import { isOwnPath, planPath } from '../state/own-paths.ts'
import { readTreeBaseline } from '../state/records.ts'
import { debug } from '../system/errors.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { digestOfPath, gitSyncOrThrow } from '../system/hook-git.ts'
import { sha256 } from '../system/sha256.ts'
import { type ChangedFile, worktreeChanges } from '../system/worktree-diff.ts'
import { clipEnd } from '../text/clean.ts'
import { asList, asRecord, type JsonRecord, parseJson, textOf } from '../text/json.ts'
import { decideAfterReview, decideStop, formatCompaction, letGo, noMessage, toHookAnswer } from './messages.ts'
import { type ReflectionContext, reflect } from './reflect.ts'
import {
  clearOpen,
  nonEmptyText,
  openFindings,
  readSessionState,
  type SessionState,
  updateSessionState,
} from './session-state.ts'

/** Claude wants to stop, or its context is about to be compacted: one review of the whole. */

/**
 * An open finding holds Claude once, without a call; otherwise one review of the whole does, unless it is a PASS. A second
 * stop is always let go.
 */
export async function reflectAtStop(context: ReflectionContext, event: Stop): Promise<HookAnswer> {
  const { root, settings, compiled } = context
  const plan = readPlanText(root)
  if (plan === null) return toHookAnswer('Stop', noMessage)
  const isActive = event.stop_hook_active === true
  const state = await clearGoneFiles(context)
  context.extendDeadline(preparationMs)
  const work = isActive ? null : await readWork(root, plan)
  if (work?.isBegun === false && (await mayAskToStart(context, plan, state))) return toHookAnswer('Stop', noMessage)
  const trace = settings.traceability === 'off' ? null : (work?.trace ?? null)
  // Before anything is changed, Claude may still be asking: it must not be sent to begin.
  const traceBlocks = settings.traceability === 'blocking' && work?.isBegun === true
  const decided = decideStop({ isActive, open: openFindings(state), trace, traceBlocks })
  debug(`stop: ${decided === null ? 'ask' : decided.blocks ? 'block' : 'let-go'}`)
  if (decided !== null) return toHookAnswer('Stop', decided)
  const content =
    event.last_assistant_message?.trim() || readTranscriptTail(event.transcript_path, 60_000, compiled).trim()
  if (content === '') return toHookAnswer('Stop', letGo(trace))
  const about = 'the work as a whole'
  const subject = { kind: 'stop', hash: null, key: null, about, content, plan, changes: work?.diff ?? null } as const
  return toHookAnswer('Stop', decideAfterReview(await reflect(context, subject), trace))
}

/** For the session state and for git, before the reviewer is asked. */
const preparationMs = 90_000

/** Before a compaction: what a second reviewer thinks is worth keeping. A failure does not keep the context from shrinking. */
export async function reflectBeforeCompaction(context: ReflectionContext, event: PreCompact): Promise<HookAnswer> {
  const content = readTranscriptTail(event.transcript_path, 120_000, context.compiled)
  if (content === '') return toHookAnswer('PreCompact', noMessage)
  const plan = readPlanText(context.root)
  const subject = { kind: 'compaction', hash: null, key: null, about: 'the session so far', content, plan } as const
  const review = await reflect(context, subject)
  if (review.kind === 'judged') return toHookAnswer('PreCompact', formatCompaction(review.summary))
  debug(`no reflection before the compaction: ${review.why}`)
  return toHookAnswer('PreCompact', noMessage)
}

function readPlanText(root: string): string | null {
  const plan = readRegular(root, planPath)
  return plan.kind === 'read' ? plan.bytes.toString('utf8') : null
}

/** The first stop after an approval, with nothing done yet, is the question whether to start. */
async function mayAskToStart(
  { root, session }: ReflectionContext,
  plan: string,
  state: SessionState,
): Promise<boolean> {
  const askedToStart = sha256(plan)
  if (state.askedToStart === askedToStart || state.fails.fails.length > 0) return false
  await updateSessionState(root, session, (from) => ({ state: { ...from, askedToStart } }))
  return true
}

/** A finding about a file that was deleted could never pass. */
async function clearGoneFiles({ root, session }: ReflectionContext): Promise<SessionState> {
  const state = readSessionState(root, session)
  const gone = state.fails.fails.filter(({ key }) => isGone(root, key)).map(({ key }) => key)
  if (gone.length === 0) return state
  return (await updateSessionState(root, session, (from) => ({ state: gone.reduce(clearOpen, from) }))).state
}

function isGone(root: string, key: string): boolean {
  const path = /^file ([^/].*)$/s.exec(key)?.[1]
  return path !== undefined && !existsSync(join(root, path))
}

/** What was done since the approval, and how it compares with the plan. null: not known. */
type Work = { readonly diff: string | null; readonly trace: Trace | null; readonly isBegun: boolean | null }

async function readWork(root: string, plan: string): Promise<Work> {
  const gitDirs = readGitDirs(root)
  if (gitDirs === null) return unknownWork('there is no git directory')
  // A git that could be made to run a program is not asked; this says so first.
  const now = readWorkingTree(root, gitDirs)
  if (now.kind === 'failed') return unknownWork(now.why)
  const baseline = readTreeBaseline(gitDirs.own)
  const before: Pick<TreeBaseline, 'head' | 'paths'> =
    baseline.kind === 'read' ? baseline.value : { head: 'HEAD', paths: {} }
  /** Changed before the approval and still the same, even if committed since. */
  const isUnchanged = (path: string): boolean => {
    const name = Buffer.from(path).toString('latin1')
    const known = before.paths[name]
    return known !== undefined && known.digest === (now.paths[name] ?? { digest: digestOfPath(root, name) }).digest
  }
  const isWork = ({ path }: ChangedFile): boolean => !isOwnPath(path) && !isUnchanged(path)
  try {
    const { diff, files } = await worktreeChanges(gitDirs, { commit: before.head, without: planPath }, (args, env) =>
      gitSyncOrThrow(root, args, gitTimeoutMs, env),
    )
    const changed = files.filter(isWork)
    return { diff: clipDiff(diff), trace: tracePlan(readPlanScope(plan), changed), isBegun: changed.length > 0 }
  } catch (error) {
    return unknownWork(error instanceof Error ? error.message : String(error))
  }
}

/** For one command of git; a stop must not wait for it as long as for a review. */
const gitTimeoutMs = 10_000

function unknownWork(why: string): Work {
  debug(`what changed since the approval is not known: ${why}`)
  return { diff: null, trace: null, isBegun: null }
}

const maxDiff = 1_000_000

/** Whole files, so that no secret is cut in two before it is redacted. */
function clipDiff(diff: string): string {
  if (diff.length <= maxDiff) return diff
  const end = diff.lastIndexOf('\ndiff --git ', maxDiff)
  return `${diff.slice(0, Math.max(0, end))}\n[… and more files that are not shown …]`
}

/** Compares what was changed with what the approved plan names. */

export type Trace = { readonly unplanned: readonly string[]; readonly undone: readonly string[] }

/** null when nothing is to be said, or the plan names nothing that could be compared. */
export function tracePlan(planned: readonly ScopeEntry[], changed: readonly ChangedFile[]): Trace | null {
  if (planned.length === 0) return null
  const unplanned = changed.flatMap((file) => unplannedIn(file, planned))
  const undone = planned.flatMap((entry) => undoneIn(entry, changed))
  return unplanned.length + undone.length === 0 ? null : { unplanned, undone }
}

/** A file that moved touches two paths, and each has to be named. */
function unplannedIn({ path, from, status }: ChangedFile, planned: readonly ScopeEntry[]): string[] {
  const isCovered = [path, ...manifestsOf(path)].some((each) => inScope(each, planned))
  if (from === null) return isCovered ? [] : [`${path} (${status})`]
  if (isCovered) return inScope(from, planned) ? [] : [`${from} (moved to ${path})`]
  return [`${path} (moved from ${from})`]
}

/** A plan names a manifest; its lock file follows from it. */
const manifestsOfLocks: { readonly [name: string]: readonly string[] } = {
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

function manifestsOf(path: string): string[] {
  const name = basename(path)
  const manifests = Object.hasOwn(manifestsOfLocks, name) ? (manifestsOfLocks[name] ?? []) : []
  return manifests.map((manifest) => `${path.slice(0, -name.length)}${manifest}`)
}

function undoneIn(entry: ScopeEntry, changed: readonly ChangedFile[]): string[] {
  const touched = changed.flatMap((file) => pathChanges(file).filter(({ path }) => inScope(path, [entry])))
  if (touched.some(({ what }) => expectedChanges[entry.mark].includes(what))) return []
  const mark = entry.mark === 'unstated' ? '' : `, ${entry.mark}`
  const [other] = touched
  return [
    `${entry.pattern} (line ${entry.line} of the plan${mark}): ${other === undefined ? 'no change' : otherChange[other.what]}`,
  ]
}

type PathChange = 'added' | 'changed' | 'deleted' | 'moved-away' | 'moved-here'

const pathChanges = ({ path, from, status }: ChangedFile): { readonly path: string; readonly what: PathChange }[] =>
  status === 'renamed' && from !== null
    ? [
        { path: from, what: 'moved-away' },
        { path, what: 'moved-here' },
      ]
    : [{ path, what: status === 'renamed' ? 'changed' : status }]

/** What counts as done. git reports a move as a deletion and an addition when much else changed in the file. */
const expectedChanges: { readonly [mark in ScopeEntry['mark']]: readonly PathChange[] } = {
  new: ['added', 'changed', 'moved-here'],
  changed: ['added', 'changed', 'moved-here'],
  deleted: ['deleted', 'moved-away'],
  renamed: ['added', 'deleted', 'moved-away', 'moved-here'],
  unstated: ['added', 'changed', 'deleted', 'moved-away', 'moved-here'],
}

const otherChange: { readonly [what in PathChange]: string } = {
  added: 'it was added instead',
  changed: 'it is still there, with changes',
  deleted: 'it was deleted instead',
  'moved-away': 'it was moved away instead',
  'moved-here': 'another file was moved there instead',
}

/** Far more than is shown of it; a transcript of days is not read from its beginning. */
const maxBytes = 8 * 1024 * 1024

export function readTranscriptTail(
  path: string | null | undefined,
  maxChars: number,
  { config }: CompiledConfig,
): string {
  const redactor = makeRedactor(config.review.redaction.patterns)
  return tailOfTranscript(path ? readEnd(path) : '', maxChars, (text) => {
    const clean = redactor.text(text)
    return clean.kind === 'redacted' ? clean.text : null
  })
}

function readEnd(path: string): string {
  const opened = openRegular(dirname(path), basename(path), constants.O_RDONLY)
  if (opened.kind !== 'opened') {
    debug(`the transcript cannot be read: ${opened.kind === 'absent' ? 'there is none' : opened.why}`)
    return ''
  }
  const { fd, size } = opened
  try {
    const bytes = Buffer.alloc(Math.min(size, maxBytes))
    return bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, size - bytes.length))
  } finally {
    closeSync(fd)
  }
}

/**
 * What Claude said, which tools it used, and which of them failed, read from the last line backwards, as far as fits.
 * Other lines are skipped, the first half line of a truncated file included. `clean` redacts before anything is truncated:
 * half a secret would not be recognised. A text that it cannot clean (null) is passed on whole, for the caller's own
 * redaction to refuse.
 */
export function tailOfTranscript(jsonl: string, maxChars: number, clean: (text: string) => string | null): string {
  const pieces: string[] = []
  let left = maxChars
  let end = jsonl.length
  for (let lines = 0; end > 0 && left > 0 && lines < maxLines; lines++) {
    const start = jsonl.lastIndexOf('\n', end - 1) + 1
    for (const { label, text, max } of piecesIn(jsonl.slice(start, end)).reverse()) {
      if (left <= 0) break
      const whole = text.slice(0, maxToClean)
      const cleaned = clean(whole)
      if (cleaned === null) return [`${label}${whole}`, ...pieces].join('\n')
      const piece = clipEnd(`${label}${clipEnd(cleaned, max)}`, left)
      pieces.unshift(piece)
      left -= piece.length + 1
    }
    end = start - 1
  }
  return pieces.join('\n')
}

/** Many lines of a transcript are no messages; beyond so many it is another session. */
const maxLines = 20_000
const maxToClean = 100_000

/** `label`: plan-gate's words, which say what the text is. */
type Piece = { readonly label: string; readonly text: string; readonly max: number }

function piecesIn(line: string): Piece[] {
  // Most lines are neither, and some of those are very long.
  if (!/"role":\s?"(?:assistant|user)"/.test(line)) return []
  const { type, isSidechain, message } = asRecord(parseJson(line))
  if ((type !== 'assistant' && type !== 'user') || isSidechain === true) return []
  const { content } = asRecord(message)
  if (typeof content === 'string') return type === 'assistant' ? messageText(content) : []
  return asList(content).flatMap((block) => piecesOf(asRecord(block), type))
}

function piecesOf(block: JsonRecord, role: 'assistant' | 'user'): Piece[] {
  const { type, text, name: given, input, content } = block
  if (role === 'user') return type === 'tool_result' && block.is_error === true ? [failedResult(content)] : []
  if (type === 'text') return messageText(textOf(text))
  if (type !== 'tool_use') return []
  const name = `${nonEmptyText(given) ?? 'a tool'}] `
  const max = Math.min(name.length, 200) + maxInput
  return [{ label: '[used ', text: `${name}${JSON.stringify(input ?? {})}`, max }]
}

const maxMessage = 4000
const maxInput = 600

const messageText = (text: string): Piece[] =>
  text.trim() === '' ? [] : [{ label: '', text: text.trim(), max: maxMessage }]

function failedResult(content: unknown): Piece {
  const texts = asList(content).map((block) => textOf(asRecord(block).text))
  return { label: '[it failed] ', text: (textOf(content) || texts.join('\n')).trim(), max: maxInput }
}
