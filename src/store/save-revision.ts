import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { ensureReviewDir } from './ensure-review-dir.ts'
import { passPath, reviewDir, revisionPath } from './review-paths.ts'
import { saveFile, saveJson } from './save-file.ts'
import { noStep, type Step } from './step.ts'
import { syncFolder } from './sync-folder.ts'
import { refuseAllButRegular } from './write-whole.ts'

/**
 * The exact bytes that go to review. A number is used again when its review gave no verdict; whatever was said about the
 * former bytes goes first, or a crash would leave an old verdict beside a new plan.
 */
export function saveSnapshot(root: string, revision: number, plan: Uint8Array, step: Step = noStep): void {
  ensureReviewDir(root, reviewDir, step)
  for (const part of ['codex.json', 'annotated.md'] as const) {
    const path = revisionPath(revision, part)
    refuseAllButRegular(root, path)
    step(`remove ${path}`)
    rmSync(join(root, path), { force: true })
  }
  syncFolder(join(root, reviewDir))
  saveFile(root, revisionPath(revision, 'snapshot.md'), plan, step)
}

export const saveResult = (root: string, revision: number, result: unknown, step: Step = noStep): void =>
  saveJson(root, revisionPath(revision, 'codex.json'), result, step)

export const saveAnnotated = (root: string, revision: number, text: string, step: Step = noStep): void =>
  saveFile(root, revisionPath(revision, 'annotated.md'), text, step)

export const savePass = (root: string, revision: number, pass: number, output: unknown): void =>
  saveJson(root, passPath(revision, pass), output)
