import { expect, it } from 'vitest'
import { appendEvent } from '../../../src/state/ledger.ts'
import { appendDenial } from '../../../src/state/sessions.ts'
import { packageVersion } from '../../../src/system/package.ts'
import { runCli } from '../../support/run-cli.ts'
import { temporaryRepo } from '../../support/temporary-repo.ts'

it('plan-gate log says in words what happened, with the denials of every session, newest last; --json is raw', async () => {
  const cwd = temporaryRepo()
  await runCli(['install', '--reviewer', 'checklist'], { cwd })
  const deny = (session: string, minute: number, target: string, rule: string) => {
    const reason = 'plan-gate: this is not allowed yet.\nNow: `plan-gate status` says more.'
    appendDenial(cwd, session, { tool: 'Bash', target, rule, reason }, Date.now() + minute * 60_000)
  }
  deny('first', -60, 'rm -rf \u001b[31msrc', 'command')
  deny('second', 60, 'touch x', 'sandbox')
  deny('first', 30, 'mv a b', 'command')
  await appendEvent(cwd, {
    type: 'reviewed',
    revision: 1,
    plan_hash: 'h',
    verdict: 'APPROVED',
    backend: 'codex',
    findings: 0,
  })
  const lines = async (...args: string[]): Promise<string[]> =>
    (await runCli(['log', ...args], { cwd })).stdout.trimEnd().split('\n')
  const words = (await lines()).map((line) => line.replace(/^\d{4}-\d\d-\d\d \d\d:\d\d {2}/, ''))
  expect(words).toEqual([
    expect.stringMatching(/^denied {6}Bash rm -rf .{1,8}\[31msrc: this is not allowed yet\.$/),
    `installed   plan-gate ${packageVersion()}`,
    'verdict     v1 APPROVED by codex, 0 findings',
    'denied      Bash mv a b: this is not allowed yet.',
    'sandbox     Bash touch x: this is not allowed yet.',
  ])
  expect(words.join()).not.toContain('\u001b')
  const raw = (await lines('--json')).map(
    (line) => JSON.parse(line) as { type: string; session?: string; prev?: string },
  )
  expect(raw.map(({ type, session }) => [type, session])).toEqual([
    ['denial', 'first'],
    ['installed', undefined],
    ['reviewed', undefined],
    ['denial', 'first'],
    ['denial', 'second'],
  ])
  expect(raw.filter(({ prev }) => prev !== undefined)).toHaveLength(2)
  expect((await lines('-n', '2')).map((line) => /Bash (\w+)/.exec(line)?.[1])).toEqual(['mv', 'touch'])
  expect((await lines('-n', '4'))[0]).toContain('installed')
})
