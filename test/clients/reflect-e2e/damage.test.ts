import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hooksDir } from '../../../src/state/own-paths.ts'
import { fullDiskBy, ownDisk } from '../plan-review-e2e/full-disk.ts'
import { fails, openFail, pass, type ReflectWorktree, reflectWorktree, writeTranscript } from './reflect-worktree.ts'

type Damage = {
  name: string
  damage: (worktree: ReflectWorktree) => void
  /** Where it cannot be repaired by writing it again, each change is reviewed, and nothing is saved. */
  stays?: true
}

const holds =
  (text: string) =>
  ({ statePath }: ReflectWorktree): void =>
    writeFileSync(statePath, text)

const instead =
  (make: (path: string, worktree: ReflectWorktree) => void, of: (statePath: string) => string = (path) => path) =>
  (worktree: ReflectWorktree): void => {
    const path = of(worktree.statePath)
    rmSync(path, { recursive: true, force: true })
    make(path, worktree)
  }

const elsewhere = ({ home }: ReflectWorktree): string => join(home, 'elsewhere')
const lockOf = (statePath: string): string => statePath.replace(/\.json$/, '.lock')

const damages: readonly Damage[] = [
  { name: 'empty', damage: holds('') },
  { name: 'no JSON', damage: holds('what is this \u0000') },
  {
    name: 'half a JSON',
    damage: (worktree) => holds(readFileSync(worktree.statePath, 'utf8').slice(0, -40))(worktree),
  },
  {
    name: 'entries of another form',
    damage: holds('{"memory":{"entries":[1,{"hash":3}]},"fails":{"fails":"no"},"spending":[],"sharing":{"files":{}}}'),
  },
  { name: 'larger than anything we write', damage: (worktree) => holds(' '.repeat(9 * 1024 * 1024))(worktree) },
  { name: 'gone', damage: instead(() => {}) },
  { name: 'a folder', damage: instead((path) => mkdirSync(join(path, 'inner'), { recursive: true })), stays: true },
  {
    name: 'a link',
    damage: (worktree) => {
      writeFileSync(elsewhere(worktree), readFileSync(worktree.statePath))
      instead((path) => symlinkSync(elsewhere(worktree), path))(worktree)
    },
    stays: true,
  },
  { name: 'a pipe', damage: instead((path) => spawnSync('mkfifo', [path])), stays: true },
  { name: 'below a file', damage: instead((path) => writeFileSync(path, ''), dirname), stays: true },
  {
    name: 'below a link',
    damage: instead((path, worktree) => {
      mkdirSync(elsewhere(worktree))
      symlinkSync(elsewhere(worktree), path)
    }, dirname),
    stays: true,
  },
  { name: 'locked by a file', damage: instead((path) => writeFileSync(path, ''), lockOf), stays: true },
]

const content = 'console.log("hello")\n'

