import type { ReviewEvent } from '../review/review-request.ts'
import type { Progress } from '../schemas/progress.ts'
import { clearProgress, writeProgress } from '../store/progress.ts'

type Review = { readonly root: string; readonly revision: number; readonly deadlineAt: number }

/** Each write is synced; a backend at work gives dozens of signs a second. */
const betweenSignsMs = 1_000

/** Keeps on disk, for whoever watches, which pass is running and when its reviewer was last heard of. */
export function noteProgress({ root, revision, deadlineAt }: Review): {
  tell: (event: ReviewEvent) => void
  end: () => void
} {
  const started_at = new Date().toISOString()
  let progress: Progress | null = null
  let writtenAt = 0
  let later: NodeJS.Timeout | undefined
  const write = (next: Progress): void => {
    clearTimeout(later)
    later = undefined
    progress = next
    writtenAt = performance.now()
    writeProgress(root, next)
  }
  const writeSign = (): void => {
    try {
      if (progress !== null) write(progress)
    } catch {
      // That somebody sees less of it must not end a review.
    }
  }
  return {
    tell: (event) => {
      switch (event.kind) {
        case 'pass':
          return write({
            pass: event.pass,
            passes: event.passes,
            backend: event.backend,
            started_at,
            deadline_at: clockTime(deadlineAt),
            revision,
            pid: process.pid,
            does: event.does,
            pass_started_at: new Date().toISOString(),
            pass_deadline_at: clockTime(event.deadlineAt),
          })
        case 'sign':
          if (progress === null) return
          progress = { ...progress, sign: event.text.slice(0, 300), signed_at: new Date().toISOString() }
          later ??= setTimeout(writeSign, Math.max(0, writtenAt + betweenSignsMs - performance.now()))
          return
        case 'trace':
        case 'notice':
          return
      }
    },
    // Nothing may be written once the review has ended: a file would tell of one that runs.
    end: () => {
      clearTimeout(later)
      progress = null
      clearProgress(root)
    },
  }
}

/** What the review's own clock shows at some time, as the calendar has it. */
const clockTime = (at: number): string => new Date(Date.now() + at - performance.now()).toISOString()
