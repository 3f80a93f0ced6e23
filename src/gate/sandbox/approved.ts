import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { putFile, readRegular } from '../../state/files.ts'
import { configFile, gitDirFolder, planPath, reviewPaths, sandboxDir } from '../../state/own-paths.ts'
import { unlessAbsent } from '../../system/errors.ts'
import { sha256 } from '../../system/sha256.ts'

const recordPath = `${sandboxDir}/approved`

/** The bytes of an open gate, which the wrapper compares at each start: an edit of the plan ends the profile. */
export function openApproved(root: string, gitDir: string): void {
  const lines = [planPath, reviewPaths.approval, configFile].map((path) => {
    const read = readRegular(root, path)
    return read.kind === 'read' ? `${sha256(read.bytes)}  ${path}\n` : ''
  })
  const record = lines.join('')
  const known = readRegular(gitDir, recordPath)
  if (known.kind === 'read' && known.bytes.toString('utf8') === record) return
  putFile(gitDir, markPath, '', 0o600)
  putFile(gitDir, recordPath, record, 0o600)
  // What began before must not meet what may write: it could be handed an open folder.
  endSandboxes(gitDir, (profile) => profile !== 'approved')
}

/** Left until what commands of an approval may have planted is looked for once more after its end. */
const markPath = `${sandboxDir}/had-approval`

/** Commands that began under an approval end with it; a sandbox's first process is the last one to go. */
export function closeApproved(gitDir: string): void {
  if (!existsSync(join(gitDir, recordPath))) return
  rmSync(join(gitDir, recordPath), { force: true })
  endSandboxes(gitDir, (profile) => profile === 'approved')
}

/** Files that decide about the gate or git, where none was before the approval. Returns where they were moved from. */
export function takePlanted(gitDir: string): readonly string[] {
  if (!existsSync(join(gitDir, markPath))) return []
  const absent = readRegular(gitDir, `${sandboxDir}/absent`)
  const paths = absent.kind === 'read' ? absent.bytes.toString('utf8').split('\n') : []
  const planted = paths.filter((path) => path !== '' && lstatSync(path, { throwIfNoEntry: false }) !== undefined)
  // What goes on in the background would put it back.
  if (planted.length > 0) endSandboxes(gitDir, (profile) => profile === 'approved')
  const errors = planted.flatMap((path) => putAside(path, join(gitDir, gitDirFolder, 'planted')))
  if (errors.length > 0) throw errors[0]
  if (!existsSync(join(gitDir, recordPath))) rmSync(join(gitDir, markPath), { force: true })
  return planted
}

/** A pipe or an unreadable folder cannot be copied to another file system: it is removed, and so is all else. */
function putAside(path: string, folder: string): unknown[] {
  const to = join(folder, `${new Date().toISOString().replace(/[:.]/g, '-')}-${basename(path)}`)
  try {
    mkdirSync(folder, { recursive: true })
    renameSync(path, to)
  } catch {
    try {
      rmSync(path, { recursive: true, force: true })
    } catch (error) {
      return [error]
    }
  }
  return []
}

export const describePlanted = (planted: readonly string[]): string | null =>
  planted.length === 0
    ? null
    : `plan-gate: ${planted.join(', ')} appeared while a plan was approved, and a command may have written it. It was moved to the folder plan-gate/planted in the git directory, and does not count. Tell the user.`

const maxWaitMs = 2_000

function endSandboxes(gitDir: string, isMeant: (profile: string) => boolean): void {
  for (const giveUpAt = Date.now() + maxWaitMs; Date.now() < giveUpAt; ) {
    const left = sandboxProcesses(gitDir, isMeant)
    if (left.length === 0) return
    for (const pid of left) kill(pid)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)
  }
}

function sandboxProcesses(gitDir: string, isMeant: (profile: string) => boolean): number[] {
  const [engine, wrapper] = ['bwrap', 'run'].map((name) => join(gitDir, sandboxDir, name))
  const pids = unlessAbsent(() => readdirSync('/proc'), []).filter((name) => /^\d+$/.test(name))
  return pids
    .filter((pid) => {
      const words = commandLineOf(pid)
      // A wrapper may just have compared the bytes.
      if (words[0] !== engine) return words[1] === wrapper
      // A second one, inside, ends with the first.
      const named = words.indexOf('PLAN_GATE_SANDBOX')
      return named > 0 && isMeant(words[named + 1] ?? '')
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
