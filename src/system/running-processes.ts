import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { isTransient, systemErrorCode } from './errors.ts'

type RunningProcess = { pid: number; name: string }

/** A shell that only waits there loses nothing. */
const shells = /^(?:sh|bash|dash|zsh|fish|ksh|tcsh|csh|ash|tmux|screen|login|su|sudo)$/

/**
 * What works in a folder right now. Only Linux tells; elsewhere there is nothing to say. Whoever started us, and what
 * runs in one line with us, does not count.
 */
export function processesIn(folder: string): RunningProcess[] {
  const own = groupOf(process.pid)
  const above = ancestorsOf(process.pid)
  return numbersIn('/proc').flatMap((pid) => {
    const cwd = linkAt(`/proc/${pid}/cwd`)
    if (cwd === null || (cwd !== folder && !cwd.startsWith(`${folder}/`))) return []
    const stat = statOf(pid)
    if (stat === null || above.includes(pid) || stat.group === own || shells.test(stat.name)) return []
    return [{ pid, name: `${stat.name} ${programOf(pid)}`.trimEnd() }]
  })
}

/** What an interpreter runs, by its name alone: arguments may hold secrets. */
function programOf(pid: number): string {
  const [, first = ''] = textAt(`/proc/${pid}/cmdline`).split('\0')
  return first.startsWith('-') ? '' : basename(first)
}

function ancestorsOf(pid: number): number[] {
  const found: number[] = []
  for (let at = pid; at > 1 && !found.includes(at); at = statOf(at)?.parent ?? 0) found.push(at)
  return found
}

const groupOf = (pid: number): number | undefined => statOf(pid)?.group

/** `pid (name) state parent group …`, and a name may have parentheses in it. */
function statOf(pid: number): { name: string; parent: number; group: number } | null {
  const text = textAt(`/proc/${pid}/stat`)
  const end = text.lastIndexOf(')')
  if (end === -1) return null
  const [, parent, group] = text.slice(end + 2).split(' ')
  return { name: text.slice(text.indexOf('(') + 1, end), parent: Number(parent), group: Number(group) }
}

function numbersIn(folder: string): number[] {
  try {
    return readdirSync(folder).flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
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
    // It has ended, or is somebody else's.
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
