import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { planText } from '../../support/plan-texts.ts'
import { fails, openFail, pass, question, reflectWorktree, says, unsure } from './reflect-worktree.ts'

const [one, two] = ['console.log(1)\n', 'console.log(2)\n'] as const
const silent = { exitCode: 0, user: null, model: null, blocks: false, stdout: '', stderr: '' }

describe('a cached verdict', () => {
  it('PASS: clears what is open about the file, without a message and without a call', async () => {
    const { edit, state, api } = await reflectWorktree([pass, fails('it is wrong.')])
    await edit('src/app.ts', one)
    await edit('src/app.ts', two)
    expect(state().fails.fails).toHaveLength(1)
    expect(await edit('src/app.ts', one)).toEqual(silent)
    expect(state().fails.fails).toEqual([])
    expect(api.requests).toHaveLength(2)
  })

  it('FAIL: is reported again, and recorded again', async () => {
    const { edit, stop, state, api } = await reflectWorktree([fails('it is wrong.'), pass])
    await edit('src/app.ts', one)
    await edit('src/app.ts', two)
    expect(state().fails.fails).toEqual([])
    const again = await edit('src/app.ts', one)
    expect(again).toMatchObject({ exitCode: 0, blocks: false })
    expect(again.model).toMatch(
      /FAIL\. This verdict is cached; the same change was not sent again\.\n {2}- src\/app\.ts:1: it is wrong\./,
    )
    expect(again.user).toMatch(/the change to src\/app\.ts: FAIL\. - src\/app\.ts:1: it is wrong\./)
    expect(state().fails.fails).toMatchObject([{ key: 'file src/app.ts', verdict: 'FAIL' }])
    expect(await stop()).toMatchObject({ exitCode: 2, blocks: true, model: expect.stringContaining('it is wrong.') })
    expect(api.requests).toHaveLength(2)
  })

  it('UNCERTAIN: is recorded, because it is not sent again', async () => {
    const { edit, stop, state, api } = await reflectWorktree([unsure('who calls it?')])
    await edit('src/app.ts', one)
    expect(state().fails.fails).toEqual([])
    const again = await edit('src/app.ts', one)
    expect(again).toMatchObject({ exitCode: 0, blocks: false })
    expect(again.model).toMatch(/UNCERTAIN[\s\S]*This verdict is cached[\s\S]*who calls it\?/)
    expect(state().fails.fails).toMatchObject([{ key: 'file src/app.ts', verdict: 'UNCERTAIN' }])
    expect(await stop()).toMatchObject({ exitCode: 2, blocks: true })
    expect(api.requests).toHaveLength(1)
  })

  it('a fresh UNCERTAIN leaves what was', async () => {
    const { edit, state, putState } = await reflectWorktree([unsure('who calls it?')])
    for (const open of [[openFail('src/app.ts')], [openFail('src/app.ts', 'UNCERTAIN')], []]) {
      const session_id = `${open[0]?.verdict}`
      putState({ fails: { fails: open } }, session_id)
      const { model } = await edit('src/app.ts', one, { session_id })
      expect(model).toMatch(/UNCERTAIN \(it could not tell from what it was shown\)/)
      expect(state(session_id).fails.fails).toEqual(open)
    }
  })

  it('is stale after 300 s', async () => {
    const { edit, state, putState, api } = await reflectWorktree([pass])
    await edit('src/app.ts', one)
    const { memory, ...rest } = state()
    const aged = (seconds: number) =>
      putState({
        ...rest,
        memory: { entries: memory.entries.map((entry) => ({ ...entry, at: Date.now() - seconds * 1000 })) },
      })
    aged(270)
    await edit('src/app.ts', one)
    expect(api.requests).toHaveLength(1)
    aged(301)
    expect((await edit('src/app.ts', one)).user).toMatch(/PASS/)
    expect(api.requests).toHaveLength(2)
    // From the future, because the clock was set back.
    aged(-3600)
    await edit('src/app.ts', one)
    expect(api.requests).toHaveLength(3)
  })

  it('is one of at most a hundred', async () => {
    const { edit, state, putState, api } = await reflectWorktree([pass])
    const entries = Array.from({ length: 100 }, (_, n) => ({
      hash: `h${n}`,
      verdict: 'PASS',
      at: Date.now(),
      path: 'x',
      summary: '',
    }))
    putState({ memory: { entries } })
    await edit('src/app.ts', one)
    const kept = state().memory.entries
    expect([kept.length, kept[0]?.hash, kept.at(-1)?.path]).toEqual([100, 'h1', 'src/app.ts'])
    await edit('src/app.ts', one)
    expect(api.requests).toHaveLength(1)
  })

  it('is of this session, this file, this tool and this plan only', async () => {
    const { fire, at, write, approve, api } = await reflectWorktree([pass])
    const change = (file_path: string, session_id = 's1', tool_name = 'Write') => {
      const tool_input = { file_path: at(file_path), content: one }
      return fire({ hook_event_name: 'PostToolUse', tool_name, tool_input, session_id })
    }
    await change('src/app.ts')
    await change('src/app.ts')
    expect(api.requests).toHaveLength(1)
    await change('src/app.ts', 's2')
    await change('src/b.ts')
    await change('src/app.ts', 's1', 'MultiEdit')
    expect(api.requests).toHaveLength(4)
    write('docs/plan.md', planText('Change the line in another way.'))
    approve()
    await change('src/app.ts')
    expect(api.requests).toHaveLength(5)
    expect(question(api, 5)).toContain('Change the line in another way.')
  })
})

