import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pageParts } from '../report/generated/page-parts.js'
import { renderReport } from '../report/render-report.ts'
import type { ReportData } from '../report/report-data.ts'
import { reviewDir } from '../store/review-paths.ts'
import { saveFile } from '../store/save-file.ts'
import { errnoOf } from '../store/store-error.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { UserError } from '../system/user-error.ts'
import { isEmpty, readKeptReport, readReport } from './read-report.ts'

const reportPath = `${reviewDir}/report.html`

/** The report of a worktree as a file; null: at its place in `.claude/review`. */
export async function writeReport(root: string, gitDirs: GitDirs, output: string | null): Promise<{ path: string }> {
  const page = renderPage(readWorktreeReport(root, gitDirs))
  if (output !== null) return { path: putPage(page, output) }
  saveFile(root, reportPath, page)
  return { path: join(root, reportPath) }
}

export const renderPage = (data: ReportData): string => renderReport(data, pageParts)

export function readWorktreeReport(root: string, gitDirs: GitDirs): ReportData {
  const data = readReport(root, gitDirs)
  if (!isEmpty(data)) return data
  throw new UserError(
    'There is nothing to report yet: no plan was sent to review here, and nothing was denied.',
    'Let Claude write docs/plan.md in a gated worktree, then try again; `plan-gate status` says where it stands.',
  )
}

/** Of a folder that `uninstall --keep-reviews` copied, or of one that has such a folder in its place. */
export function readKeptReviews(folder: string): ReportData {
  const kept = existsSync(join(folder, reviewDir)) ? join(folder, reviewDir) : folder
  const root = mkdtempSync(join(tmpdir(), 'plan-gate-report-'))
  try {
    // The store reads only below a worktree's root, and follows no link there.
    if (['events.jsonl', 'history', 'plan_v1.snapshot.md'].some((name) => existsSync(join(kept, name))))
      cpSync(kept, join(root, reviewDir), { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
    const data = readKeptReport(root, folder)
    if (!isEmpty(data)) return data
  } catch (error) {
    throw new UserError(`${folder} cannot be read (${errnoOf(error)}).`, 'Name a folder that you may read.')
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
  throw new UserError(
    `${folder} holds no reviews.`,
    'Name the folder that was given to `plan-gate uninstall --keep-reviews`, or a worktree.',
  )
}

export function putPage(page: string, path: string): string {
  try {
    writeFileSync(path, page, { mode: 0o600 })
    return path
  } catch (error) {
    const code = errnoOf(error)
    const next = code === 'ENOENT' ? `Make the folder ${dirname(path)} first.` : 'Name another file with --output.'
    throw new UserError(`${path} cannot be written (${code}).`, next)
  }
}
