import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../../src/config/load.ts'
import { chooseEffort, fitEffort, forecast, passesFrom } from '../../../src/review/complexity.ts'
import type { Effort } from '../../../src/schemas/review.ts'
import { formatForecast, openPassTimes } from '../../../src/state/pass-times.ts'
import { temporaryFolder } from '../../support/temporary-repo.ts'

describe('chooseEffort', () => {
  const choose = (yaml: string, type: 'plan' | 'code', large: boolean) => {
    const parsed = parseConfig(yaml)
    if (parsed.kind !== 'valid') throw new Error(JSON.stringify(parsed.problems))
    const config = parsed.config.review.effort
    return (['plan', 'review', 'verify'] as const).map((does) => chooseEffort({ does, type, large, config }))
  }

  it.each([
    { name: 'usual content', yaml: '', large: false, expected: ['high', 'high', 'high'] },
    { name: 'complex content', yaml: '', large: true, expected: ['xhigh', 'high', 'xhigh'] },
    {
      name: 'a pass that is set',
      yaml: 'review:\n  effort:\n    find: low\n',
      large: true,
      expected: ['xhigh', 'low', 'xhigh'],
    },
    {
      name: 'a type that is set, over the pass',
      yaml: 'review:\n  effort:\n    verify: low\n    plan:\n      verify: medium\n',
      large: true,
      expected: ['xhigh', 'high', 'medium'],
    },
    {
      name: 'another type that is set',
      yaml: 'review:\n  effort:\n    code:\n      verify: medium\n',
      large: true,
      expected: ['xhigh', 'high', 'xhigh'],
    },
  ] as const)('$name → $expected', ({ yaml, large, expected }) => {
    expect(choose(yaml, 'plan', large)).toEqual(expected)
  })
})

/** A git directory of a worktree in which plan-gate is installed. */
const installed = (): string => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'plan-gate'))
  return folder
}

const record = (folders: { worktree?: readonly [Effort, number][]; user?: readonly [Effort, number][] }) => {
  const [worktree, user] = [installed(), temporaryFolder()]
  const onlyUser = openPassTimes(null, user)
  for (const [effort, s] of folders.user ?? []) onlyUser.record('codex', effort, { ms: s * 1000, tokens: s * 100 })
  const onlyWorktree = openPassTimes(worktree, null)
  for (const [effort, s] of folders.worktree ?? []) onlyWorktree.record('codex', effort, { ms: s * 1000, tokens: null })
  return openPassTimes(worktree, user)
}
const of = (effort: Effort, ...seconds: number[]) => seconds.map((s): [Effort, number] => [effort, s])

describe('the times of earlier passes', () => {
  it.each([
    { name: 'three of the worktree', worktree: of('high', 100, 300, 200), expected: 200_000 },
    { name: 'two are too few', worktree: of('high', 100, 300), expected: null },
    { name: 'of another effort', worktree: of('xhigh', 100, 200, 300), expected: null },
    {
      name: 'those of the user where the worktree has too few',
      worktree: of('high', 10),
      user: of('high', 50, 60, 70),
      expected: 60_000,
    },
    {
      name: 'those of the worktree before those of the user',
      worktree: of('high', 10, 10, 10),
      user: of('high', 50, 60, 70),
      expected: 10_000,
    },
  ])('$name', ({ name: _, expected, ...folders }) => {
    expect(record(folders).expect('codex', 'high')?.ms ?? null).toBe(expected)
  })

  it('keep the newest, in both files', () => {
    const [worktree, user] = [installed(), join(temporaryFolder(), 'not', 'there')]
    const times = openPassTimes(worktree, user)
    for (let n = 0; n < 60; n++) times.record('codex', 'high', { ms: n, tokens: n })
    for (const path of [join(worktree, 'plan-gate/pass-times.json'), join(user, 'pass-times.json')])
      expect((JSON.parse(readFileSync(path, 'utf8')) as { 'codex high': unknown[] })['codex high']).toHaveLength(20)
    expect(times.expect('codex', 'high')).toEqual({ ms: 50, tokens: 50 })
  })

  it.each(['', '[]', '{"codex high": 5}', '{"codex high": [[-1, null], ["a"], null, [1e999, 2]]}'])(
    'a file that holds %j counts as empty, and is written anew',
    (text) => {
      const folder = temporaryFolder()
      writeFileSync(join(folder, 'pass-times.json'), text)
      const times = openPassTimes(null, folder)
      expect(times.expect('codex', 'high')).toBeNull()
      for (const ms of [1, 2, 3]) times.record('codex', 'high', { ms, tokens: null })
      expect(times.expect('codex', 'high')).toEqual({ ms: 2, tokens: null })
    },
  )

  it('leave nothing in a repository without plan-gate', () => {
    const [gitDir, user] = [temporaryFolder(), temporaryFolder()]
    openPassTimes(gitDir, user).record('codex', 'high', { ms: 1, tokens: null })
    expect([readdirSync(gitDir), readdirSync(user)]).toEqual([[], ['pass-times.json']])
  })

  it('never throw', () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'pass-times.json'))
    const times = openPassTimes(null, folder)
    times.record('codex', 'high', { ms: 1, tokens: null })
    expect(times.expect('codex', 'high')).toBeNull()
  })
})

