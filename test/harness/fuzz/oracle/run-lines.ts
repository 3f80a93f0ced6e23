import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readTrace, type Trace, tracedCalls } from '../../../integration/gate/bash/read-trace.ts'

type Place = {
  readonly base: string
  readonly repo: string
  readonly shell: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

export type LinesRun = {
  readonly timedOut: boolean
  readonly tells: boolean
  readonly trace: Trace | null
  /** Of each line that ended: its status, and how many processes were started meanwhile. */
  readonly ended: readonly Ended[]
  /** How many processes a line of one program starts here. */
  readonly startedByOne: number
}
type Ended = { readonly status: number; readonly started: number }

/** In the environment of every line. */
export const canary = 'c4n4ry-0f-th3-env1r0nm3nt'

/** Lines in one shell, one after the other, until one of them does not end for so long. */
export function runLines(lines: readonly string[], place: Place, watch: boolean, forMs: number): Promise<LinesRun> {
  const { base, repo, shell, env } = place
  const folder = mkdtempSync(join(tmpdir(), 'script-'))
  const [script, trace] = [join(folder, 'script'), join(folder, 'trace')]
  writeFileSync(script, scriptFor(lines, place))
  const strace = [
    'strace',
    ...'-f -qq --seccomp-bpf -e signal=none'.split(' '),
    '-e',
    `trace=${tracedCalls}`,
    '-o',
    trace,
  ]
  const [program = '', ...args] = [...(watch ? strace : []), ...shell, script]
  const child = spawn(program, args, { cwd: repo, env, stdio: ['pipe', 'pipe', 'ignore', 'pipe'], detached: true })
  return new Promise((resolve, reject) => {
    let [timedOut, tells, last, told] = [false, false, '', '']
    const end = (): void => {
      timedOut = true
      process.kill(-(child.pid ?? 0), 'SIGKILL')
    }
    let deadline = setTimeout(end, forMs)
    child.stdout?.on('data', (piece: Buffer) => {
      const text = last + piece.toString('latin1')
      tells ||= text.includes(canary)
      last = text.slice(-canary.length)
    })
    child.stdio[3]?.on('data', (piece: Buffer) => {
      told += piece.toString('latin1')
      clearTimeout(deadline)
      deadline = setTimeout(end, forMs)
    })
    child.on('error', reject)
    child.on('close', () => {
      clearTimeout(deadline)
      const read = watch ? readTrace(readFileSync(trace, 'utf8'), base) : null
      rmSync(folder, { recursive: true, force: true })
      const [one, ...ended] = endsIn(told)
      resolve({ timedOut, tells, trace: read, ended, startedByOne: one?.started ?? 0 })
    })
  })
}

/** The last number of a process is the fifth word of /proc/loadavg; where all are used up, they begin anew. */
function endsIn(told: string): readonly Ended[] {
  const ends = told
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split(' ').map(Number) as [number, number])
  return ends.slice(1).map(([status, last], index) => ({ status, started: last - (ends[index]?.[1] ?? last) }))
}

const tellEnd = `tell_end() { ended=$?; read -r _ _ _ _ last </proc/loadavg; printf '%s %s\\n' "$ended" "$last" >&3; }\n`
const ofOneProgram = 'sh -c :'

function scriptFor(lines: readonly string[], { shell, env }: Place): string {
  const isRobust = shell[0] === 'bash' && env.POSIXLY_CORRECT === undefined
  const run = (line: string): string => {
    const evaluated = `eval '${line.replaceAll("'", "'\\''")}'`
    // In a process of its own, so that it cannot end or move the shell; what is one command does not in bash.
    const call = isRobust && isOneCommand(line) ? evaluated : `( ${evaluated} )`
    return `${call} 3>&-${readsOtherwise.test(line) ? ' </dev/null' : ''}; tell_end\n`
  }
  return [tellEnd, 'tell_end\n', ...[ofOneProgram, ...lines].map(run)].join('')
}

/** Without anything that a shell would do beside it. */
export const isOneCommand = (line: string): boolean =>
  /^(?!cd )[a-z][\w-]* [^|&;<>()\n\\'"$`=]*$/.test(line.replace(/'[^']*'|"[^"\\]*"/g, 'q'))

/**
 * They have a stdin that never ends, so that what waits for it is seen; the client gives an empty one. rg, and grep with -r,
 * ask whether it is a pipe, and head and tail may read nothing.
 */
const readsOtherwise = /(?:^|[;&|\n]|do)\s*(?:rg|head|tail|\w*grep\b.*\s(?:['"]?-\w*[rRf]\w*|--recursive))\b/
