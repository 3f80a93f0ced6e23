import { cpSync, existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { removeSandbox } from '../gate/sandbox/prepare.ts'
import type { InstallRecord } from '../schemas/records.ts'
import { checkFolder, copyReviews, putFile, readRegular, throwIfUnreadable } from '../state/files.ts'
import { forgetGate } from '../state/gates.ts'
import {
  bundleFile,
  bundleNames,
  gitDirFolder,
  hooksDir,
  ignorePath,
  ownSkillDirs,
  reviewDir,
  settingsFiles,
} from '../state/own-paths.ts'
import { readInstallRecord } from '../state/records.ts'
import { liveSessions } from '../state/sessions.ts'
import { UserError } from '../system/errors.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { printable } from '../text/clean.ts'
import { refreshExcludes, removeShared } from './excludes.ts'
import { fromBase64, ignoreMark } from './plan.ts'
import {
  deniedRules,
  formatSettings,
  hasOwnEntries,
  parseSettings,
  settingsOrEmpty,
  withoutOwnEntries,
} from './settings.ts'

type Uninstalled = {
  removed: string[]
  restored: string[]
  /** For the user to check. */
  notes: string[]
}

/** Unchanged settings byte for byte, from others our entries. They come first: they never refer to missing hooks. */
export async function uninstall(root: string, gitDirs: GitDirs, keepReviewsIn: string | null): Promise<Uninstalled> {
  const read = readInstallRecord(gitDirs.own)
  const record = read.kind === 'read' ? read.value : null
  const done: Uninstalled = { removed: [], restored: [], notes: [] }
  if (read.kind === 'refused')
    done.notes.push(
      `The record of the install cannot be read (${read.why}); files known to be plan-gate's are removed.`,
    )
  if (liveSessions(root, new Date()).length > 0)
    done.notes.push(
      'A Claude Code session was active here in the last minutes: it keeps the hooks that it began with, and they refuse each call now. End it (/exit), then start it again.',
    )
  for (const path of settingsFiles) cleanSettings(root, path, record, done)
  removeOwn(root, hooksDir, isOwnHookFile, done)
  for (const dir of ownSkillDirs) removeOwn(root, dir, (file) => file === 'SKILL.md', done)
  if (keepReviewsIn !== null) keepReviews(root, keepReviewsIn, done)
  rescueReplaced(root, done)
  if (record === null || record.created_dirs.includes(reviewDir)) removeFolder(root, reviewDir, done)
  else leave(done, `${reviewDir} existed before plan-gate and was kept; remove the reviews in it yourself.`)
  removeIgnore(root, done)
  removeEmpty(root, record?.created_dirs ?? ['.claude/hooks', '.claude/skills'], done)
  removeSandbox(gitDirs.own)
  rmSync(join(gitDirs.own, gitDirFolder), { recursive: true, force: true })
  removeShared(gitDirs.common)
  forgetGate(root)
  await refreshExcludes(gitDirs)
  return done
}

function cleanSettings(root: string, path: string, record: InstallRecord | null, done: Uninstalled): void {
  const read = readRegular(root, path)
  throwIfUnreadable(path, read)
  if (read.kind === 'absent') return
  if (read.kind === 'refused') return leave(done, `${path} was not changed: ${read.why}.`)
  const text = read.bytes.toString('utf8')
  const ours = record?.settings.path === path ? record.settings : null
  const before = ours === null || ours.before === null ? null : fromBase64(ours.before)
  if (ours !== null && text === fromBase64(ours.after)) return restore(root, path, before, ours.before_mode, done)
  const parsed = parseSettings(text)
  if (parsed.kind === 'invalid')
    return leave(done, `${path} was not changed: ${parsed.why}. Remove the entries that refer to ${hooksDir} yourself.`)
  if (!hasOwnEntries(parsed.settings) && ours === null) return
  const left = withoutOwnEntries(parsed.settings, ours?.denied ?? deniedRules, settingsOrEmpty(before ?? ''))
  if (Object.keys(left).length === 0 && before === null) return restore(root, path, null, null, done)
  putFile(root, path, formatSettings(left, text), ours?.before_mode ?? 0o644)
  done.restored.push(path)
}

/** Ours if our mark is its first line. */
function removeIgnore(root: string, done: Uninstalled): void {
  const found = readRegular(root, ignorePath)
  if (found.kind === 'refused') return leave(done, `${ignorePath} was not changed: ${found.why}.`)
  if (found.kind !== 'read' || !found.bytes.toString('utf8').startsWith(ignoreMark)) return
  rmSync(join(root, ignorePath))
  done.removed.push(ignorePath)
}

function leave(done: Uninstalled, note: string): void {
  done.notes.push(note)
}

function restore(root: string, path: string, before: string | null, mode: number | null, done: Uninstalled): void {
  if (before === null) {
    rmSync(join(root, path))
    done.removed.push(path)
    return
  }
  putFile(root, path, before, mode ?? 0o644)
  done.restored.push(path)
}

const ownHookFiles = bundleNames.flatMap((name) => [bundleFile(name), `${name}.mjs.cache`])

const isOwnHookFile = (file: string): boolean =>
  [...ownHookFiles, 'config.json', '.gitignore'].includes(file) || /^\..*\.tmp$/.test(file)

/** Removes our files from a folder, and the folder if it is empty then. */
function removeOwn(root: string, folder: string, isOwn: (file: string) => boolean, done: Uninstalled): void {
  if (!isFolder(root, folder, done)) return
  for (const file of readdirSync(join(root, folder)))
    if (isOwn(file)) rmSync(join(root, folder, file), { recursive: true })
  const left = readdirSync(join(root, folder))
  if (left.length > 0)
    return leave(done, `${folder} was kept: it still contains ${left.map((name) => printable(name)).join(', ')}.`)
  rmdirSync(join(root, folder))
  done.removed.push(`${folder}/`)
}

/** Files of the user that the gate replaced must not be removed with the reviews. */
function rescueReplaced(root: string, done: Uninstalled): void {
  const from = join(root, reviewDir, 'replaced')
  if (!isFolder(root, `${reviewDir}/replaced`, done)) return
  const to = join(root, 'plan-gate-replaced')
  cpSync(from, to, { recursive: true, verbatimSymlinks: true })
  leave(done, `Files that the gate had replaced are in ${to}; check them, then remove them.`)
}

function removeFolder(root: string, folder: string, done: Uninstalled): void {
  if (!isFolder(root, folder, done)) return
  rmSync(join(root, folder), { recursive: true, force: true })
  done.removed.push(`${folder}/`)
}

function keepReviews(root: string, destination: string, done: Uninstalled): void {
  if (!isFolder(root, reviewDir, done)) return
  if (existsSync(destination) && readdirSync(destination).length > 0)
    throw new UserError(
      `${destination} is not empty, so the reviews were not saved there.`,
      'Name a folder that does not exist yet.',
    )
  copyReviews(root, destination)
  done.notes.push(`The reviews are in ${destination}.`)
}

/** Innermost first; folders that are not empty are kept. */
function removeEmpty(root: string, folders: readonly string[], done: Uninstalled): void {
  for (const folder of [...folders].sort((a, b) => b.length - a.length)) {
    if (!isFolder(root, folder, done) || readdirSync(join(root, folder)).length > 0) continue
    rmdirSync(join(root, folder))
    done.removed.push(`${folder}/`)
  }
}

/** Throws where it cannot be looked at: what comes next may remove what is in it. */
function isFolder(root: string, folder: string, done: Uninstalled): boolean {
  const check = checkFolder(root, folder)
  throwIfUnreadable(folder, check)
  if (check.kind === 'refused') leave(done, `${folder} was not changed: ${check.why}.`)
  return check.kind === 'folder'
}