describe('fitEffort', () => {
  const fitted = (effort: Effort, leftS: number, timeouts = 0) => {
    const times = record({ worktree: [...of('xhigh', 500, 500, 500), ...of('high', 300, 300, 300)] })
    return fitEffort({ effort, backend: 'codex', limitMs: leftS * 1000, timeouts, times })
  }

  it.each([
    { name: 'it fits', effort: 'xhigh', leftS: 501, expected: 'xhigh' },
    { name: 'it takes all that is left', effort: 'xhigh', leftS: 500, expected: 'high' },
    { name: 'the next does not fit either', effort: 'xhigh', leftS: 300, expected: 'medium' },
    { name: 'two passes have timed out', effort: 'xhigh', leftS: 900, timeouts: 2, expected: 'medium' },
    { name: 'nothing is known of it', effort: 'medium', leftS: 5, expected: 'medium' },
  ])('$name → $expected', ({ effort, leftS, timeouts, expected }) => {
    expect(fitted(effort as Effort, leftS, timeouts).effort).toBe(expected)
  })

  it('says so', () => {
    expect([fitted('xhigh', 600).notice, fitted('xhigh', 400).notice, fitted('high', 600, 1).notice]).toEqual([
      null,
      'Reasoning effort high instead of xhigh: such passes have taken 500 s, and 400 s are left.',
      'Reasoning effort medium instead of high: a pass before it was not answered in time.',
    ])
  })

  it('has nothing below the least', () => {
    expect(fitted('low', 600, 3)).toEqual({ effort: 'low', notice: null })
  })
})

describe('a forecast', () => {
  it.each([
    [{ ms: 175_000, tokens: 30_400 }, 'about 3 min, 30k tokens'],
    [{ ms: 42_000, tokens: 900 }, 'about 42 s, 900 tokens'],
    [{ ms: 0, tokens: null }, 'about 1 s'],
  ])('%j → %s', (expected, text) => {
    expect(formatForecast(expected)).toBe(text)
  })

  it('adds up the passes, where all of them are known', () => {
    const times = record({ user: [...of('xhigh', 90, 90, 90), ...of('high', 30, 30, 30)] })
    expect(forecast(['xhigh', 'high', 'xhigh'], 'codex', times)).toEqual({ ms: 210_000, tokens: 21_000 })
    expect(forecast(['xhigh', 'low'], 'codex', times)).toBeNull()
    expect(forecast([], 'codex', times)).toBeNull()
  })

  it.each([
    ['plan', 1, 3, ['plan', 'review', 'verify']],
    ['review', 2, 3, ['review', 'verify']],
    ['review', 1, 2, ['review', 'verify']],
    ['verify', 2, 2, ['verify']],
    ['combined', 1, 1, ['combined']],
  ] as const)('is of the passes that are left: %s, %i of %i', (does, pass, passes, expected) => {
    expect(passesFrom(does, pass, passes)).toEqual(expected)
  })
})
