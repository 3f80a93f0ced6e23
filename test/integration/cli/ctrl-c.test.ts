import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { cli } from '../../support/project.ts'
import { fakePrograms, runCli, startCli } from '../../support/run-cli.ts'
import { cleanEnvironment, git, temporaryFolder, temporaryRepo, write } from '../../support/temporary-repo.ts'

type Scene = { cwd: string; args: readonly string[]; programs?: string }
type Look = { said: string; scratch: string; told: boolean }

/** Beside the scratch folder, which must be empty in the end. */
const tell = 'touch "$TMPDIR/../told"'
/** With exec, because dash loses a signal during a fork. */
const slow = (name: string): string => fakePrograms(temporaryFolder(), { [name]: `${tell}; exec sleep 30` })

const bootstrap = ['bootstrap', '--name', 'x', '--reviewer', 'checklist', '--no-launch']
const settingUp = { 'plan-gate.yaml': 'worktree:\n  setup: ["echo setting up; exec sleep 30"]\n' }
const routes = (row: string): string =>
  `review:\n  routes:\n    - {backend: ${row}, when: [always], fail_mode: hard_fail}\n`

/** Each command that may run for a while, and when the signal is sent. */
const commands: { name: string; make: () => Scene; begun: (look: Look) => boolean }[] = [
  {
    name: 'demo, in the middle',
    make: () => ({ cwd: temporaryFolder(), args: ['demo'] }),
    begun: ({ said }) => said.includes('It tries the shell'),
  },
  {
    name: 'demo, as soon as it has created files',
    make: () => ({ cwd: temporaryFolder(), args: ['demo'] }),
    begun: ({ scratch }) => readdirSync(scratch).length > 0,
  },
  {
    name: 'bootstrap, at its prerequisites',
    make: () => ({ cwd: temporaryRepo(), args: bootstrap, programs: slow('claude') }),
    begun: ({ told }) => told,
  },
  {
    name: 'bootstrap, at its setup',
    make: () => ({ cwd: temporaryRepo('shop', settingUp), args: bootstrap }),
    begun: ({ said }) => said.includes('setting up\n'),
  },
  {
    name: 'install, at its self-test',
    make: () => ({ cwd: temporaryRepo(), args: ['install', '--reviewer', 'checklist'] }),
    begun: ({ said }) => said.includes('self-test'),
  },
  {
    name: 'doctor, at a program that hangs',
    make: () => ({ cwd: temporaryRepo(), args: ['doctor'], programs: slow('claude') }),
    begun: ({ told }) => told,
  },
  {
    name: 'review, while git computes the diff',
    make: () => {
      const cwd = temporaryRepo('shop', { '.gitattributes': '*.bin filter=slow\n', 'a.bin': '1\n' })
      git(cwd, 'config', 'filter.slow.clean', `${tell}; exec sleep 30`)
      write(cwd, { 'a.bin': '22\n', 'plan-gate.yaml': routes('checklist') })
      return { cwd, args: ['review', '--diff'] }
    },
    begun: ({ told }) => told,
  },
  {
    name: 'review, while the reviewer runs',
    make: () => {
      const files = {
        'plan-gate.yaml': `hounfour: {model_invoke: model-invoke}\n${routes('hounfour')}`,
        'a.md': '# A\n',
      }
      const args = ['review', '--type', 'prd', '--content', 'a.md']
      return { cwd: temporaryRepo('shop', files), args, programs: slow('model-invoke') }
    },
    begun: ({ told }) => told,
  },
  {
    name: 'explain --stdin, while it waits',
    make: () => ({ cwd: temporaryRepo(), args: ['explain', '--stdin'] }),
    begun: ({ said }) => said.includes('"allow"'),
  },
]

describe('Ctrl-C ends with 130, without an error message or leftovers', () => {
  it.each(commands)('$name', async ({ make, begun }) => {
    const { cwd, args, programs = '' } = make()
    const beside = temporaryFolder()
    const scratch = join(beside, 'scratch')
    mkdirSync(scratch)
    const env = cleanEnvironment()
    const run = spawn(process.execPath, [cli, ...args], {
      cwd,
      env: { ...env, PATH: `${programs}:${env.PATH}`, TMPDIR: scratch },
      detached: true,
    })
    let said = ''
    const hear = (piece: Buffer): void => {
      said += piece
    }
    for (const stream of [run.stdout, run.stderr]) stream.on('data', hear)
    run.stdin.write('{"command":"ls"}\n')
    const ended = once(run, 'exit') as Promise<[number | null]>
    while (run.exitCode === null && !begun({ said, scratch, told: existsSync(join(beside, 'told')) })) await sleep(5)
    process.kill(-Number(run.pid), 'SIGINT')
    const [code] = await ended
    expect(said).not.toMatch(/\n\s+at .*:\d+/)
    expect({ code, left: readdirSync(scratch), running: await leftOf(String(run.pid)) }).toEqual({
      code: 130,
      left: [],
      running: [],
    })
  })

  it.each([
    { name: 'doctor', program: 'claude', args: ['doctor'] },
    { name: 'git', program: 'git', args: ['status'] },
  ])('a child that ends first is not reported as a failure: $name', async ({ program, args }) => {
    const programs = fakePrograms(temporaryFolder(), {
      [program]: '(sleep 0.02; kill -INT $PPID) > /dev/null 2>&1 & kill -INT $$',
    })
    const { stdout, stderr } = await runCli(args, { cwd: temporaryRepo(), programs, exitCode: 130 })
    expect([stdout, stderr]).toEqual(['', ''])
  })

  it('SIGTERM without the process group ends children, too', async () => {
    const cwd = temporaryRepo('shop', { 'plan-gate.yaml': 'worktree:\n  setup: ["echo setting up; exec sleep 30"]\n' })
    const run = startCli(['bootstrap', '--name', 'x', '--reviewer', 'checklist', '--no-launch'], { cwd })
    await until(run.stderr, 'setting up\n')
    run.kill('SIGTERM')
    expect(await once(run, 'exit')).toEqual([143, null])
    expect(await leftOf(String(run.pid))).toEqual([])
  })

  it('an interrupted install can be repeated', async () => {
    const cwd = temporaryRepo()
    const run = startCli(['install', '--reviewer', 'checklist'], { cwd })
    await until(run.stderr, '… install')
    process.kill(-Number(run.pid), 'SIGINT')
    await once(run, 'exit')
    await runCli(['install', '--reviewer', 'checklist'], { cwd })
    await runCli(['uninstall'], { cwd })
    expect([git(cwd, 'status', '--porcelain', '-uall'), readdirSync(cwd)]).toEqual(['', ['.git', 'README.md']])
  })
})

const until = (stream: NodeJS.ReadableStream, words: string): Promise<void> =>
  new Promise((resolve) => {
    let said = ''
    stream.on('data', (piece) => {
      said += piece
      if (said.includes(words)) resolve()
    })
  })

/** The processes left in a group, once those that are ending have ended. */
async function leftOf(group: string): Promise<string[]> {
  let left = runningIn(group)
  for (let tries = 0; left.length > 0 && tries < 100; tries += 1) {
    await sleep(50)
    left = runningIn(group)
  }
  return left
}

/** Zombies do not count. */
function runningIn(group: string): string[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pgid=,stat=,args='], { encoding: 'utf8' }).split('\n')
  return rows.map((row) => row.trim()).filter((row) => row.startsWith(`${group} `) && !/^\d+ +Z/.test(row))
}
