import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { putFile, readRegular } from '../../state/files.ts'
import { configFile, planPath, reviewPaths, sandboxDir } from '../../state/own-paths.ts'
import { unlessAbsent } from '../../system/errors.ts'
import { sha256 } from '../../system/sha256.ts'

const recordPath = `${sandboxDir}/approved`

/**
 * What the wrapper compares with `sha256sum` at each start: these bytes were an open gate. So an edit of the plan ends
 * the profile of an approved plan by itself, and parallel calls cannot take each other's permission.
 */
export function openApproved(root: string, gitDir: string): void {
  const lines = [planPath, reviewPaths.approval, configFile].map((path) => {
    const read = readRegular(root, path)
    return read.kind === 'read' ? `${sha256(read.bytes)}  ${path}\n` : ''
  })
  const record = lines.join('')
  const known = readRegular(gitDir, recordPath)
  if (known.kind !== 'read' || known.bytes.toString('utf8') !== record) putFile(gitDir, recordPath, record, 0o600)
}

/**
 * The gate is closed: commands that began under an approval, background ones too, end with it. The first process of a
 * sandbox is gone when every other one is, so nothing of them writes any more afterwards.
 */
export function closeApproved(gitDir: string): void {
  if (!existsSync(join(gitDir, recordPath))) return
  rmSync(join(gitDir, recordPath), { force: true })
  for (const giveUpAt = Date.now() + maxWaitMs; Date.now() < giveUpAt; ) {
    const left = approvedProcesses(gitDir)
    if (left.length === 0) return
    for (const pid of left) kill(pid)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)
  }
}

const maxWaitMs = 2_000

function approvedProcesses(gitDir: string): number[] {
  const [engine, wrapper] = ['bwrap', 'run'].map((name) => join(gitDir, sandboxDir, name))
  const pids = unlessAbsent(() => readdirSync('/proc'), []).filter((name) => /^\d+$/.test(name))
  return pids
    .filter((pid) => {
      const words = commandLineOf(pid)
      // A wrapper may just have compared the bytes.
      return words[0] === engine ? words[words.indexOf('PLAN_GATE_SANDBOX') + 1] === 'approved' : words[1] === wrapper
    })
    .map(Number)
}

function commandLineOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    // It has ended, or is somebody else's.
    return []
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
