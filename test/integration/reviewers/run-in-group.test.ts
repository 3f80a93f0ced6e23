import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type GroupOptions, runInGroup } from '../../../src/reviewers/process.ts'
import { project } from '../../support/project.ts'
import { temporaryFolder } from '../../support/temporary-repo.ts'

const never = new AbortController().signal
const run = (script: string, more: Partial<GroupOptions> = {}) =>
  runInGroup('sh', ['-c', script], {
    cwd: '/',
    env: process.env,
    input: '',
    timeoutMs: 20_000,
    silenceMs: null,
    signal: never,
    maxOutputBytes: 1_000,
    ...more,
  })

/** A number that no other process is likely to sleep for, so that it can be found by it. */
const sleeper = (): string => `sleep ${1_000 + Math.random()}`
const isRunning = async (command: string): Promise<boolean> => {
  const ps = spawn('sh', ['-c', `ps -A -ww -o stat=,args= | grep -F '${command}' | grep -v -e grep -e '^Z'`])
  const [code] = await once(ps, 'exit')
  return code === 0
}

describe('runInGroup', () => {
  it.each([
    {
      name: 'gives back what it says, and its exit code',
      script: 'cat; echo oh >&2; exit 3',
      more: { input: 'a\nb' },
      expected: { kind: 'ended', exitCode: 3, stdout: 'a\nb', stderr: 'oh\n', truncated: false },
    },
    {
      name: 'survives a program that does not read its stdin',
      script: 'exit 0',
      more: { input: 'x'.repeat(3_000_000) },
      expected: { kind: 'ended', exitCode: 0, stdout: '', stderr: '', truncated: false },
    },
    {
      name: 'keeps the beginning of what is too much',
      script: 'head -c 5000000 /dev/zero | tr "\\0" x',
      more: {},
      expected: { kind: 'ended', exitCode: 0, stdout: 'x'.repeat(1_000), stderr: '', truncated: true },
    },
    {
      name: 'names the signal that was not ours',
      script: 'kill -KILL $$',
      more: {},
      expected: { kind: 'killed-by', signal: 'SIGKILL', stdout: '', stderr: '', truncated: false },
    },
  ])('$name', async ({ script, more, expected }) => {
    expect(await run(script, more)).toEqual(expected)
  })

  it('distinguishes a missing program from a missing folder', async () => {
    const options = {
      cwd: '/',
      env: {},
      input: '',
      timeoutMs: 1_000,
      silenceMs: null,
      signal: never,
      maxOutputBytes: 1,
    }
    expect([
      await runInGroup('/nowhere/program', [], options),
      await runInGroup('/bin/sh', [], { ...options, cwd: '/nowhere' }),
      await runInGroup('/bin/sh', ['a\0b'], options),
    ]).toEqual([
      { kind: 'not-found' },
      { kind: 'not-started', why: 'the folder /nowhere does not exist' },
      { kind: 'not-started', why: expect.stringContaining('null bytes') },
    ])
  })

  it('hands over whole lines, however they were cut on the way, and the first part of one that is too long', async () => {
    const lines: string[] = []
    await run(`printf 'on'; sleep 0.1; printf 'e\\r\\n\\ntwo é'; printf 'x%.0s' $(seq 2000); echo; printf last`, {
      onLine: (line, stream) => {
        lines.push(`${stream}: ${line.slice(0, 10)} ${line.length}`)
        return undefined
      },
    })
    expect(lines).toEqual(['stdout: one 3', 'stdout:  0', 'stdout: two éxxxxx 1000', 'stdout: last 4'])
  })

  it.concurrent.each([
    { kind: 'timed-out', more: { timeoutMs: 400 } },
    { kind: 'silent', more: { silenceMs: 400 } },
    { kind: 'stopped', more: { onLine: (): 'end' => 'end' } },
  ] as const)('$kind: nothing of it is left, not even what does not listen', async ({ kind, more }) => {
    const [child, deaf] = [sleeper(), sleeper()]
    const outcome = await run(`${child} & (trap '' TERM; ${deaf}; ${deaf}) & echo started; wait`, more)
    expect(outcome).toMatchObject({ kind, stdout: 'started\n' })
    expect([await isRunning(child), await isRunning(deaf)]).toEqual([false, false])
  })

  it('ends what it left behind when the program itself has ended', async () => {
    const child = sleeper()
    expect(await run(`echo done; ${child} &`)).toMatchObject({ kind: 'ended', exitCode: 0, stdout: 'done\n' })
    expect(await isRunning(child)).toBe(false)
  })

  it('is cancelled before it begins, or in the middle', async () => {
    const child = sleeper()
    const stop = new AbortController()
    const running = run(`echo started; ${child}`, {
      signal: stop.signal,
      onLine: () => {
        stop.abort()
        return undefined
      },
    })
    expect([(await running).kind, await isRunning(child)]).toEqual(['cancelled', false])
    expect((await run('echo started', { signal: stop.signal })).kind).toBe('cancelled')
  })

  it.concurrent.each([
    { ending: 'SIGTERM' },
    { ending: 'SIGINT' },
    { ending: 'SIGHUP' },
    { ending: 'exit' },
    { ending: 'throw' },
  ] as const)('leaves no orphan when plan-gate itself ends by $ending', async ({ ending }) => {
    const child = sleeper()
    const host = spawn(process.execPath, ['--import', 'tsx', '-e', hostScript(child, ending)], {
      cwd: project,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const exited = once(host, 'exit')
    await once(host.stdout, 'data')
    if (ending.startsWith('SIG')) host.kill(ending as NodeJS.Signals)
    const [code, signal] = await exited
    expect(ending.startsWith('SIG') ? signal : code).toBe(ending === 'exit' ? 3 : ending === 'throw' ? 1 : ending)
    for (let tries = 0; tries < 50 && (await isRunning(child)); tries++) await wait(20)
    expect(await isRunning(child)).toBe(false)
  })

  it('lets others decide who listen for the signal too', async () => {
    const folder = temporaryFolder()
    const host = spawn(process.execPath, ['--import', 'tsx', '-e', listeningHost(folder)], {
      cwd: project,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const exited = once(host, 'exit')
    let said = ''
    host.stdout.on('data', (piece: Buffer) => {
      said += piece.toString()
      if (said === 'ready\n') host.kill('SIGTERM')
    })
    expect([await exited, said]).toEqual([[0, null], 'ready\ncancelled\n'])
  })
})

const source = JSON.stringify(join(project, 'src/reviewers/process.ts'))

const hostScript = (child: string, ending: string): string => `
  import(${source}).then(({ runInGroup }) => runInGroup('sh', ['-c', 'echo ready; ${child}'], {
    cwd: '/', env: process.env, input: '', timeoutMs: 60000, silenceMs: null,
    signal: new AbortController().signal, maxOutputBytes: 100,
    onLine: () => {
      console.log('ready')
      if ('${ending}' === 'exit') setTimeout(() => process.exit(3), 50)
      if ('${ending}' === 'throw') setTimeout(() => { throw new Error('oh') }, 50)
    },
  }))`

const listeningHost = (cwd: string): string => `
  const stop = new AbortController()
  process.on('SIGTERM', () => stop.abort())
  import(${source}).then(({ runInGroup }) => runInGroup('sh', ['-c', 'echo ready; sleep 60'], {
    cwd: ${JSON.stringify(cwd)}, env: process.env, input: '', timeoutMs: 60000, silenceMs: null,
    signal: stop.signal, maxOutputBytes: 100, onLine: () => { console.log('ready') },
  })).then(({ kind }) => { console.log(kind) })`
