import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { closeGate } from '../../../src/gate/closed-mark.ts'
import type { RoutesOutput } from '../../../src/schemas/output.ts'
import type { Status } from '../../../src/schemas/status.ts'
import { runCli } from '../../support/run-cli.ts'
import { commit, type Files, temporaryRepo, write } from '../../support/temporary-repo.ts'
import { offline } from '../bootstrap/worktree/bootstrap-in.ts'

const asked = async <T>(cwd: string, command: string): Promise<T> =>
  JSON.parse((await runCli([command, '--json'], { cwd })).stdout) as T

describe('plan-gate status shows the route table and the deadline of a review', () => {
  it.each<[string, Files, string[], number]>([
    ['by default', {}, [], 1500],
    [
      'of the configuration',
      { 'plan-gate.yaml': 'plan:\n  deadline_seconds: 120\nreview:\n  execution_mode: curl\n' },
      [],
      120,
    ],
    [
      'of the install',
      { 'plan-gate.yaml': 'plan:\n  deadline_seconds: 61\n' },
      ['install', '--reviewer', 'checklist'],
      61,
    ],
  ])('%s', async (_, files, install, seconds) => {
    const cwd = temporaryRepo('shop', { 'README.md': '', ...files })
    if (install.length > 0) await runCli(install, { cwd })
    const { routes_hash, deadline_seconds } = await asked<Status>(cwd, 'status')
    expect([routes_hash, deadline_seconds]).toEqual([(await asked<RoutesOutput>(cwd, 'routes')).sha256, seconds])
    if (install.length === 0) return
    const { stdout } = await runCli(['status', '--verbose'], { cwd })
    expect(stdout).toContain(`\ndeadline  ${seconds} s per review of a plan\n`)
    expect((await runCli(['status'], { cwd })).stdout).not.toMatch(/^(deadline|routes|thread|sessions) /m)
    expect(stdout).toContain(`\nroutes    sha256 ${routes_hash}\n`)
  })

  it('and shows if there is none', async () => {
    const cwd = temporaryRepo()
    await runCli(['install', '--reviewer', 'checklist'], { cwd })
    write(cwd, { 'plan-gate.yaml': 'review:\n  routes: [{backend: "\u001b[31m", when: [always]}]\n' })
    expect((await asked<Status>(cwd, 'status')).routes_hash).toBe(null)
    const { stdout } = await runCli(['status', '--verbose'], { cwd })
    expect(stdout).toContain('\nroutes    not valid (plan-gate routes)\n')
    expect(stdout).not.toContain('\u001b')
  })
})

it('plan-gate status says that there is a new commit, and knows it from a file of that name', async () => {
  const cwd = temporaryRepo()
  await runCli([...offline, '--name', 'x'], { cwd })
  const worktree = `${cwd}-x`
  const next = async (): Promise<string> => (await asked<Status>(worktree, 'status')).next_step.text
  commit(worktree, { 'by-hand.js': '' })
  expect(await next()).toMatch(/^Changed without an approved plan: a new commit\. Revert that, or accept it: /)
  await runCli(['drift', 'accept'], { cwd: worktree })
  write(worktree, { HEAD: '' })
  expect(await next()).toMatch(/^Changed without an approved plan: HEAD\. /)
})

it('plan-gate status names the sessions in which the gate stays closed', async () => {
  const cwd = temporaryRepo()
  await runCli(['install', '--reviewer', 'checklist'], { cwd })
  closeGate(join(cwd, '.git'), 's1', 'a module skips plan-gate')
  expect((await asked<Status>(cwd, 'status')).closed).toEqual([{ session: 's1', why: 'a module skips plan-gate' }])
  expect((await runCli(['status', '--verbose'], { cwd })).stdout).toContain(
    '\nclosed    in session s1: a module skips plan-gate\n',
  )
})
