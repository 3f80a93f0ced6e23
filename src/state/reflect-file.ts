import { join } from 'node:path'
import { ensureReviewDir, readJson, saveJson, sweepTemporaries, type Validator } from './files.ts'
import { type Held, holdLock } from './lock.ts'
import { reflectPath, sessionFolder } from './session-folder.ts'

/** What the second reviewer of a session has seen, as one file. null: there is none, or none that can be used. */
export function readReflectFile(root: string, sessionId: string): unknown {
  const read = readJson(root, reflectPath(sessionId), anything)
  return read.kind === 'read' ? read.value : null
}

/** Reads, changes and writes it with no other hook in between. An equal value is not written. */
export async function changeReflectFile<T>(
  root: string,
  sessionId: string,
  change: (value: unknown) => { readonly value: unknown; readonly result: T },
): Promise<Held<T>> {
  const folder = sessionFolder(sessionId)
  ensureReviewDir(root, folder)
  const work = (lost: AbortSignal): T => {
    sweepTemporaries(root, folder)
    const before = readReflectFile(root, sessionId)
    const { value, result } = change(before)
    if (!lost.aborted && JSON.stringify(value) !== JSON.stringify(before)) saveJson(root, reflectPath(sessionId), value)
    return result
  }
  return holdLock(join(root, folder, 'reflect.lock'), work, { waitMs: 20_000 })
}

const anything: Validator<unknown> = (value): value is unknown => value !== undefined