/** The verdict is read before a long answer is condensed, so that condensing cannot turn it. */
describe('a long answer', () => {
  const long = (verdict: string) => `${verdict}\n${'- src/app.ts:1: a long story about one thing.\n'.repeat(100)}`
  const rows = [
    { verdict: 'FAIL', condensed: 'PASS\n- All is well.', open: 1 },
    { verdict: 'PASS', condensed: 'FAIL\n- It is wrong.', open: 0 },
    { verdict: 'UNCERTAIN', condensed: 'Verdict: PASS', open: 1 },
    { verdict: 'FAIL', condensed: 'I cannot help with that.', open: 1 },
    { verdict: 'FAIL', condensed: '', open: 1 },
  ]
  it('keeps its verdict when it is condensed', async () => {
    const { edit, state, putState, events, api } = await reflectWorktree((_, n) => {
      const { verdict, condensed } = rows[(n - 1) >> 1] ?? { verdict: '', condensed: '' }
      return says(n % 2 === 1 ? long(verdict) : condensed)
    })
    for (const [n, { verdict, condensed, open }] of rows.entries()) {
      const session_id = `s${n}`
      putState({ fails: { fails: [openFail('src/app.ts')] } }, session_id)
      const told = await edit('src/app.ts', one, { session_id })
      expect(told.user).toContain(`the change to src/app.ts: ${verdict}`)
      const { fails: found, memory, spending } = state(session_id)
      const [entry] = memory.entries
      expect([n, found.fails.length, entry?.verdict, spending.calls]).toEqual([n, open, verdict, 2])
      expect(entry?.summary.length).toBeLessThanOrEqual(1500)
      // Where condensing yields no points, the answer itself is truncated.
      expect(entry?.summary).toContain(/^- .*/m.exec(condensed)?.[0] ?? '- src/app.ts:1: a long story about one thing.')
    }
    expect(api.requests).toHaveLength(2 * rows.length)
    expect(events().flatMap(({ type, verdict }) => (type === 'reflected' ? [verdict] : []))).toEqual(
      rows.map(({ verdict }) => verdict),
    )
  })
})

describe('the rules of what stays open', () => {
  it('a command that failed and now succeeds is cleared', async () => {
    const { fail, use, stop, state, api } = await reflectWorktree([fails('a test is broken.'), pass])
    await fail('npm test', 'Exit code 1\n1 failed')
    expect(state().fails.fails).toMatchObject([{ about: 'npm test', verdict: 'FAIL' }])
    expect((await stop()).model).toMatch(/npm test: FAIL/)
    expect(await use('Bash', { command: 'npm test -- --watch' })).toEqual(silent)
    expect(state().fails.fails).toHaveLength(1)
    const cleared = await use('Bash', { command: 'npm test' })
    expect(cleared.user).toMatch(/the failure of `npm test`: PASS; its open finding is cleared\./)
    expect(state().fails.fails).toEqual([])
    expect(await use('Bash', { command: 'npm test' })).toEqual(silent)
    expect(api.requests).toHaveLength(1)
  })

  it('a command that the user interrupted says nothing', async () => {
    const { fail, api } = await reflectWorktree([fails('x')])
    expect(await fail('npm test', 'The user stopped it.', { is_interrupt: true })).toEqual(silent)
    expect(api.requests).toHaveLength(0)
  })

  it('a file that was found wrong and is gone blocks nothing', async () => {
    const { edit, stop, state, at, git, api } = await reflectWorktree([fails('it is wrong.'), pass])
    await edit('src/gone.ts', one)
    expect((await stop()).blocks).toBe(true)
    git('clean', '-fq', at('src'))
    expect(await stop()).toMatchObject({ exitCode: 0, blocks: false })
    expect(state().fails.fails).toEqual([])
    expect(api.requests).toHaveLength(2)
  })

  it('each file has its own', async () => {
    const { edit, state, stop } = await reflectWorktree([fails('one is wrong.'), fails('two is wrong.'), pass], {
      files: { 'src/b.ts': '' },
    })
    await edit('src/app.ts', one)
    await edit('src/b.ts', one)
    await edit('src/app.ts', two)
    expect(state().fails.fails.map(({ about }) => about)).toEqual(['src/b.ts'])
    expect((await stop()).model).toMatch(/src\/b\.ts: FAIL\n {2}- src\/app\.ts:1: two is wrong\./)
  })

  it('a repeat does not change what is written down', async () => {
    const { edit, statePath, read } = await reflectWorktree([fails('one.'), fails('two.')])
    await edit('src/app.ts', one)
    await edit('src/b.ts', one)
    const path = statePath.slice(statePath.indexOf('.claude'))
    const before = read(path)
    // As another writer would leave it: a second write would take the spaces out.
    writeFileSync(statePath, ` ${before}`)
    await edit('src/app.ts', one)
    await edit('src/b.ts', one)
    expect(read(path)).toBe(` ${before}`)
  })
})
