import { describe, expect, it } from 'vitest'
import { fails, pass, question, reflectWorktree, refuses, says, writeTranscript } from './reflect-worktree.ts'

const silent = { exitCode: 0, user: null, model: null, blocks: false, stdout: '', stderr: '' }
const limited = refuses(429, { type: 'rate_limit_exceeded', message: 'Rate limit reached' })

describe('the limit of a session', () => {
  it.each([
    {
      name: 'on calls',
      config: 'reflect:\n  max_calls: 2\n',
      line: 'plan-gate: nothing more is reviewed: this session has made the 2 calls that it may make (reflect.max_calls in plan-gate.yaml).',
    },
    {
      name: 'on tokens',
      config: 'reflect:\n  max_tokens: 200\n',
      line: 'plan-gate: nothing more is reviewed: this session has used 240 tokens, and 200 tokens are the limit (reflect.max_tokens in plan-gate.yaml).',
    },
  ])('$name is reported once, and blocks nothing', async ({ config, line }) => {
    const worktree = await reflectWorktree([pass], { config })
    const { edit, fail, stop, compact, state, putState, api } = worktree
    writeTranscript(worktree, 'I did it.')
    await edit('src/app.ts', 'one\n')
    await edit('src/app.ts', 'two\n')
    expect(state().spending).toMatchObject({ calls: 2, tokens: 240 })
    expect(await compact()).toEqual(silent)
    expect(await edit('src/app.ts', 'three\n')).toMatchObject({ ...silent, user: line, stdout: expect.any(String) })
    expect(await edit('src/app.ts', 'four\n')).toEqual(silent)
    expect(await fail('npm test', 'Exit code 1')).toEqual(silent)
    // A cached verdict is still reported.
    expect(await edit('src/app.ts', 'two\n')).toEqual(silent)
    const stopped = await stop()
    expect(stopped).toMatchObject({ exitCode: 0, blocks: false })
    expect(stopped.user).toMatch(/Claude stops without a final review of its work: this session has/)
    expect(api.requests).toHaveLength(2)
    expect(state().spending.calls).toBe(2)
    // Another session has its own.
    putState({}, 's2')
    expect(await stop({ session_id: 's2' })).toMatchObject({
      exitCode: 0,
      user: expect.not.stringContaining('without'),
    })
    expect(api.requests).toHaveLength(3)
  })

  it('of no calls at all asks nobody', async () => {
    const { edit, stop, api } = await reflectWorktree([pass], { config: 'reflect:\n  max_calls: 0\n' })
    expect((await edit('src/app.ts', 'one\n')).user).toMatch(/nothing more is reviewed/)
    expect((await stop()).exitCode).toBe(0)
    expect(api.requests).toHaveLength(0)
  })

  it('leaves long answers truncated and long content without a summary, rather than one call more', async () => {
    const config = 'reflect:\n  max_calls: 1\n'
    const { edit, state, api } = await reflectWorktree([says(`FAIL\n${'- a long story.\n'.repeat(300)}`)], { config })
    const told = await edit('src/app.ts', 'x\n'.repeat(210_000))
    expect(told.model).toMatch(/FAIL[\s\S]*a long story/)
    expect(api.requests).toHaveLength(1)
    expect(question(api, 1)).toMatch(/\[… [\d,]+ characters are left out here …\]/)
    expect(state().spending.calls).toBe(1)
  })
})

