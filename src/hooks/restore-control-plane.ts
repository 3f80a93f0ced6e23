import { join } from 'node:path'
import { ownSkills } from '../gate/place-of.ts'
import { bundleNames, cachedFiles, hooksDir } from '../protocol/hook-entries.ts'
import { appendEvent } from '../store/append-event.ts'
import { compiledConfigPath } from '../store/compiled-config.ts'
import { endCycle } from '../store/end-cycle.ts'
import { installRecordPath } from '../store/install-record.ts'
import { readApproval } from '../store/read-approval.ts'
import { revokeApproval } from '../store/revoke-approval.ts'
import { areAsSeen, rememberSeen, signatureOf } from '../store/seen-files.ts'
import { withLock } from '../store/with-lock.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { type Damage, findTamperedFiles } from './find-damage.ts'

/** A path of the control plane that was not as it must be, and what became of it. */
export type Restored = { path: string; what: 'put back' | 'could not be put back'; why: string | null }
/** `unrecorded`: why it could not be put on record. */
export type ControlPlane = { restored: readonly Restored[]; unread: readonly string[]; unrecorded: string | null }

/**
 * After a command: are the gate's own files, and the settings that name them, still whole? The approval ends (whoever
 * changes the gate has not followed the plan) and the record says so before anything is put back: whole again, it would
 * not tell the next look that there is something to end.
 */
export async function restoreControlPlane(root: string, gitDirs: GitDirs): Promise<ControlPlane> {
  const signature = signatureOf(filesToSee(root, gitDirs))
  if (areAsSeen(gitDirs.own, 'own-files', signature)) return { restored: [], unread: [], unrecorded: null }
  const { damage, unread } = findTamperedFiles(root, gitDirs)
  if (damage.length === 0) {
    if (unread.length === 0) rememberSeen(gitDirs.own, 'own-files', signature)
    return { restored: [], unread, unrecorded: null }
  }
  const unended = readApproval(root).kind === 'absent' ? null : await endApproval(root)
  const record = (): Promise<string | null> => recordRestored(root, damage)
  const first = await record()
  const restored: Restored[] = []
  for (const each of damage) restored.push(await putBack(each))
  return { restored, unread, unrecorded: unended ?? (first === null ? null : await record()) }
}

async function recordRestored(root: string, damage: readonly Damage[]): Promise<string | null> {
  try {
    await appendEvent(root, { type: 'control-plane-restored', paths: damage.map(({ path }) => path) })
    return null
  } catch (error) {
    // What can be put back is put back all the same, and told.
    return messageOf(error)
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Neither a review that holds the lock for minutes nor a full disk must keep the approval alive. Returns what is not on record. */
async function endApproval(root: string): Promise<string | null> {
  const why = 'a command changed what decides whether the gate holds'
  try {
    const held = await withLock(root, () => endCycle(root, { why }), { waitMs: 10_000 })
    if (held.kind === 'busy') await revokeApproval(root, why)
    return null
  } catch (error) {
    if (readApproval(root).kind !== 'absent') await revokeApproval(root, why)
    return messageOf(error)
  }
}

async function putBack({ path, why, putBack: act }: Damage): Promise<Restored> {
  if (act === null) return { path, what: 'could not be put back', why }
  try {
    await act()
    return { path, what: 'put back', why }
  } catch (error) {
    return { path, what: 'could not be put back', why: messageOf(error) }
  }
}

/** Whatever is compared: while none of it was touched since it was last found whole, nothing is read. */
const filesToSee = (root: string, { own, mainRoot }: GitDirs): string[] => [
  ...bundleNames.map((name) => join(root, hooksDir, `${name}.mjs`)),
  ...cachedFiles.map((name) => join(root, hooksDir, `${name}.mjs.cache`)),
  ...ownSkills.map((name) => join(root, '.claude/skills', name, 'SKILL.md')),
  join(root, '.claude/settings.json'),
  join(root, '.claude/settings.local.json'),
  join(mainRoot ?? root, '.claude/settings.local.json'),
  join(root, compiledConfigPath),
  join(root, 'plan-gate.yaml'),
  join(own, installRecordPath),
]

/** What Claude and the user are told. */
export function describeControlPlane({ restored, unread, unrecorded }: ControlPlane): string[] {
  const altered = [
    'plan-gate: the command changed what decides whether the gate holds:',
    ...restored.map(({ path, what, why }) => `  ${path}: ${what}${why === null ? '' : ` (${why})`}`),
    'Any approval has ended. Stop here and tell the user; they can look with `plan-gate doctor`.',
    ...(unrecorded === null ? [] : [`This is not on record: ${unrecorded}`]),
  ]
  const unknown = [
    'plan-gate: whether the gate is whole is not known, because something of it cannot be read now:',
    ...unread.map((why) => `  ${why}`),
    'Tell the user before you go on; they can look with `plan-gate doctor`.',
  ]
  return [...(restored.length === 0 ? [] : [altered]), ...(unread.length === 0 ? [] : [unknown])].map((lines) =>
    lines.join('\n'),
  )
}
