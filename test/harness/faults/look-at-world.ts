import { existsSync, readdirSync, readFileSync, readlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { readPlanState } from '../../../src/gate/read-plan-state.ts'
import type { LedgerEvent } from '../../../src/schemas/records.ts'
import { readEvents, verifyLedger } from '../../../src/state/ledger.ts'
import { hooksDir, ownSkills, planPath, reviewDir } from '../../../src/state/own-paths.ts'
import { sha256 } from '../../../src/system/sha256.ts'
import type { World } from './worlds.ts'

/** Where the plan in the worktree stands. */
export function planOf({ work }: World): { kind: 'missing' | 'open' | 'approved'; hash: string | null } {
  const state = readPlanState(work)
  return { kind: state.kind, hash: state.kind === 'approved' ? state.hash : null }
}

/** What is on record, in the worktree and in the repository beside it, or in the archive of a worktree that is gone. */
export const eventsOf = (world: World): readonly LedgerEvent[] =>
  [
    ...[world.work, world.repo].map((root) => readEvents(root)),
    ...archivesOf(world).map((archive) => readEvents(archive, 'events.jsonl')),
  ].flatMap((read) => (read.kind === 'read' ? read.events : []))

/** `finish` takes a plan away that nobody has committed. */
export function archiveProblems(world: World, start: Content): string[] {
  const plan = start[join(world.work, planPath)]
  if (plan === undefined || existsSync(world.work)) return []
  const isKept = archivesOf(world).some((archive) => contentBelow(archive, '')[join(archive, planPath)] === plan)
  return isKept ? [] : ['the plan went with its worktree, and is in no archive']
}

const archivesOf = ({ repo }: World): string[] =>
  entriesOf(join(repo, '.git/plan-gate-archive'))
    .filter(({ name }) => !name.startsWith('.'))
    .map(({ name }) => join(repo, '.git/plan-gate-archive', name))

export const recordProblems = ({ work, repo }: World): string[] =>
  [work, repo].flatMap((root) => {
    const check = verifyLedger(root)
    return check.kind === 'broken' ? [`the ledger is broken: line ${check.line}, ${check.why}`] : []
  })

/** Of every file that is the user's, what is in it. */
export type Content = { readonly [path: string]: string }

export const contentOf = ({ repo, work }: World): Content => ({
  ...contentBelow(repo, ''),
  ...contentBelow(work, ''),
  ...contentBelow(join(repo, '.git'), 'info'),
})

const ours = ['.git', reviewDir, hooksDir, '.claude/.gitignore', ...ownSkills.map((name) => `.claude/skills/${name}`)]

function contentBelow(root: string, inside: string): Content {
  let content: Content = {}
  for (const entry of entriesOf(join(root, inside))) {
    const path = inside === '' ? entry.name : `${inside}/${entry.name}`
    const full = join(root, path)
    if (ours.includes(path)) continue
    const found = entry.isDirectory()
      ? contentBelow(root, path)
      : { [full]: entry.isSymbolicLink() ? readlinkSync(full) : textOf(root, path) }
    content = { ...content, ...found }
  }
  return content
}

const textOf = (root: string, path: string): string => {
  const text = readFileSync(join(root, path), 'latin1')
  return path.startsWith('.claude/settings') ? withAnyCache(root, text) : text
}

/** An entry pins the code caches beside its bundles, which are other bytes each time that they are made; none is as good. */
function withAnyCache(root: string, settings: string): string {
  const folder = join(root, hooksDir)
  const caches = entriesOf(folder).filter(({ name }) => name.endsWith('.cache'))
  const pins = caches.map(({ name }) => `\\"${name}\\":\\"${sha256(readFileSync(join(folder, name)))}\\"`)
  const without = pins.reduce((text, pin) => text.replaceAll(`${pin},`, '').replaceAll(pin, ''), settings)
  return without.replaceAll('"{}"', '""')
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

/** As if a minute had passed since a process was killed: its locks look dead, its temporary files old. */
export function letAMinutePass(world: World): void {
  const then = new Date(Date.now() - 60_000)
  for (const path of pathsIn(world, /(?:\.lock|\.remove|\.tmp)$/)) utimesSync(path, then, then)
}

/** Half of something. A lock whose holder has died is taken by whoever needs it next. */
export const leftIn = (world: World): string[] => pathsIn(world, /(?:\.tmp|\.partial|\.plan-gate-copy)$/)

const pathsIn = ({ folder }: World, name: RegExp): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => name.test(path) && !path.startsWith('home/'))
    .map((path) => join(folder, path))
