/** The files of the current cycle's revisions: snapshots, results, the counter, the review's progress and its Codex thread. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Progress, progressSchema, type ThreadUse, threadUseSchema } from '../schemas/records.ts'
import {
  anyJson,
  assertRegularOrAbsent,
  checkFolder,
  ensureReviewDir,
  isAlive,
  type JsonRead,
  listNames,
  type Refused,
  type RegularRead,
  readJson,
  readRegular,
  saveFile,
  saveJson,
  syncFolder,
} from './files.ts'
import { passPath, type RevisionPart, reviewDir, reviewPaths, revisionPath } from './own-paths.ts'

type ThreadRead = { kind: 'absent' } | { kind: 'known'; id: string } | { kind: 'refused'; why: string }

export function readThread(root: string): ThreadRead {
  const read = readRegular(root, reviewPaths.thread, 256)
  if (read.kind !== 'read') return read
  const id = read.bytes.toString('latin1').trim()
  if (isUuid(id)) return { kind: 'known', id: id.toLowerCase() }
  return { kind: 'refused', why: `${reviewPaths.thread} does not hold a UUID` }
}

export function writeThread(root: string, id: string): void {
  if (!isUuid(id)) throw new TypeError(`not a UUID: ${JSON.stringify(id)}`)
  saveFile(root, reviewPaths.thread, `${id.toLowerCase()}\n`)
}

/** `codex exec resume` takes any other word for a new thread, without an error. */
export const isUuid = (text: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/**
 * The counter, or the last revision with a result where that is more: after a crash between the two writes, or when the
 * counter was reset to get more revisions than the limit.
 */
export function countRevisions(root: string): Counter {
  const counter = readCounter(root)
  const reviewed = listRevisions(root).filter(({ parts }) => parts.includes('codex.json'))
  const last = reviewed.at(-1)?.revision ?? 0
  return last > counter.value ? { value: last, why: `plan_v${last} has a result` } : counter
}

type Revision = { revision: number; parts: readonly RevisionPart[] }
type RevisionRead = { snapshot: RegularRead; result: JsonRead<unknown> }

/** In ascending order. `folder` may be a cycle of the history. */
export function listRevisions(root: string, folder: string = reviewDir): readonly Revision[] {
  const parts = new Map<number, RevisionPart[]>()
  for (const name of listNames(root, folder)) {
    const match = /^plan_v([1-9]\d{0,5})\.(snapshot\.md|codex\.json|annotated\.md)$/.exec(name)
    if (!match) continue
    const revision = Number(match[1])
    parts.set(revision, [...(parts.get(revision) ?? []), match[2] as RevisionPart])
  }
  return [...parts].map(([revision, parts]) => ({ revision, parts })).sort((a, b) => a.revision - b.revision)
}

/** `plan/revisions.ts` validates a result. */
export const readRevision = (root: string, revision: number, folder: string = reviewDir): RevisionRead => ({
  snapshot: readRegular(root, revisionPath(revision, 'snapshot.md', folder)),
  result: readJson(root, revisionPath(revision, 'codex.json', folder), anyJson),
})

/** How many revisions of this cycle were reviewed. `why` says why it is 0 where the file does not. */
type Counter = { value: number; why: string | null }

export function readCounter(root: string): Counter {
  const path = reviewPaths.counter
  const read = readRegular(root, path, 64)
  switch (read.kind) {
    case 'absent':
      return { value: 0, why: `${path} does not exist` }
    case 'refused':
      return { value: 0, why: read.why }
    case 'read': {
      const text = read.bytes.toString('latin1')
      return /^\d{1,6}\n?$/.test(text) ? { value: Number(text), why: null } : { value: 0, why: `${path} has no number` }
    }
  }
}

export const writeCounter = (root: string, value: number): void => saveFile(root, reviewPaths.counter, `${value}\n`)

export type ProgressRead =
  | { kind: 'absent' }
  | { kind: 'running'; progress: Progress }
  | { kind: 'died'; progress: Progress }
  | Refused

export function readProgress(root: string): ProgressRead {
  const read = readJson(root, reviewPaths.progress, progressSchema, 64 * 1024)
  if (read.kind !== 'read') return read
  return { kind: isAlive(read.value.pid) ? 'running' : 'died', progress: read.value }
}

export const writeProgress = (root: string, progress: Progress): void => saveJson(root, reviewPaths.progress, progress)

/** Never throws: the review has ended, even where this file cannot be removed. */
export function clearProgress(root: string): void {
  if (checkFolder(root, reviewDir).kind !== 'folder') return
  try {
    rmSync(join(root, reviewPaths.progress), { force: true })
  } catch {
    // A reader sees that the pid is gone.
  }
}

/**
 * The exact bytes that go to review. A number is used again when its review gave no verdict; the files about the former
 * bytes are removed first, or a crash would leave an old verdict beside a new plan.
 */
export function saveSnapshot(root: string, revision: number, plan: Uint8Array): void {
  ensureReviewDir(root)
  for (const part of ['codex.json', 'annotated.md'] as const) {
    const path = revisionPath(revision, part)
    assertRegularOrAbsent(root, path)
    rmSync(join(root, path), { force: true })
  }
  syncFolder(join(root, reviewDir))
  saveFile(root, revisionPath(revision, 'snapshot.md'), plan)
}

export const saveResult = (root: string, revision: number, result: unknown): void =>
  saveJson(root, revisionPath(revision, 'codex.json'), result)

export const saveAnnotated = (root: string, revision: number, text: string): void =>
  saveFile(root, revisionPath(revision, 'annotated.md'), text)

export const savePass = (root: string, revision: number, pass: number, output: unknown): void =>
  saveJson(root, passPath(revision, pass), output)

/** null where it is not known for this thread; then the tokens of its next turn are not known either. */
export function readThreadUse(root: string, thread: string): ThreadUse['used'] | null {
  const read = readJson(root, reviewPaths.threadUse, threadUseSchema, 64 * 1024)
  return read.kind === 'read' && read.value.thread === thread ? read.value.used : null
}

export const writeThreadUse = (root: string, use: ThreadUse): void => saveJson(root, reviewPaths.threadUse, use)
