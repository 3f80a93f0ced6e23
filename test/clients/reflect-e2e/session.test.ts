import { describe, expect, it } from 'vitest'
import { fails, pass, reflectWorktree } from './reflect-worktree.ts'

describe('the second pair of eyes', () => {
  it('tells Claude of a FAIL, does not ask about the same change again, clears it by a PASS, and lets it stop', async () => {
    const { edit, stop, state, api } = await reflectWorktree([fails('hello is misspelt.'), pass, pass])
    const first = await edit('src/app.ts', 'console.log("helo")\n')
    expect(first).toMatchObject({ exitCode: 0, blocks: false })
    expect(first.user).toMatch(/the change to src\/app\.ts: FAIL/)
    expect(first.model).toMatch(/hello is misspelt/)
    expect(state().fails.fails).toMatchObject([{ key: 'file src/app.ts', verdict: 'FAIL' }])

    const again = await edit('src/app.ts', 'console.log("helo")\n')
    expect(again.model).toMatch(/This verdict is cached[\s\S]*hello is misspelt/)
    expect(api.requests).toHaveLength(1)

    expect((await edit('src/app.ts', 'console.log("hello")\n')).user).toMatch(/PASS; its open finding is cleared/)
    expect(state().fails.fails).toEqual([])
    expect(await stop()).toMatchObject({ exitCode: 0, blocks: false, model: null })
    expect(api.requests).toHaveLength(3)
  })

  it('keeps Claude from stopping once while a FAIL is open, without a call', async () => {
    const { edit, stop, api } = await reflectWorktree([fails('hello is misspelt.')])
    await edit('src/app.ts', 'console.log("helo")\n')
    const held = await stop()
    expect(held).toMatchObject({ exitCode: 2, blocks: true })
    expect(held.model).toMatch(/hello is misspelt/)
    expect(await stop({ stop_hook_active: true })).toMatchObject({ exitCode: 0, blocks: false })
    expect(api.requests).toHaveLength(1)
  })
})
