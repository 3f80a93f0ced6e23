import { randomBytes } from 'node:crypto'
import { closeSync, constants, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type Denial, denialSchema, type Session, sessionSchema } from '../schemas/records.ts'
import { accepts } from '../schemas/schema.ts'
import { sha256 } from '../system/sha256.ts'
import { parseJson } from '../text/json.ts'
import {
  ensureFolder,
  ensureReviewDir,
  errnoOf,
  isAlive,
  listNames,
  lstatEntry,
  type OpenedRegular,
  openRegular,
  readAnyJson,
  readJson,
  readRegular,
  removePath,
  saveJson,
  sweepTemporaries,
  throwIfUnreadable,
  writeAtomic,
} from './files.ts'
import { launchesDir, launchVariable, reviewPaths } from './own-paths.ts'

/** `.claude/review/sessions/<id>`: the Claude Code sessions in a worktree, and the calls that the gate denied in them. */

/** The id comes from the hook's input: one that could mean another path, or no name at all, is hashed. */
export const sessionName = (id: string): string => (/^[A-Za-z0-9_-]{1,64}$/.test(id) ? id : sha256(id))

export const sessionFolder = (id: string): string => `${reviewPaths.sessions}/${sessionName(id)}`

export const reflectPath = (sessionId: string): string => `${sessionFolder(sessionId)}/reflect.json`

type Heartbeat = Omit<Session, 'started_at' | 'last_seen_at'>

const heartbeatMs = 15_000

/** Called by any hook, so it writes only when something is new. */
export function recordSession(root: string, heartbeat: Heartbeat, now: Date): void {
  const path = `${sessionFolder(heartbeat.session_id)}/session.json`
  const read = readJson(root, path, sessionSchema)
  const known = read.kind === 'read' ? read.value : undefined
  const isAlive = known?.ended_at === undefined
  if (known && isAlive && isSame(known, heartbeat) && now.getTime() - Date.parse(known.last_seen_at) < heartbeatMs)
    return
  const started_at = known?.started_at ?? now.toISOString()
  saveJson(root, path, { ...heartbeat, started_at, last_seen_at: now.toISOString() } satisfies Session)
}

const isSame = (known: Session, { session_id, client_version, source, cwd, launched }: Heartbeat): boolean =>
  known.session_id === session_id &&
  known.launched === launched &&
  known.client_version === client_version &&
  known.source === source &&
  known.cwd === cwd

/** Every session that was active since then has ended with the program that ran it; one that is still alive says so again. */
export function endSessions(root: string, since: Date, now: Date): void {
  for (const { folder, lastSeenMs, session } of listSessions(root))
    if (session !== null && lastSeenMs >= since.getTime())
      saveJson(root, `${folder}/session.json`, { ...session, ended_at: now.toISOString() } satisfies Session)
}

/** By the client's own word (SessionEnd); one that is resumed says so again. */
export function endSession(root: string, sessionId: string, now: Date): void {
  const path = `${sessionFolder(sessionId)}/session.json`
  const read = readJson(root, path, sessionSchema)
  if (read.kind === 'read') saveJson(root, path, { ...read.value, ended_at: now.toISOString() } satisfies Session)
}

/** `session` is null where only denials were recorded, or the file is invalid, as `why` says. */
type ListedSession = { folder: string; lastSeenMs: number; session: Session | null; why: string | null }

export function listSessions(root: string): readonly ListedSession[] {
  return listNames(root, reviewPaths.sessions)
    .flatMap((name) => listSession(root, `${reviewPaths.sessions}/${name}`))
    .sort((a, b) => b.lastSeenMs - a.lastSeenMs)
}

function listSession(root: string, folder: string): ListedSession[] {
  const entry = lstatEntry(root, folder)
  throwIfUnreadable(folder, entry)
  if (entry.kind !== 'entry' || !entry.stat.isDirectory()) return []
  const read = readJson(root, `${folder}/session.json`, sessionSchema)
  const session = read.kind === 'read' ? read.value : null
  const lastSeenMs = session ? Date.parse(session.last_seen_at) : Number.NaN
  const why = read.kind === 'refused' ? read.why : null
  return [{ folder, lastSeenMs: Number.isNaN(lastSeenMs) ? entry.stat.mtimeMs : lastSeenMs, session, why }]
}

export const sessionQuietMinutes = 3

/** That were active lately, and have not said that they end. */
export const liveSessions = (root: string, now: Date): readonly ListedSession[] =>
  listSessions(root).filter(
    ({ session, lastSeenMs }) =>
      session?.ended_at === undefined && now.getTime() - lastSeenMs <= sessionQuietMinutes * 60_000,
  )

/** Keeps the newest. rmSync removes links and does not follow them. */
export function pruneSessions(root: string, keep = 50): void {
  const sessions = listSessions(root)
  for (const { folder } of sessions.slice(0, keep)) sweepTemporaries(root, folder)
  for (const { folder } of sessions.slice(keep)) rmSync(join(root, folder), { recursive: true, force: true })
}

const maxDenialBytes = 4 * 1024
const maxDenialsBytes = 4 * 1024 * 1024

/**
 * On the gate's hot path: no lock, no fsync. Short lines in one O_APPEND write do not interleave. A log that cannot be
 * written must not change the answer, hence a value and no error.
 */
