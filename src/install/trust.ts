import { readdirSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { assertNoToolCall } from '../gate/call-notes.ts'
import { throwIfUnreadable } from '../state/files.ts'
import { readThroughLinks } from '../state/linked-files.ts'
import { readConsent, removeConsent, writeConsent } from '../state/records.ts'
import { foldersBelow, projectFiles } from '../system/environment.ts'
import { unlessAbsent } from '../system/errors.ts'
import type { GitDirs } from '../system/git-dirs.ts'
import { type InventoryItem, readInventory } from './inventory.ts'
import { inSettings, mcpServers } from './inventory-settings.ts'

/** An item of the inventory, and what the user said about it. `changed`: they agreed to something else. */
type TrustItem = InventoryItem & { readonly state: 'trusted' | 'new' | 'changed' }

export type Trust = Awaited<ReturnType<typeof readTrust>>

/** What the repository brings, compared with what the user has agreed to. */
export async function readTrust(root: string, gitDirs: GitDirs) {
  const known = knownDigests(gitDirs)
  const items = (await readInventory(root, gitDirs)).map((item): TrustItem => {
    const agreed = known[item.id] ?? []
    return { ...item, state: agreed.includes(item.digest) ? 'trusted' : agreed.length > 0 ? 'changed' : 'new' }
  })
  const untrusted = items.filter(({ state }) => state !== 'trusted')
  return {
    items,
    untrusted,
    /** Whether Claude Code may load what the repository brings: all of it is trusted, or there is nothing. */
    loadsRepository: untrusted.every(({ plugin }) => plugin !== undefined),
    /** Plugins of the user that stay switched off, as `enabledPlugins` calls them. */
    withheldPlugins: untrusted.flatMap(({ plugin }) => plugin ?? []),
  }
}

/** From the folder below the worktree's root where the session was started. No consent covers them. */
export function filesBelow(root: string): string[] {
  const folders = foldersBelow(root)
  const files = [...folders.slice(0, 1).flatMap(projectFiles), ...folders.map((dir) => join(dir, '.mcp.json'))]
  return files.filter(bringsSomething).map((file) => relative(root, file))
}

function bringsSomething(file: string): boolean {
  const read = readThroughLinks(file)
  if (read.kind !== 'read') return read.kind === 'refused'
  const text = read.bytes.toString('utf8')
  return (basename(file) === '.mcp.json' ? mcpServers(text, '') : inSettings(text, {})).length > 0
}

type Digests = { readonly [id: string]: readonly string[] }

function knownDigests({ common }: GitDirs): Digests {
  const read = readConsent(common)
  throwIfUnreadable('the record of what is trusted', read)
  // Without a prototype: ids come from the repository.
  return Object.assign(Object.create(null), read.kind === 'read' ? read.value.items : {}) as Digests
}

/** In whichever worktree of the repository the call runs: one consent is for all. */
function assertUserConsents({ common }: GitDirs): void {
  const names = unlessAbsent(() => readdirSync(join(common, 'worktrees')), [])
  for (const dir of [common, ...names.map((name) => join(common, 'worktrees', name))]) assertNoToolCall(dir)
}

/** Earlier digests stay: another worktree may be on another commit. */
export function trustItems(gitDirs: GitDirs, items: readonly InventoryItem[]): void {
  assertUserConsents(gitDirs)
  const known = knownDigests(gitDirs)
  const added = items.map(({ id, digest }) => [id, [...new Set([...(known[id] ?? []), digest])]] as const)
  writeConsent(gitDirs.common, { items: Object.fromEntries([...Object.entries(known), ...added]) })
}

export function untrustItems(gitDirs: GitDirs, ids: readonly string[]): void {
  const kept = Object.entries(knownDigests(gitDirs)).filter(([id]) => !ids.includes(id))
  if (kept.length === 0) removeConsent(gitDirs.common)
  else writeConsent(gitDirs.common, { items: Object.fromEntries(kept) })
}

/** The ids of everything that was ever agreed to, also of what is not there now. */
export const trustedIds = (gitDirs: GitDirs): string[] => Object.keys(knownDigests(gitDirs))
