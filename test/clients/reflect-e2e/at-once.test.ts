import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { verifyLedger } from '../../../src/state/ledger.ts'
import type { Turn } from '../../support/servers/responses-api.ts'
import { type ResponsesRequest, saidBy } from '../../support/servers/responses-record.ts'
import { codexProcesses } from '../plan-review-e2e/codex-processes.ts'
import {
  fails,
  type HookResult,
  openFail,
  pass,
  type ReflectWorktree,
  reflectWorktree,
  says,
} from './reflect-worktree.ts'

/** Twenty times node and Codex, on any machine. */
const patient = { timeout: 180_000 }

const twenty = Array.from({ length: 20 }, (_, n) => n)
const file = (n: number): string => `src/f${n}.ts`
const content = (n: number): string => `export const value = 'number-${n}.'\n`
const all = Object.fromEntries(twenty.map((n) => [file(n), '']))

/** Which of the files a question is about. */
const numberIn = (request: ResponsesRequest): number =>
  Number(/number-(\d+)\./.exec(saidBy(request, 'user').join())?.[1] ?? -1)

const editAll = ({ edit }: ReflectWorktree, which: readonly number[] = twenty): Promise<HookResult[]> =>
  Promise.all(which.map((n) => edit(file(n), content(n))))

const about = (entries: readonly { readonly about?: string; readonly path?: string }[]): string[] =>
  entries.map((entry) => entry.about ?? entry.path ?? '').sort()

/** The names beside the state of the session. */
const left = ({ statePath }: ReflectWorktree): string[] =>
  readdirSync(dirname(statePath)).filter((name) => name !== 'session.json')

const expectLedgerIntact = ({ root }: ReflectWorktree): void =>
  expect(verifyLedger(root)).toMatchObject({ kind: 'intact', tornBytes: 0 })

describe('twenty hooks of one session at once', () => {
  it('that all find something lose none of it', patient, async () => {
    const worktree = await reflectWorktree((request) => fails(`finding-${numberIn(request)}.`), { files: all })
    const results = await editAll(worktree)
    for (const [n, { exitCode, model }] of results.entries()) {
      expect(exitCode).toBe(0)
      expect(model).toContain(`finding-${n}.`)
    }
    const { fails: found, memory, spending } = worktree.state()
    expect([about(found.fails), about(memory.entries)]).toEqual([twenty.map(file).sort(), twenty.map(file).sort()])
    expect(found.fails.every(({ about, summary }) => summary.includes(`finding-${/\d+/.exec(about)}.`))).toBe(true)
    expect(spending).toMatchObject({ calls: 20, tokens: 20 * 120 })
    expect(worktree.api.requests).toHaveLength(20)
    // Nothing of it has to be asked again.
    await editAll(worktree, [3, 7, 19])
    expect(worktree.api.requests).toHaveLength(20)
    expect(left(worktree)).toEqual(['reflect.json'])
    expect(worktree.events().filter(({ type }) => type === 'reflected')).toHaveLength(20)
    expectLedgerIntact(worktree)
  })

  it('of which some find nothing leave what the others found', patient, async () => {
    const isWrong = (n: number): boolean => n % 3 === 0
    const worktree = await reflectWorktree((request) => (isWrong(numberIn(request)) ? fails('it is wrong.') : pass), {
      files: all,
    })
    worktree.putState({ fails: { fails: twenty.filter((n) => n % 2 === 0).map((n) => openFail(file(n))) } })
    await editAll(worktree)
    const { fails: found, memory } = worktree.state()
    expect(about(found.fails)).toEqual(twenty.filter(isWrong).map(file).sort())
    expect(memory.entries.filter(({ verdict }) => verdict === 'PASS')).toHaveLength(twenty.length - found.fails.length)
    expect(memory.entries).toHaveLength(20)
  })

  it('that see the very same change count each call, and keep one entry', patient, async () => {
    const worktree = await reflectWorktree([fails('it is wrong.')], { files: all })
    const results = await Promise.all(twenty.map(() => worktree.edit(file(1), content(1))))
    expect(results.every(({ exitCode, model }) => exitCode === 0 && model?.includes('it is wrong.'))).toBe(true)
    const { fails: found, memory, spending } = worktree.state()
    expect([about(found.fails), about(memory.entries)]).toEqual([[file(1)], [file(1)]])
    const asked = worktree.api.requests.length
    expect(spending).toMatchObject({ calls: asked, tokens: asked * 120 })
  })

  it('make no more calls than they may, those for condensing included', patient, async () => {
    const long: Turn = says(`FAIL\n${'- src/app.ts:1: a long story about one thing.\n'.repeat(100)}`)
    const worktree = await reflectWorktree(() => long, { config: 'reflect:\n  max_calls: 7\n', files: all })
    const results = await editAll(worktree)
    expect(worktree.api.requests).toHaveLength(7)
    expect(worktree.state().spending.calls).toBe(7)
    const lines = results.flatMap(({ user }) => (user?.includes('nothing more is reviewed') ? [user] : []))
    expect(lines).toHaveLength(1)
  })
})

