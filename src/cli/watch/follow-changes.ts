import { type FSWatcher, statSync, watch } from 'node:fs'
import { join } from 'node:path'
import { listSessions } from '../../store/list-sessions.ts'
import { reviewDir } from '../../store/review-paths.ts'

const pollMs = 1_000
/** One save is several events: a temporary name, its end, the folder. */
const settleMs = 50

/**
 * Calls `look` soon after something has changed, and once a second whatever the file system says: network folders tell
 * of nothing, and there is a limit to how many folders a user may watch.
 */
export function followChanges(root: string, look: () => void): { end: () => void } {
  const watchers = new Map<string, FSWatcher>()
  let soon: NodeJS.Timeout | undefined
  const lookNow = (): void => {
    soon = undefined
    look()
  }
  const arm = (): void => {
    const wanted = new Map(foldersToWatch(root).flatMap((folder) => keyOf(folder)))
    for (const [key, watcher] of watchers)
      if (!wanted.has(key)) {
        watcher.close()
        watchers.delete(key)
      }
    for (const [key, folder] of wanted) {
      if (watchers.has(key)) continue
      const watcher = watchOrNot(folder, () => {
        soon ??= setTimeout(lookNow, settleMs)
      })
      if (watcher !== null) watchers.set(key, watcher)
    }
  }
  arm()
  const poll = setInterval(() => {
    arm()
    look()
  }, pollMs)
  return {
    end: () => {
      clearInterval(poll)
      clearTimeout(soon)
      for (const watcher of watchers.values()) watcher.close()
    },
  }
}

/** Where everything happens; of the sessions those that are at work now. */
function foldersToWatch(root: string): string[] {
  try {
    const sessions = listSessions(root).slice(0, 3)
    return [reviewDir, 'docs', ...sessions.map(({ folder }) => folder)].map((folder) => join(root, folder))
  } catch {
    return []
  }
}

/** A folder that was removed and made again is another one, and its old watcher hears nothing of it. */
function keyOf(folder: string): [string, string][] {
  const found = statSync(folder, { throwIfNoEntry: false })
  return found?.isDirectory() ? [[`${found.dev}:${found.ino}:${folder}`, folder]] : []
}

function watchOrNot(folder: string, onChange: () => void): FSWatcher | null {
  try {
    const watcher = watch(folder, { persistent: false }, onChange)
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return null
  }
}
