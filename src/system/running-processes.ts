import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { isTransient, systemErrorCode } from './errors.ts'

/**
 * The processes that have their working directory in a folder; only Linux (/proc) reports them. Our ancestors and our
 * process group (the same shell pipeline) do not count.
 */
export function processesIn(folder: string): { pid: number; name: string }[] {
  const own = statOf(process.pid)?.group
  const above = ancestorsOf(process.pid)
  return processIds().flatMap((pid) => {
    const cwd = linkAt(`/proc/${pid}/cwd`)
    if (cwd === null || (cwd !== folder && !cwd.startsWith(`${folder}/`))) return []
    const stat = statOf(pid)
    if (stat === null || above.includes(pid) || stat.group === own || shells.test(stat.name)) return []
    return [{ pid, name: `${stat.name} ${programOf(pid)}`.trimEnd() }]
  })
}

/** A shell that only waits there loses nothing. */
const shells = /^(?:sh|bash|dash|zsh|fish|ksh|tcsh|csh|ash|tmux|screen|login|su|sudo)$/

/** The script of an interpreter. No other arguments: they may hold secrets. */
function programOf(pid: number): string {
  const [, first = ''] = textAt(`/proc/${pid}/cmdline`).split('\0')
  return first.startsWith('-') ? '' : basename(first)
}

function ancestorsOf(pid: number): number[] {
  const found: number[] = []
  for (let at = pid; at > 1 && !found.includes(at); at = statOf(at)?.parent ?? 0) found.push(at)
  return found
}

/** `pid (name) state parent group …`, and a name may have parentheses in it. */
function statOf(pid: number): { name: string; parent: number; group: number } | null {
  const text = textAt(`/proc/${pid}/stat`)
  const end = text.lastIndexOf(')')
  if (end === -1) return null
  const [, parent, group] = text.slice(end + 2).split(' ')
  return { name: text.slice(text.indexOf('(') + 1, end), parent: Number(parent), group: Number(group) }
}

function processIds(): number[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
  } catch (error) {
    if (isTransient(systemErrorCode(error))) throw error
    return []
  }
}

function linkAt(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch (error) {
    if (isTransient(systemErrorCode(error))) throw error
    // It has ended, or belongs to another user.
    return null
  }
}

function textAt(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
