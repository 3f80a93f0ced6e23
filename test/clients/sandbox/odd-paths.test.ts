import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { codexBinary } from '../../support/claude-clients.ts'
import { fakePrograms, runCli } from '../../support/run-cli.ts'
import { makeRepo, temporaryFolder } from '../../support/temporary-repo.ts'

it.each(['d"d', "d'd", 'd d', 'd$HOME', 'd*[b]', 'dé,;:'])(
  'the sandbox is proven in a folder named %s',
  async (name) => {
    const folder = temporaryFolder()
    const programs = fakePrograms(folder, {})
    symlinkSync(await codexBinary(), join(programs, 'codex'))
    const cwd = makeRepo(join(folder, name, 'shop'), { 'a.txt': '' })
    const { stderr } = await runCli(['bootstrap', '--no-launch', '--name', 'x', '--reviewer', 'checklist'], {
      cwd,
      programs,
    })
    expect(stderr).toMatch(/✓ sandbox {2}proven/)
    await runCli(['uninstall'], { cwd: `${cwd}-x` })
  },
  60_000,
)
