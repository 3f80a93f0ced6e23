import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { isTransient, orElse, systemErrorCode } from './errors.ts'

/** A program of ours that only looks, by its script, with one of these commands; null: whatever follows. */
export type Looker = { script: string; commands: readonly string[] | null }

/** `name`: as it calls itself, and its script, for people. */
type Running = { pid: number; name: string; parent: number; group: number; cwd: string | null; onlyWaits: boolean }

/**
 * The programs that work in a folder; only Linux (/proc) reports them. Our ancestors and our own pipeline do not count,
 * nor a shell at its prompt, nor what only looks, nor what waits for nothing else.
 */
export function processesIn(folder: string, lookers: readonly Looker[]): { pid: number; name: string }[] {
  const running = processIds().flatMap((pid) => readProcess(pid, lookers) ?? [])
  const pipeline = ownPipeline(running)
  const above = ancestorsOf(process.pid, running)
  const isInside = ({ cwd }: Running): boolean => cwd !== null && (cwd === folder || cwd.startsWith(`${folder}/`))
  const waits = (each: Running, depth = 0): boolean => {
    if (each.onlyWaits) return true
    const children = running.filter(({ parent }) => parent === each.pid)
    return depth < maxDepth && children.length > 0 && children.every((child) => waits(child, depth + 1))
  }
  return running
    .filter((each) => isInside(each) && !above.includes(each.pid) && !pipeline.has(each) && !waits(each))
    .map(({ pid, name }) => ({ pid, name }))
}

/**
 * `plan-gate finish 2>&1 | tee log | less`: our process group, and, because `timeout` takes us out of that, what reads the
 * pipe that we write to, or writes the one that we read, from program to program.
 */
function ownPipeline(running: readonly Running[]): ReadonlySet<Running> {
  const own = running.find(({ pid }) => pid === process.pid)?.group
  const pipesOf = (pid: number, fds: readonly number[]): string[] =>
    fds.flatMap((fd) => linkAt(`/proc/${pid}/fd/${fd}`) ?? []).filter((link) => link.startsWith('pipe:'))
  const found = new Set(running.filter(({ group }) => group === own))
  const follow = (from: readonly number[], to: readonly number[]): void => {
    const pipes = new Set(pipesOf(process.pid, from))
    // A Set hands out what is added while it is gone through.
    for (const pipe of pipes)
      for (const each of running.filter(({ pid }) => pid !== process.pid && pipesOf(pid, to).includes(pipe))) {
        found.add(each)
        for (const next of pipesOf(each.pid, from)) pipes.add(next)
      }
  }
  follow(output, input)
  follow(input, output)
  return found
}

const [input, output] = [[0], [1, 2]]

const maxDepth = 4

function readProcess(pid: number, lookers: readonly Looker[]): Running | null {
  const stat = statOf(pid)
  if (stat === null) return null
  const args = textAt(`/proc/${pid}/cmdline`).split('\0').slice(0, -1)
  const cwd = linkAt(`/proc/${pid}/cwd`)
  // The name of the file that runs: a process can call itself anything.
  const program = basename(linkAt(`/proc/${pid}/exe`) ?? '')
  const isShell = shells.test(program === 'busybox' ? basename(args[0] ?? '') : program)
  const onlyWaits =
    holders.test(program) || (isShell && isAtPrompt(stat, args)) || (cwd !== null && isLooker(args, cwd, lookers))
  return { pid, ...stat, name: `${stat.name} ${scriptOf(args)}`.trimEnd(), cwd, onlyWaits }
}

const shells = /^-?(?:sh|bash|dash|zsh|fish|ksh\d*|mksh|tcsh|csh|ash)$/

/** Whatever runs in them is seen by itself. */
const holders = /^(?:tmux|screen|login|su|sudo)$/

/** The shell of a terminal leads its session; one that a person has started from there was given nothing to run. */
const isAtPrompt = ({ leads, hasTerminal }: Stat, args: readonly string[]): boolean =>
  hasTerminal && (leads || args.slice(1).every((arg) => /^-(?:i|l|-login|-posix)?$/.test(arg)))

function isLooker([, script, ...rest]: readonly string[], cwd: string, lookers: readonly Looker[]): boolean {
  if (script === undefined || script.startsWith('-')) return false
  const file = realPath(resolve(cwd, script))
  const command = rest.find((arg) => !arg.startsWith('-'))
  return lookers.some(
    (looker) => file === realPath(looker.script) && (looker.commands?.some((name) => name === command) ?? true),
  )
}

/** The script of an interpreter. No other arguments: they may hold secrets. */
const scriptOf = ([, first = '']: readonly string[]): string => (first.startsWith('-') ? '' : basename(first))

function ancestorsOf(start: number, running: readonly Running[]): number[] {
  const found: number[] = []
  const parentOf = (pid: number): number => running.find((each) => each.pid === pid)?.parent ?? 0
  for (let at = start; at > 1 && !found.includes(at); at = parentOf(at)) found.push(at)
  return found
}

type Stat = { name: string; parent: number; group: number; leads: boolean; hasTerminal: boolean }

/** `pid (name) state parent group session terminal …`, and a name may have parentheses in it. */
function statOf(pid: number): Stat | null {
  const text = textAt(`/proc/${pid}/stat`)
  const end = text.lastIndexOf(')')
  if (end === -1) return null
  const [state, ...numbers] = text.slice(end + 2).split(' ')
  if (state === 'Z') return null
  const [parent, group, session, terminal] = numbers.map(Number)
  const name = text.slice(text.indexOf('(') + 1, end)
  return { name, parent: parent ?? 0, group: group ?? 0, leads: session === pid, hasTerminal: terminal !== 0 }
}

function processIds(): number[] {
  return readProc(() => readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))) ?? []
}

const linkAt = (path: string): string | null => readProc(() => readlinkSync(path))

/** null: it has ended, or belongs to another user. */
function readProc<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (isTransient(systemErrorCode(error))) throw error
    return null
  }
}

const realPath = (path: string): string => orElse(() => realpathSync(path), path)
const textAt = (path: string): string => orElse(() => readFileSync(path, 'utf8'), '')
