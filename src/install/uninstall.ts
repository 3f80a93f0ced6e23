import { cpSync, existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { InstallRecord } from '../schemas/records.ts'
import { checkFolder, copyReviews, putFile, readRegular } from '../state/files.ts'
import { gitDirFolder, hooksDir, ignorePath, ownSkills, reviewDir, settingsFiles } from '../state/own-paths.ts'
import { readInstallRecord } from '../state/records.ts'
import { UserError } from '../system/errors.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { printable } from '../text/clean.ts'
import { refreshExcludes } from './excludes.ts'
import { bundleNames } from './hook-entries.ts'
import { fromBase64, ignoreMark } from './plan.ts'
import { formatSettings, hasOwnEntries, parseSettings, withoutOwnEntries } from './settings.ts'
import { deniedRules } from './settings-audit.ts'

type Uninstalled = {
  removed: string[]
  restored: string[]
  /** What a person has to look at. */
  notes: string[]
}

/**
 * Takes away what install brought, and nothing else. Settings that nobody touched since get their old bytes back; from
 * others just our entries are taken out. The settings come first: hooks that are gone must not be asked for.
 */
export async function uninstall(root: string, gitDirs: GitDirs, keepReviewsIn: string | null): Promise<Uninstalled> {
  const read = readInstallRecord(gitDirs.own)
  const record = read.kind === 'read' ? read.value : null
  const done: Uninstalled = { removed: [], restored: [], notes: [] }
  if (read.kind === 'refused')
    done.notes.push(`The record of the install cannot be read (${read.why}); what is known to be ours is taken away.`)
  for (const path of settingsFiles) cleanSettings(root, path, record, done)
  removeOwn(root, hooksDir, isOwnHookFile, done)
  for (const name of ownSkills) removeOwn(root, `.claude/skills/${name}`, (file) => file === 'SKILL.md', done)
  if (keepReviewsIn !== null) keepReviews(root, keepReviewsIn, done)
  rescueReplaced(root, done)
  if (record === null || record.created_dirs.includes(reviewDir)) removeFolder(root, reviewDir, done)
  else leave(done, `${reviewDir} was there before plan-gate and is left; the reviews in it are yours to remove.`)
  removeIgnore(root, done)
  removeEmpty(root, record?.created_dirs ?? ['.claude/hooks', '.claude/skills'], done)
  rmSync(join(gitDirs.own, gitDirFolder), { recursive: true, force: true })
  await refreshExcludes(gitDirs)
  return done
}

function cleanSettings(root: string, path: string, record: InstallRecord | null, done: Uninstalled): void {
  const read = readRegular(root, path)
  if (read.kind === 'absent') return
  if (read.kind === 'refused') return leave(done, `${path} was left alone: ${read.why}.`)
  const text = read.bytes.toString('utf8')
  const ours = record?.settings.path === path ? record.settings : null
  const before = ours === null || ours.before === null ? null : fromBase64(ours.before)
  if (ours !== null && text === fromBase64(ours.after)) return restore(root, path, before, ours.before_mode, done)
  const parsed = parseSettings(text)
  if (parsed.kind === 'invalid')
    return leave(done, `${path} was left alone: ${parsed.why}. Take out what names ${hooksDir} yourself.`)
  if (!hasOwnEntries(parsed.settings) && ours === null) return
  const known = parseSettings(before ?? '')
  const left = withoutOwnEntries(
    parsed.settings,
    ours?.denied ?? deniedRules,
    known.kind === 'settings' ? known.settings : {},
  )
  if (Object.keys(left).length === 0 && before === null) return restore(root, path, null, null, done)
  putFile(root, path, formatSettings(left, text), ours?.before_mode ?? 0o644)
  done.restored.push(path)
}

/** Ours as long as our mark is its first line. */
function removeIgnore(root: string, done: Uninstalled): void {
  const found = readRegular(root, ignorePath)
  if (found.kind === 'refused') return leave(done, `${ignorePath} was left alone: ${found.why}.`)
  if (found.kind !== 'read' || !found.bytes.toString('utf8').startsWith(ignoreMark)) return
  rmSync(join(root, ignorePath))
  done.removed.push(ignorePath)
}

/** Left as it is, for a person to look at. */
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

const ownHookFiles = bundleNames.flatMap((name) => [`${name}.mjs`, `${name}.mjs.cache`])

const isOwnHookFile = (file: string): boolean =>
  [...ownHookFiles, 'config.json', '.gitignore'].includes(file) || /^\..*\.tmp$/.test(file)

/** Takes our files out of a folder, and the folder if nothing else is in it. */
function removeOwn(root: string, folder: string, isOwn: (file: string) => boolean, done: Uninstalled): void {
  const check = checkFolder(root, folder)
  if (check.kind === 'absent') return
  if (check.kind === 'refused') return leave(done, `${folder} was left alone: ${check.why}.`)
  for (const file of readdirSync(join(root, folder)))
    if (isOwn(file)) rmSync(join(root, folder, file), { recursive: true })
  const left = readdirSync(join(root, folder))
  if (left.length > 0)
    return leave(done, `${folder} is left, because of ${left.map((name) => printable(name)).join(', ')} in it.`)
  rmdirSync(join(root, folder))
  done.removed.push(`${folder}/`)
}

/** What the gate replaced while it stood was somebody's; it must not go with the record. */
function rescueReplaced(root: string, done: Uninstalled): void {
  const from = join(root, reviewDir, 'replaced')
  if (checkFolder(root, `${reviewDir}/replaced`).kind !== 'folder') return
  const to = join(root, 'plan-gate-replaced')
  cpSync(from, to, { recursive: true, verbatimSymlinks: true })
  leave(done, `Files that the gate had replaced are in ${to}; remove them when you have looked.`)
}

function removeFolder(root: string, folder: string, done: Uninstalled): void {
  const check = checkFolder(root, folder)
  if (check.kind === 'absent') return
  if (check.kind === 'refused') return leave(done, `${folder} was left alone: ${check.why}.`)
  rmSync(join(root, folder), { recursive: true, force: true })
  done.removed.push(`${folder}/`)
}

function keepReviews(root: string, destination: string, done: Uninstalled): void {
  if (checkFolder(root, reviewDir).kind !== 'folder') return
  if (existsSync(destination) && readdirSync(destination).length > 0)
    throw new UserError(
      `${destination} is not empty, so the reviews are not put there.`,
      'Name a folder that does not exist yet.',
    )
  copyReviews(root, destination)
  done.notes.push(`The reviews are in ${destination}.`)
}

/** Innermost first; a folder that somebody else put something into stays. */
function removeEmpty(root: string, folders: readonly string[], done: Uninstalled): void {
  for (const folder of [...folders].sort((a, b) => b.length - a.length)) {
    if (checkFolder(root, folder).kind !== 'folder' || readdirSync(join(root, folder)).length > 0) continue
    rmdirSync(join(root, folder))
    done.removed.push(`${folder}/`)
  }
}
