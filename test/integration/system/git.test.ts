import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { gitOrNull } from '../../../src/system/git.ts'
import { fakePrograms } from '../../support/run-cli.ts'
import { temporaryFolder, temporaryRepo } from '../../support/temporary-repo.ts'

afterEach(() => vi.unstubAllEnvs())

it('git answers, or says no', async () => {
  const repo = temporaryRepo()
  expect(await gitOrNull(repo, ['rev-parse', '--is-bare-repository'])).toBe('false\n')
  expect(await gitOrNull(repo, ['rev-parse', '--verify', '--quiet', 'nowhere'])).toBeNull()
})

it.each<{ name: string; script: string; mode: number; why: RegExp }>([
  { name: 'is killed', script: 'kill -9 $$', mode: 0o755, why: /^git rev-parse was ended by SIGKILL\.$/ },
  {
    name: 'cannot be started',
    script: '',
    mode: 0o644,
    why: /^git rev-parse could not be started in .* \(EACCES\)\.$/,
  },
])('a git that $name has not said no', async ({ script, mode, why }) => {
  const programs = fakePrograms(temporaryFolder(), { git: script })
  chmodSync(join(programs, 'git'), mode)
  vi.stubEnv('PATH', programs)
  const asked = gitOrNull(temporaryFolder(), ['rev-parse'])
  await expect(asked).rejects.toMatchObject({ message: expect.stringMatching(why), nextStep: expect.any(String) })
})