describe('what is kept of a session', () => {
  it.each(damages)('never blocks, and what cannot be read is reviewed again: $name', async (row) => {
    const worktree = await reflectWorktree([pass, fails('it is wrong.'), pass])
    const { edit, stop, api, statePath } = worktree
    await edit('src/app.ts', content)
    row.damage(worktree)
    const kept = row.name === 'locked by a file'
    const again = await edit('src/app.ts', content)
    expect(again).toMatchObject({ exitCode: 0, blocks: false, stderr: '' })
    // What could still be read is not asked about again.
    expect(again.model ?? '').toMatch(kept ? /^$/ : /FAIL[\s\S]*it is wrong\./)
    if (row.stays === undefined) {
      expect((await edit('src/app.ts', content)).model).toMatch(/This verdict is cached/)
      expect(await stop()).toMatchObject({ exitCode: 2, blocks: true })
      expect(api.requests).toHaveLength(2)
    } else {
      const asked = api.requests.length
      expect((await stop()).exitCode).toBe(kept ? 2 : 0)
      expect(api.requests).toHaveLength(asked + 1)
    }
    expect(await stop({ stop_hook_active: true })).toMatchObject({ exitCode: 0, blocks: false })
    if (row.name === 'a link')
      expect(JSON.parse(readFileSync(elsewhere(worktree), 'utf8')).memory.entries).toHaveLength(1)
    if (row.name === 'below a link') expect(existsSync(join(elsewhere(worktree), 'reflect.json'))).toBe(false)
    expect(existsSync(statePath)).toBe(row.name !== 'below a file' && row.name !== 'below a link')
  })

  it.runIf(fullDiskBy !== 'nothing that works here')(
    `says what there is to say on a full disk, by ${fullDiskBy}`,
    async () => {
      const worktree = await reflectWorktree([fails('it is wrong.')], { files: { 'src/b.ts': 'b\n' } })
      const { edit, stop, state } = worktree
      await edit('src/b.ts', content)
      const disk = ownDisk(worktree)
      disk.fill()
      const told = await edit('src/app.ts', content)
      expect(told).toMatchObject({ exitCode: 0, blocks: false })
      expect(told.model).toMatch(/it is wrong\./)
      expect(await stop()).toMatchObject({ exitCode: 2, blocks: true })
      disk.free()
      expect(state().fails.fails.map(({ about }) => about)).toEqual(['src/b.ts'])
    },
  )

  it('holds a ceiling that it can read but not write', async () => {
    const { edit, statePath, api, state } = await reflectWorktree([pass], { config: 'reflect:\n  max_calls: 1\n' })
    await edit('src/app.ts', content)
    writeFileSync(lockOf(statePath), '')
    expect(await edit('src/app.ts', 'other\n')).toMatchObject({ exitCode: 0, model: null })
    expect(api.requests).toHaveLength(1)
    expect(state().spending.calls).toBe(1)
  })
})

const inputs = [
  { name: 'nothing', input: '' },
  { name: 'no JSON', input: 'write it, please' },
  { name: 'half a JSON', input: '{"hook_event_name":"Stop","stop_hook_ac' },
  { name: 'another JSON', input: '[1]' },
  { name: 'an event of another name', input: '{"hook_event_name":"Elsewhere"}' },
  { name: 'wrong types', input: '{"hook_event_name":7,"tool_name":[],"tool_input":"x","stop_hook_active":"yes"}' },
  { name: 'bytes', input: '\u0000\u0001\ufffe' },
]

describe('a hook that cannot read its input', () => {
  it.each(['PostToolUse', 'PostToolUseFailure', 'Stop', 'PreCompact'] as const)('%s lets all through', async (name) => {
    const { tell, putState, state, api } = await reflectWorktree([pass])
    putState({ fails: { fails: [openFail('src/app.ts')] } })
    for (const { name: what, input } of inputs) {
      const result = await tell(name, input)
      expect({ what, result }).toMatchObject({ what, result: { exitCode: 0, blocks: false, model: null } })
    }
    expect(state().fails.fails).toHaveLength(1)
    expect(api.requests).toHaveLength(0)
  })
})

describe('a hook of which a part is gone', () => {
  const reviews = ({ at }: ReflectWorktree): void => rmSync(at(join(hooksDir, 'reviews.mjs.br')))

  it('holds the stop all the same, once', async () => {
    const worktree = await reflectWorktree([pass])
    reviews(worktree)
    const held = await worktree.stop()
    expect(held).toMatchObject({ exitCode: 2, blocks: true })
    expect(held.model).toMatch(/the final review of your work failed/)
    const second = await worktree.stop({ stop_hook_active: true })
    expect([second.exitCode === 2, second.blocks]).toEqual([false, false])
    expect(await worktree.stop({}, { PLAN_GATE_REFLECT: '0' })).toMatchObject({ exitCode: 0, blocks: false })
  })

  it('holds up no compaction', async () => {
    const worktree = await reflectWorktree([pass])
    writeTranscript(worktree, 'I did it.')
    reviews(worktree)
    expect(await worktree.compact()).toMatchObject({ blocks: false, model: null, stdout: '' })
  })
})
