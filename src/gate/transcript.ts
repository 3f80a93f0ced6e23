import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { claudeDir, resolvePath } from '../system/paths.ts'
import { parseJson } from '../text/json.ts'

/** What Claude Code calls the plan of its plan mode: the last name that it wrote into the transcript of this session. */
export const planModeSlug = (path: string | null | undefined, session: string | undefined): string | null =>
  session === undefined ? null : onceWritten(() => lastSlug(path, session))

/** Claude Code writes its transcript beside its calls: on a busy machine, a line comes after the hook that looks for it. */
export function onceWritten<T>(look: () => T | null): T | null {
  const giveUpAt = performance.now() + 2_000
  for (;;) {
    const found = look()
    if (found !== null || performance.now() > giveUpAt) return found
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
  }
}

function lastSlug(path: string | null | undefined, session: string): string | null {
  for (const text of [...transcriptLines(path)].reverse()) {
    const line = text.includes('"slug"')
      ? (parseJson(text) as { slug?: unknown; sessionId?: unknown } | undefined)
      : undefined
    if (typeof line?.slug === 'string' && line.sessionId === session) return line.slug
  }
  return null
}

/** The lines at both ends of a session's transcript, which may be hundreds of MB long. Those in the middle are left out. */
export function transcriptLines(path: string | null | undefined): readonly string[] {
  const [file, folder] = [path ?? '', join(claudeDir(), 'projects')].map(resolvePath)
  if (file?.kind !== 'resolved' || folder?.kind !== 'resolved' || !file.real.startsWith(`${folder.real}/`)) return []
  let fd: number
  try {
    fd = openSync(file.real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    return []
  }
  try {
    const { size } = fstatSync(fd)
    const read = (from: number): string[] => {
      const bytes = Buffer.alloc(Math.min(endBytes, size - from))
      return bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, from)).split('\n')
    }
    return size <= endBytes ? read(0) : [...read(0), ...read(size - endBytes)]
  } catch {
    return []
  } finally {
    closeSync(fd)
  }
}

const endBytes = 256 * 1024
