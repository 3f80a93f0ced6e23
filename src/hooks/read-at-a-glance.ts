import { lstatSync } from 'node:fs'
import { join, relative } from 'node:path'
import { bundleNames, hooksDir } from '../protocol/hook-entries.ts'
import type { LedgerEvent } from '../schemas/ledger-event.ts'
import type { Progress } from '../schemas/progress.ts'
import { compiledConfigPath } from '../store/compiled-config.ts'
import { eventsFromEnd } from '../store/events-from-end.ts'
import { installRecordPath } from '../store/install-record.ts'
import { isAlive } from '../store/is-alive.ts'
import { maxLineBytes } from '../store/parse-ledger-line.ts'
import { readRegular } from '../store/read-regular.ts'
import { reviewPaths } from '../store/review-paths.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { type StatusSnapshot, tellingEvents } from './describe-at-a-glance.ts'
import { findThreats, type InstalledSettings } from './find-threats.ts'
import { readPlanState } from './read-plan-state.ts'

/** The worst first: a gate that does not hold matters more than where the plan stands. */
export function readStatusSnapshot(root: string): StatusSnapshot {
  const why = whyNotWhole(root)
  if (why !== null) return { kind: 'not-whole', why }
  const config = readUnchecked<{ problems?: readonly string[] }>(root, compiledConfigPath)
  if (config?.problems !== undefined && config.problems.length > 0) return { kind: 'invalid-config' }
  const progress = readUnchecked<Progress>(root, reviewPaths.progress)
  if (progress !== null && isAlive(progress.pid)) return { kind: 'reviewing', progress }
  return { kind: 'stands', plan: readPlanState(root), last: lastTold(root) }
}

/** Where the plan stands is worth a glance also where nothing can be read of what happened last. */
function lastTold(root: string): LedgerEvent | null {
  try {
    const [last = null] = eventsFromEnd(root, tellingEvents, glanceBytes)
    return last
  } catch {
    return null
  }
}

/** Of a long record, the end has to do. */
const glanceBytes = 2 * maxLineBytes

/** That the bundles are there is seen at once; whether their bytes are ours is looked at after each command. */
function whyNotWhole(root: string): string | null {
  const gitDirs = readGitDirs(root)
  const record =
    gitDirs === null ? null : readUnchecked<{ settings?: InstalledSettings }>(gitDirs.own, installRecordPath)
  if (gitDirs === null || record?.settings === undefined) return 'nothing tells of its installation'
  const [threat] = findThreats(root, gitDirs.mainRoot, record.settings)
  if (threat !== undefined) return `${relative(root, threat.file)}: ${threat.what}`
  const missing = bundleNames.find((name) => !isFile(join(root, hooksDir, `${name}.mjs`)))
  return missing === undefined ? null : `${missing}.mjs is missing`
}

const isFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true

/** Files of our own with long validators, of which little is asked here: a glance has no time for them. */
function readUnchecked<T>(root: string, path: string): T | null {
  const read = readRegular(root, path)
  try {
    return read.kind === 'read' ? (JSON.parse(read.bytes.toString('utf8')) as T) : null
  } catch {
    return null
  }
}
