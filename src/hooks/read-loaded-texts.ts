import { type Dirent, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { LoadedText } from '../gate/loaded-text.ts'
import { isAbsence, systemFailure } from '../system/system-failure.ts'
import { folderThroughLinks } from './folder-through-links.ts'
import { readThroughLinks } from './read-through-links.ts'

/** What may still be looked at for one call: a repository can hold any number of such files, and the gate has seconds. */
export type Looking = { entries: number; bytes: number; until: number; isCutShort: boolean }

export const newLooking = (): Looking => ({
  entries: 300_000,
  bytes: 24 * 1024 * 1024,
  until: performance.now() + 2_500,
  isCutShort: false,
})

/**
 * Every Markdown file below a folder, links to other folders followed as Claude Code does. Skills go by the name of their
 * folder, commands and agents by that of their file.
 */
export function readLoadedTexts(folder: string, looking: Looking): LoadedText[] {
  const texts: LoadedText[] = []
  const seen = new Set<string>()
  const waiting = [{ path: folder, names: [] as readonly string[] }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { path, names } = next
    const folderId = folderThroughLinks(path)
    if (folderId === null || seen.has(folderId)) continue
    seen.add(folderId)
    for (const entry of entriesOf(path, looking)) {
      const inside = { path: join(path, entry.name), names: [...names, entry.name] }
      if (entry.isDirectory() || entry.isSymbolicLink()) waiting.push(inside)
      if (!entry.isDirectory() && entry.name.toLowerCase().endsWith('.md')) texts.push(readText(inside, looking))
    }
  }
  return texts
}

function readText({ path, names }: { path: string; names: readonly string[] }, looking: Looking): LoadedText {
  const read = take(looking, 'bytes', 0) ? readThroughLinks(path) : null
  if (read?.kind === 'read') take(looking, 'bytes', read.bytes.length)
  return {
    names: names.flatMap((name) => [name, basename(name, '.md')]),
    text: read?.kind === 'read' ? read.bytes.toString('utf8') : null,
  }
}

/** None where nothing is there. A folder that cannot be looked into throws: who would say what is in it? */
export function entriesOf(folder: string, looking: Looking): Dirent[] {
  if (!take(looking, 'entries', 0)) return []
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    take(looking, 'entries', entries.length)
    return entries
  } catch (error) {
    if (isAbsence(systemFailure(error))) return []
    throw error
  }
}

function take(looking: Looking, what: 'entries' | 'bytes', count: number): boolean {
  looking[what] -= count
  if (looking[what] < 0 || performance.now() > looking.until) looking.isCutShort = true
  return !looking.isCutShort
}
