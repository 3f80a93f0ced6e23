import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { differences, type SandboxedWorktree, sandboxedWorktree, wholeState } from '../../support/sandboxed-worktree.ts'
import { type OutsideWorld, startOutsideWorld } from './outside-world.ts'
import { readOnlyAttacks } from './read-only-attacks.ts'

describe('before an approval, a command', () => {
  let worktree: SandboxedWorktree
  let world: OutsideWorld
  beforeAll(async () => {
    worktree = await sandboxedWorktree()
    world = await startOutsideWorld(worktree)
    await worktree.run('true')
  })
  afterAll(() => {
    world.close()
    worktree.remove()
  })
  /** Claude Code's own folder for where a command ended is not the worktree's. */
  const stateOutside = () => wholeState([worktree.base], (path) => path === `${worktree.base}/tmp`)

  it('sees everything', async () => {
    expect(await worktree.run('cat README.md && git log --oneline && node -p 1 && exit 3')).toMatchObject({ code: 3 })
    expect((await worktree.run('cat README.md; ls $HOME -a')).output).toContain('# A repository')
  })

  it.each([...new Set(readOnlyAttacks)])('changes nothing: %s', { timeout: 60_000 }, async (attack) => {
    const before = stateOutside()
    await worktree.run(attack, { env: world.env, timeoutMs: 10_000 })
    expect([...differences(before, stateOutside()), ...(await world.disturbances())]).toEqual([])
  })

  it('would be noticed if it did', async () => {
    const before = stateOutside()
    await worktree.plainly('touch new.txt; rm new.txt')
    expect(differences(before, stateOutside())).toContain(worktree.root)
    await worktree.plainly(`echo x > /dev/tcp/127.0.0.1/${world.env.PORT}; setsid sleep 71.5 > /dev/null 2>&1 & `)
    expect((await world.disturbances()).join()).toMatch(/a connection to a TCP port,process \d+ outlives its command/)
    await worktree.plainly('pkill -f "sleep 71.5"')
  })
})
