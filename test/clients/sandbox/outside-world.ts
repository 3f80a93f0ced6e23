import { type ChildProcess, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { chmodSync, readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import type { SandboxedWorktree } from '../../support/sandboxed-worktree.ts'

/** What runs beside a sandbox and must not notice it. */
export type OutsideWorld = {
  env: NodeJS.ProcessEnv
  /** What has reached it since the last look, and which processes outlive their command. */
  disturbances: () => Promise<string[]>
  close: () => void
}

export async function startOutsideWorld(worktree: SandboxedWorktree): Promise<OutsideWorld> {
  const noticed: string[] = []
  const listen = (where: number | string, name: string): Promise<Server> =>
    new Promise((resolve) => {
      const server = createServer((socket) => {
        noticed.push(`a connection to ${name}`)
        socket.destroy()
      })
      server.listen(typeof where === 'number' ? { port: where, host: '127.0.0.1' } : where, () => resolve(server))
    })
  const socket = join(worktree.root, 'outside.sock')
  const abstractName = `plan-gate-test-${process.pid}`
  const tcp = await listen(0, 'a TCP port')
  const unix = await listen(socket, 'a socket in the worktree')
  const abstract = await listen(`\0${abstractName}`, 'an abstract socket')
  chmodSync(socket, 0o777)
  const { port } = tcp.address() as { port: number }
  const udp = createSocket('udp4', () => noticed.push('a datagram'))
  await new Promise<void>((resolve) => udp.bind(port, '127.0.0.1', resolve))
  const sleeper = spawnSleeper(worktree)
  return {
    env: {
      OUT: worktree.root,
      GIT: worktree.gitDir,
      PORT: String(port),
      SOCK: socket,
      PID: String(sleeper.pid),
      ABSTRACT: abstractName,
    },
    disturbances: async () => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      const survivors = await lastingSurvivors()
      if (sleeper.exitCode !== null || sleeper.signalCode !== null) noticed.push('the end of a process')
      return [...noticed.splice(0), ...survivors]
    },
    close: () => {
      for (const server of [tcp, unix, abstract, udp]) server.close()
      sleeper.kill('SIGKILL')
    },
  }
}

/** As the same user: nothing but the sandbox keeps a command from ending it. */
function spawnSleeper({ env, root }: SandboxedWorktree): ChildProcess {
  const user = process.getuid?.() === 0 ? { uid: 31_337, gid: 31_337 } : {}
  return spawn('sh', ['-c', 'exec sleep 600 # plan-gate-test-sleeper'], { cwd: root, env, stdio: 'ignore', ...user })
}

/** The kernel takes a moment to end what was in a sandbox. */
async function lastingSurvivors(): Promise<string[]> {
  for (const giveUpAt = Date.now() + 2_000; ; await new Promise((resolve) => setTimeout(resolve, 20))) {
    const found = processesWith('sleep\x0071.5')
    if (found.length === 0) return []
    if (Date.now() > giveUpAt) return found.map((pid) => `process ${pid} outlives its command`)
  }
}

const processesWith = (text: string): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text)
    } catch {
      return false
    }
  })
