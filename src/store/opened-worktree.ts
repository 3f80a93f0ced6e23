import validate from '../schemas/generated/opened-worktree.js'
import type { OpenedWorktree } from '../schemas/opened-worktree.ts'
import { ensureFolder } from './ensure-folder.ts'
import { gitDirFolder } from './install-record.ts'
import { type JsonRead, readJson } from './read-json.ts'
import { writeWhole } from './write-whole.ts'

const path = `${gitDirFolder}/opened.json`

export const readOpenedWorktree = (gitDir: string): JsonRead<OpenedWorktree> => readJson(gitDir, path, validate)

export function writeOpenedWorktree(gitDir: string, opened: OpenedWorktree): void {
  ensureFolder(gitDir, gitDirFolder)
  writeWhole(gitDir, path, `${JSON.stringify(opened, null, 2)}\n`)
}
