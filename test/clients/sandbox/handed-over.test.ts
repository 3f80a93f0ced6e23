import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { describePlanted, takePlanted } from '../../../src/gate/sandbox/approved.ts'
import { readWorkingTree } from '../../../src/gate/working-tree.ts'
import { writeRepositoryBaseline } from '../../../src/state/records.ts'
import { readGitDirs } from '../../../src/system/git-dirs.ts'
import { readRepositorySetup } from '../../../src/system/repository-setup.ts'
import { runProgram } from '../../support/run-program.ts'
import { type SandboxedWorktree, sandboxedWorktree } from '../../support/sandboxed-worktree.ts'

/** Found by a tester who had not built it. */
let worktree: SandboxedWorktree
beforeEach(async () => {
  worktree = await sandboxedWorktree()
})
afterEach(() => worktree.remove())

const hasPython =
  (
    await runProgram('/bin/sh', ['-c', 'command -v python3'], {
      cwd: '/',
      env: { PATH: process.env.PATH ?? '' },
      timeoutMs: 5_000,
    })
  ).exitCode === 0

/** Waits for an open folder on a datagram socket, and goes on writing below it. */
const receiver = (name: string, seconds: number): string => `python3 -c '
import socket, os, time, array
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind("${name}")
fds = array.array("i"); m, a, f, p = s.recvmsg(1, socket.CMSG_SPACE(4)); fds.frombytes(a[0][2])
end = time.time() + ${seconds}
while time.time() < end:
  for path in (".claude/handed-over", "handed-over.txt"):
    try: os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=fds[0]))
    except OSError: pass
  time.sleep(0.02)'`
const sender = (name: string): string => `python3 -c '
import socket, os, array
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [os.open(".", os.O_DIRECTORY)]))], 0, "${name}")'`
const until = async (isTrue: () => boolean): Promise<void> => {
  for (const giveUpAt = Date.now() + 5_000; !isTrue() && Date.now() < giveUpAt; )
    await new Promise((resolve) => setTimeout(resolve, 20))
}

describe.skipIf(!hasPython)('an open folder that is handed to another command (skipped without python3)', () => {
  it('stays read-only where it was, after the command that opened it has ended', { timeout: 60_000 }, async () => {
    worktree.approve()
    const receives = worktree.run(receiver('meet.sock', 2))
    await until(() => existsSync(join(worktree.root, 'meet.sock')))
    expect(await worktree.run(sender('meet.sock'))).toMatchObject({ code: 0 })
    await receives
    expect(existsSync(join(worktree.root, 'handed-over.txt'))).toBe(true)
    expect(existsSync(join(worktree.root, '.claude/handed-over'))).toBe(false)
  })

  it('cannot be received before an approval, nor by what began before it', { timeout: 60_000 }, async () => {
    expect((await worktree.run(receiver('/tmp/meet.sock', 1))).output).toContain('Address family not supported')
    const rehearses = worktree.run(`: npm test ; ${receiver('/tmp/meet.sock', 5)}`)
    await new Promise((resolve) => setTimeout(resolve, 500))
    worktree.approve()
    expect((await rehearses).code).not.toBe(0)
    expect((await worktree.run(sender('/tmp/meet.sock'))).code).not.toBe(0)
    expect(existsSync(join(worktree.root, 'handed-over.txt'))).toBe(false)
  })
})

describe('what did not exist', () => {
  it('is moved away when it appears under an approval', async () => {
    worktree.approve()
    await worktree.run('echo "{}" > .mcp.json; echo "gate:" > plan-gate.yaml')
    const planted = takePlanted(worktree.gitDir)
    expect(planted).toEqual(['plan-gate.yaml', '.mcp.json'].map((name) => join(worktree.root, name)))
    expect(planted.some(existsSync)).toBe(false)
    expect(readdirSync(join(worktree.gitDir, 'plan-gate/planted'))).toHaveLength(2)
    expect(describePlanted(planted)).toContain('appeared while a plan was approved')
    expect(describePlanted(takePlanted(worktree.gitDir))).toBeNull()
  })

  it('is the user’s own when no plan is approved', () => {
    worktree.write('.mcp.json', '{}')
    expect(takePlanted(worktree.gitDir)).toEqual([])
    expect(existsSync(join(worktree.root, '.mcp.json'))).toBe(true)
  })
})

describe('the git of a hook', () => {
  it('runs what a nested repository names only in the sandbox', async () => {
    worktree.remove()
    worktree = await sandboxedWorktree({}, {})
    const witness = join(worktree.base, 'witness')
    await worktree.plainly(
      'git init -q nested && cd nested && git -c user.name=t -c user.email=t@localhost commit -q --allow-empty -m x',
    )
    await worktree.plainly('git add nested 2>/dev/null')
    writeFileSync(join(worktree.root, 'nested/.git/config'), `[core]\n\tfsmonitor = "touch ${witness}; false"\n`)
    mkdirSync(join(worktree.root, 'nested/more'))
    await worktree.plainly('git status --porcelain=v2 > /dev/null')
    expect(existsSync(witness)).toBe(true)
    await worktree.plainly(`rm ${witness}`)
    const gitDirs = readGitDirs(worktree.root)
    if (gitDirs === null) throw new Error('no git directory')
    expect(readWorkingTree(worktree.root, gitDirs)).toMatchObject({
      kind: 'failed',
      why: expect.stringContaining('core.fsmonitor'),
    })
    // What the user accepts.
    writeRepositoryBaseline(gitDirs.own, readRepositorySetup(worktree.root, gitDirs))
    expect(readWorkingTree(worktree.root, gitDirs).kind).toBe('read')
    expect(existsSync(witness)).toBe(false)
  })
})