export function appendDenial(
  root: string,
  sessionId: string,
  denial: Omit<Denial, 'at'>,
  at = Date.now(),
): { kind: 'appended' } | { kind: 'refused'; why: string } {
  const folder = sessionFolder(sessionId)
  const path = `${folder}/denials.jsonl`
  try {
    const opened = openForAppending(root, folder, path)
    if (opened.kind === 'absent') return { kind: 'refused', why: `${path} cannot be made` }
    if (opened.kind === 'refused') return opened
    try {
      if (opened.size > maxDenialsBytes) return { kind: 'refused', why: `${path} is full` }
      writeSync(opened.fd, `${shortLine({ at, ...denial })}\n`)
    } finally {
      closeSync(opened.fd)
    }
    return { kind: 'appended' }
  } catch (error) {
    return { kind: 'refused', why: error instanceof Error ? error.message : errnoOf(error) }
  }
}

/** The folder exists nearly always, so it is made only when it turns out to be missing. */
function openForAppending(root: string, folder: string, path: string): OpenedRegular {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT
  const opened = openRegular(root, path, flags)
  if (opened.kind !== 'absent') return opened
  ensureReviewDir(root, folder)
  return openRegular(root, path, flags)
}

/** `at` in milliseconds: the first date that V8 writes out makes it load the time zones, which takes 0.6 ms. */
type RecordedDenial = Omit<Denial, 'at'> & { readonly at: number }

/** Truncated by halves: the length of a character in JSON and UTF-8 is only known once it is encoded. */
function shortLine(denial: RecordedDenial): string {
  const line = JSON.stringify(denial)
  if (Buffer.byteLength(line) < maxDenialBytes) return line
  const half = (text: string): string => (text.length > 128 ? text.slice(0, text.length / 2) : text)
  return shortLine({
    at: denial.at,
    tool: half(denial.tool),
    target: half(denial.target),
    rule: half(denial.rule),
    reason: half(denial.reason),
  })
}

export const readDenials = (root: string, sessionId: string): readonly Denial[] =>
  readDenialsIn(root, sessionFolder(sessionId))

/** In the order they were written; lines torn by a crash are left out. `folder` as `listSessions` gives it. */
export function readDenialsIn(root: string, folder: string): readonly Denial[] {
  const read = readRegular(root, `${folder}/denials.jsonl`)
  if (read.kind !== 'read') return []
  const lines = read.bytes.toString('utf8').split('\n')
  return lines.flatMap((line) => {
    // The error of a parser takes its time.
    const value = line.startsWith('{') ? parseJson(line) : undefined
    const denial = { ...(value as object | undefined), at: isoDate((value as RecordedDenial | undefined)?.at) }
    return accepts(denialSchema, denial) ? [denial] : []
  })
}

const isoDate = (ms: unknown): string | null =>
  typeof ms === 'number' && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : null

/** `<git dir>/plan-gate/launches/<nonce>`: each Claude Code that plan-gate has started, by which its sessions are known. */

/**
 * `client`: the pid of the Claude Code that used it first. One that it started inherits the variable, and is not it. Until
 * then it counts while plan-gate waits for it.
 */
type Launch = { readonly loads_repository: boolean; readonly launcher: number; readonly client: string | null }

const pathOf = (nonce: string): string => `${launchesDir}/${nonce}.json`

export function recordLaunch(gitDir: string, loadsRepository: boolean): string {
  ensureFolder(gitDir, launchesDir)
  for (const name of listNames(gitDir, launchesDir))
    if (hasEnded(gitDir, `${launchesDir}/${name}`)) removePath(gitDir, `${launchesDir}/${name}`)
  const nonce = randomBytes(16).toString('hex')
  write(gitDir, nonce, { loads_repository: loadsRepository, launcher: process.pid, client: null })
  return nonce
}

/** Once that Claude Code has ended. */
export const forgetLaunch = (gitDir: string, nonce: string): void => removePath(gitDir, pathOf(nonce))

/** How plan-gate started the Claude Code of this hook; null where it did not. */
export function readLaunch(gitDir: string, env: NodeJS.ProcessEnv = process.env): Launch | null {
  const nonce = env[launchVariable] ?? ''
  if (!/^[0-9a-f]{32}$/.test(nonce)) return null
  const launch = read(gitDir, pathOf(nonce))
  if (launch === null || (launch.client === null && !isAlive(launch.launcher))) return null
  const client = env.CLAUDE_PID ?? 'unknown'
  if (launch.client === null) write(gitDir, nonce, { ...launch, client })
  return launch.client === null || launch.client === client ? launch : null
}

const write = (gitDir: string, nonce: string, launch: Launch): void =>
  writeAtomic(gitDir, pathOf(nonce), JSON.stringify(launch))

function read(gitDir: string, path: string): Launch | null {
  const value = readAnyJson(gitDir, path) as Partial<Launch> | null
  const isLaunch =
    typeof value?.loads_repository === 'boolean' &&
    typeof value.launcher === 'number' &&
    (value.client === null || typeof value.client === 'string')
  return isLaunch ? (value as Launch) : null
}

function hasEnded(gitDir: string, path: string): boolean {
  const launch = read(gitDir, path)
  return launch === null || !isAlive(Number(launch.client ?? launch.launcher))
}