describe('a rate limit', () => {
  it('is followed by a backoff, which is reported once', async () => {
    const worktree = await reflectWorktree([limited, pass])
    const { edit, fail, compact, stop, state, putState, api, events } = worktree
    writeTranscript(worktree, 'I did it.')
    expect((await edit('src/app.ts', 'one\n')).user).toMatch(/was not reviewed: .*fewer requests/)
    const { quietUntil, refusals } = state().spending
    expect([quietUntil > Date.now(), quietUntil <= Date.now() + 60_000, refusals]).toEqual([true, true, 1])
    expect((await edit('src/app.ts', 'two\n')).user).toMatch(
      /^plan-gate: nothing more is reviewed: the service takes no more requests for now; it is asked again in \d+ seconds\.$/,
    )
    expect(await edit('src/app.ts', 'three\n')).toEqual(silent)
    expect(await fail('npm test', 'Exit code 1')).toEqual(silent)
    expect(await compact()).toEqual(silent)
    // It is a reviewer that could not answer, so the stop is held, once.
    const held = await stop()
    expect(held).toMatchObject({ exitCode: 2, blocks: true })
    expect(held.model).toMatch(/failed: the service takes no more requests for now/)
    expect(await stop({ stop_hook_active: true })).toEqual(silent)
    expect(api.requests).toHaveLength(1)
    expect(events().filter(({ type }) => type === 'reflection-unavailable')).toHaveLength(1)

    putState({ ...state(), spending: { ...state().spending, quietUntil: Date.now() - 1 } })
    expect((await edit('src/app.ts', 'three\n')).user).toMatch(/PASS/)
    expect(state().spending).toMatchObject({ quietUntil: 0, refusals: 0 })
  })

  it('is followed by a longer backoff each time', async () => {
    const { edit, state, putState } = await reflectWorktree([limited])
    const pauses: number[] = []
    for (const content of ['one\n', 'two\n', 'three\n']) {
      const since = Date.now()
      await edit('src/app.ts', content)
      pauses.push(Math.round((state().spending.quietUntil - since) / 60_000))
      putState({ ...state(), spending: { ...state().spending, quietUntil: 0 } })
    }
    expect(pauses).toEqual([1, 2, 4])
  })
})

describe('long content', () => {
  /** Two fifths of the limit from each end are sent as they are. */
  const content = `${'first line\n'.repeat(15_000)}${'middle line\n'.repeat(10_000)}${'last line\n'.repeat(17_000)}`

  it('is sent as its head, a summary and its tail', async () => {
    const summary = 'It calls everything five hundred times.'
    const { edit, state, api } = await reflectWorktree([says(summary), fails('it is long.')])
    expect((await edit('src/app.ts', content)).model).toMatch(/it is long\./)
    expect(api.requests).toHaveLength(2)
    expect(question(api, 1)).toContain('middle line')
    for (const part of ['first line', summary, 'last line', 'a summary of them'])
      expect(question(api, 2)).toContain(part)
    expect(question(api, 2).split('middle line').length).toBeLessThan(50)
    expect(state().spending).toMatchObject({ calls: 2, tokens: 240 })
  })

  it.each([
    { name: 'the summary fails', turn: refuses(500, { message: 'x' }) },
    { name: 'the summary is empty', turn: says('') },
  ])('says that its middle is missing where $name', async ({ turn }) => {
    const { edit, api } = await reflectWorktree([turn, pass])
    expect((await edit('src/app.ts', content)).user).toMatch(/PASS/)
    expect(question(api, 2)).toMatch(/\[… [\d,]+ characters are left out here …\]/)
    for (const part of ['first line', 'last line']) expect(question(api, 2)).toContain(part)
  })
})

describe('a long answer', () => {
  const long = `FAIL\n${Array.from({ length: 300 }, (_, n) => `- src/app.ts:${n}: a thing.`).join('\n')}`

  it('is condensed to five points', async () => {
    const points = Array.from({ length: 7 }, (_, n) => `- src/app.ts:${n}: in few words.`).join('\n')
    const { edit, state, api } = await reflectWorktree([says(long), says(points)])
    const told = await edit('src/app.ts', 'one\n')
    expect(told.model?.match(/in few words/g)).toHaveLength(5)
    expect(told.model).not.toContain('a thing.')
    expect(state().spending).toMatchObject({ calls: 2, tokens: 240 })
    expect(question(api, 2)).toContain('src/app.ts:299: a thing.')
  })

  it.each([
    { name: 'fails', turn: refuses(500, { message: 'x' }) },
    { name: 'answers something else', turn: says('Gladly! Which one?') },
  ])('is truncated where condensing $name', async ({ turn }) => {
    const { edit, state } = await reflectWorktree([says(long), turn])
    const told = await edit('src/app.ts', 'one\n')
    expect(told.model).toMatch(/FAIL[\s\S]*src\/app\.ts:0: a thing\.[\s\S]*…/)
    expect(state().fails.fails[0]?.summary.length).toBeLessThanOrEqual(1500)
    expect(state().fails.fails[0]?.verdict).toBe('FAIL')
  })
})
