import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { readPlanStateOrThrow } from '../src/gate/read-plan-state.ts'
import { type Finished, finishedSchema } from '../src/schemas/records.ts'
import { readPlanBytes } from '../src/state/approval.ts'
import { withLock } from '../src/state/cycles.ts'
import {
  checkFolder,
  copyReviews,
  errnoOf,
  putFile,
  readJson,
  StoreError,
  syncFolder,
  throwIfUnreadable,
} from '../src/state/files.ts'
import { verifyLedger } from '../src/state/ledger.ts'
import { planPath, reviewDir } from '../src/state/own-paths.ts'
import { UserError, unlessAbsent } from '../src/system/errors.ts'
import { packageVersion } from '../src/system/package.ts'
import { resolveLinks } from '../src/system/repository.ts'
import type { Finishable } from './finishable.ts'
import { type Ignored, keepIgnored } from './ignored-files.ts'

export type Archive = {
  folder: string
  finished: Finished
  exists: boolean
  /** For what git ignores. Always below the git directory, where nobody can commit the keys that may be in it. */
  ignoredFolder: string
}

const recordName = 'finished.json'

/** Where the reviews go: below the git directory, or the folder that the user names. An equal archive of an earlier run is reused. */
export function planArchive(target: Finishable, requested: string | null, facts: FinishFacts, now: Date): Archive {
  const finished = finishedRecord(target, facts, now)
  const home = join(target.repository.commonDir, 'plan-gate-archive')
  const free = freeName(home, finished)
  // What a killed run has left is written anew, and removed by the next one.
  const earlier = unlessAbsent(() => readdirSync(home), []).filter((name) => !isPartial(name))
  const same = earlier.map((name) => join(home, name)).find((folder) => isSame(folder, finished))
  const folder = requested === null ? (same ?? free) : resolveLinks(resolve(requested))
  const exists = isSame(folder, finished)
  const ignoredFolder = join(requested === null ? folder : free, 'ignored')
  if (`${folder}/`.startsWith(`${target.root}/`))
    throw new UserError(
      `${folder} is in the worktree that is to be removed.`,
      'Name another folder: --archive <folder>.',
    )
  if (!exists && !isFree(folder))
    throw new UserError(
      `${folder} is not empty, so the reviews were not archived there.`,
      'Name a folder that does not exist yet.',
    )
  return { folder, finished, exists, ignoredFolder }
}

type FinishFacts = { mergedInto: string | null; discarded: readonly string[] }

function finishedRecord({ root, listed, opened }: Finishable, facts: FinishFacts, now: Date): Finished {
  const { plan, approval, state } = readPlanStateOrThrow(root)
  const ledger = verifyLedger(root)
  return {
    version: 1,
    finished_at: now.toISOString(),
    worktree: root,
    branch: listed.branch,
    base: opened.base,
    base_commit: opened.base_commit,
    head: listed.head,
    merged_into: facts.mergedInto,
    plan_hash: plan.kind === 'read' ? plan.hash() : null,
    approval: state.kind === 'approved' && approval.kind === 'recorded' ? approval.approval : null,
    ledger_head: ledger.kind === 'intact' ? ledger.head : null,
    discarded: facts.discarded,
    plan_gate: packageVersion(),
  }
}

function isSame(folder: string, finished: Finished): boolean {
  const read = readJson(folder, recordName, finishedSchema)
  const compared = ['worktree', 'branch', 'head', 'plan_hash', 'ledger_head'] as const
  return (
    read.kind === 'read' && finished.ledger_head !== null && compared.every((key) => read.value[key] === finished[key])
  )
}

function freeName(home: string, { branch, finished_at }: Finished): string {
  const name = (branch ?? 'no branch').replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '-')
  const stamp = finished_at.replace(/[-:]|\.\d+/g, '')
  const nameOf = (n: number): string => join(home, `${name}-${stamp}${n === 1 ? '' : `-${n}`}`)
  let n = 1
  while (existsSync(nameOf(n))) n += 1
  return nameOf(n)
}

function isFree(folder: string): boolean {
  try {
    return !existsSync(folder) || readdirSync(folder).length === 0
  } catch {
    return false
  }
}

/** Atomic: renamed when everything is in it. */
export async function writeArchive(
  root: string,
  { folder, finished, exists, ignoredFolder }: Archive,
  kept: Ignored['kept'],
): Promise<void> {
  const work = (): void => {
    if (!exists) write(root, folder, finished)
    if (kept.length > 0) keepIgnored(root, ignoredFolder, kept)
  }
  const held = await withLock(root, work, { waitMs: 6_000 })
  if (held.kind === 'busy')
    throw new UserError('A review of the plan is running.', 'Wait for it (plan-gate status), then try again.', 1)
}

function write(root: string, folder: string, finished: Finished): void {
  const partial = join(dirname(folder), `.${basename(folder)}.plan-gate-partial`)
  try {
    makeFolder(dirname(folder))
    for (const name of leftoversOf(partial)) rmSync(join(dirname(folder), name), { recursive: true, force: true })
    mkdirSync(partial, { mode: 0o700 })
    const reviews = checkFolder(root, reviewDir)
    throwIfUnreadable(reviewDir, reviews)
    if (reviews.kind === 'folder') copyReviews(root, partial)
    const plan = readPlanBytes(root)
    if (plan.kind === 'read') putFile(partial, planPath, plan.bytes, 0o600)
    putFile(partial, recordName, `${JSON.stringify(finished, null, 2)}\n`, 0o600)
    if (existsSync(folder)) rmdirSync(folder)
    renameSync(partial, folder)
    syncFolder(dirname(folder))
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    throw new UserError(
      `The reviews cannot be archived in ${folder} (${reasonOf(error)}), so nothing was removed.`,
      'Name another folder: --archive <folder>.',
      1,
    )
  }
}

/** With `recursive`, node reports a read-only disk as ENOENT. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
    mkdirSync(folder)
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof StoreError ? error.message.replace(`. ${error.next}`, '') : errnoOf(error)

/** Partial archives of killed runs: the same name with another time. We hold the lock, so nobody writes to them. */
const leftoversOf = (partial: string): string[] =>
  readdirSync(dirname(partial)).filter((name) => withoutTime(name) === withoutTime(basename(partial)))

const isPartial = (name: string): boolean => /^\..*\.plan-gate-partial$/.test(name)
const withoutTime = (name: string): string => name.replace(/\d{8}T\d{6}Z(-\d+)?(?=\.plan-gate-partial$)/, '')