/** Run inside the hook: it dies when it is about to put the n-th version of the state in its place, under the lock. */
const dyingAt = ({ home }: ReflectWorktree, n: number): { NODE_OPTIONS: string } => {
  const path = join(home, `dying-${n}.cjs`)
  writeFileSync(
    path,
    `const fs = require('node:fs')
let left = ${n}
const rename = fs.renameSync
fs.renameSync = (from, to) => {
  if (String(to).endsWith('reflect.json') && --left === 0) process.kill(process.pid, 'SIGKILL')
  return rename(from, to)
}
require('node:module').syncBuiltinESMExports()
`,
  )
  return { NODE_OPTIONS: `--require ${path}` }
}

describe('a hook that is killed while it holds the lock', () => {
  it.each([
    { name: 'before it asks', n: 1, calls: 0 },
    { name: 'after it was answered', n: 2, calls: 1 },
  ])('$name leaves the state whole, and the next one works', patient, async ({ n, calls }) => {
    const worktree = await reflectWorktree([fails('it is wrong.')], { files: all })
    worktree.putState({ fails: { fails: [openFail('src/app.ts')] } })
    const killed = await worktree.edit(file(0), content(0), {}, dyingAt(worktree, n))
    expect(killed).toMatchObject({ exitCode: null, stdout: '' })
    expect(left(worktree)).toContain('reflect.lock')
    expect(worktree.state()).toMatchObject({ fails: { fails: [{ about: 'src/app.ts' }] }, spending: { calls } })
    const since = performance.now()
    expect((await worktree.edit(file(1), content(1))).model).toMatch(/it is wrong\./)
    // A lock is dead after 4 s; much more than that would be the 20 s after which a hook goes on without.
    expect(performance.now() - since).toBeLessThan(15_000)
    expect(about(worktree.state().fails.fails)).toEqual(['src/app.ts', file(1)])
    expectLedgerIntact(worktree)
    expect(codexProcesses(worktree)).toEqual([])
    // What it was writing goes as well, once nobody can be at it any more.
    const [half = ''] = left(worktree)
    expect(half).toMatch(/^\.reflect\.json\..*\.tmp$/)
    utimesSync(join(dirname(worktree.statePath), half), 1, 1)
    await worktree.edit(file(2), content(2))
    expect(left(worktree)).toEqual(['reflect.json'])
  })

  it('in the midst of nineteen others costs them nothing', patient, async () => {
    const worktree = await reflectWorktree((request) => fails(`finding-${numberIn(request)}.`), { files: all })
    const others = twenty.slice(1)
    const [killed, ...results] = await Promise.all([
      worktree.edit(file(0), content(0), {}, dyingAt(worktree, 2)),
      ...others.map((n) => worktree.edit(file(n), content(n))),
    ])
    expect(killed).toMatchObject({ exitCode: null, stdout: '' })
    expect(results.every(({ exitCode, model }) => exitCode === 0 && model?.includes('finding-'))).toBe(true)
    const { fails: found, memory, spending } = worktree.state()
    expect([about(found.fails), about(memory.entries)]).toEqual([others.map(file).sort(), others.map(file).sort()])
    expect(spending.calls).toBe(20)
    expectLedgerIntact(worktree)
  })
})
