import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { git, gitOrNull } from '../../../src/system/git.ts'
import { fakePrograms } from '../../support/run-cli.ts'
import { temporaryFolder, temporaryRepo } from '../../support/temporary-repo.ts'

afterEach(() => vi.unstubAllEnvs())

/** The only program on the path. */
function fakeGit(script: string, mode = 0o755): void {
  const programs = fakePrograms(temporaryFolder(), { git: script })
  chmodSync(join(programs, 'git'), mode)
  vi.stubEnv('PATH', programs)
}

it('git answers, or says no', async () => {
  const repo = temporaryRepo()
  expect(await gitOrNull(repo, ['rev-parse', '--is-bare-repository'])).toBe('false\n')
  expect(await gitOrNull(repo, ['rev-parse', '--verify', '--quiet', 'nowhere'])).toBeNull()
})

it('an exit code but 0 is a failure, also without a word', async () => {
  const repo = temporaryRepo()
  await expect(git(repo, ['rev-parse', '--verify', '--quiet', 'nowhere'])).rejects.toMatchObject({
    message: `git rev-parse --verify --quiet nowhere failed in ${repo}: exit code 1`,
    status: 1,
    stderr: '',
    exitCode: 1,
  })
  await expect(git(repo, ['log', 'nowhere'])).rejects.toMatchObject({
    status: 128,
    stderr: expect.stringMatching(/^fatal: ambiguous/),
  })
})

describe('a git that gave no exit code has not said no', () => {
  it.each<{ name: string; script: string; mode?: number; why: RegExp }>([
    { name: 'is killed', script: 'kill -9 $$', why: /^git rev-parse was ended by SIGKILL\.$/ },
    {
      name: 'cannot be started',
      script: '',
      mode: 0o644,
      why: /^git rev-parse could not be started in .* \(EACCES\)\.$/,
    },
    {
      name: 'hangs, and ignores signals',
      script: "trap '' INT TERM; while :; do /bin/sleep 1; done",
      why: /^git rev-parse did not end within 0\.3 s\.$/,
    },
  ])('$name', async ({ script, mode, why }) => {
    fakeGit(script, mode)
    const asked = git(temporaryFolder(), ['rev-parse'], { timeoutMs: 300 })
    await expect(asked).rejects.toMatchObject({ message: expect.stringMatching(why), status: null })
  })

  it('its folder is gone', async () => {
    const gone = join(temporaryFolder(), 'gone')
    const why = `git rev-parse could not be started in ${gone} (ENOENT).`
    await expect(gitOrNull(gone, ['rev-parse'])).rejects.toMatchObject({ message: why, nextStep: expect.any(String) })
  })

  it('it is not on PATH', async () => {
    vi.stubEnv('PATH', temporaryFolder())
    await expect(gitOrNull(temporaryFolder(), ['rev-parse'])).rejects.toThrow('git is not on PATH.')
  })
})

it('has an empty stdin, English messages and the variables of the user, but no editor', async () => {
  fakeGit('read -r line && exit 1; echo "$LC_ALL $GIT_SSH_COMMAND ${EDITOR-none} ${GIT_EDITOR-none} ${GIT_DIR-none}"')
  const variables = { GIT_SSH_COMMAND: 'ssh', EDITOR: 'vi', GIT_EDITOR: 'vi', GIT_DIR: '/nowhere', LC_ALL: 'de_DE' }
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  expect(await git(temporaryFolder(), ['status'])).toBe('C ssh none none none\n')
})

it('takes of git’s own variables only who commits, how a remote is reached and where the configuration is', async () => {
  fakeGit('/usr/bin/env')
  const taken = { GIT_AUTHOR_NAME: 'a', GIT_COMMITTER_DATE: 'd', GIT_SSL_CAINFO: 'c', GIT_CONFIG_GLOBAL: 'g' }
  const left = ['EXTERNAL_DIFF', 'TRACE', 'TRACE2_EVENT', 'EXEC_PATH', 'COMMON_DIR', 'GLOB_PATHSPECS', 'PROXY_COMMAND']
  for (const [name, value] of Object.entries(taken)) vi.stubEnv(name, value)
  for (const name of [...left, 'TEMPLATE_DIR', 'ATTR_SOURCE', 'SOMETHING_NEW']) vi.stubEnv(`GIT_${name}`, 'x')
  const ours = { GIT_OPTIONAL_LOCKS: '0', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0' }
  const seen = (await git(temporaryFolder(), ['status'])).trim().split('\n')
  expect(Object.fromEntries(seen.map((line) => line.split('=')))).toMatchObject({ ...taken, ...ours })
  expect(seen.filter((line) => line.endsWith('=x'))).toEqual([])
})

it('takes nothing that the settings of a project set', async () => {
  fakeGit('echo "${GIT_SSH_COMMAND-none} ${GCONV_PATH-none} ${GIT_AUTHOR_NAME-none}"')
  const root = temporaryFolder()
  const set = { GIT_SSH_COMMAND: './ssh', GCONV_PATH: './gconv' }
  mkdirSync(join(root, '.claude'))
  writeFileSync(join(root, '.claude/settings.json'), JSON.stringify({ env: set }))
  for (const [name, value] of Object.entries({ ...set, GIT_AUTHOR_NAME: 'own', CLAUDE_PROJECT_DIR: root }))
    vi.stubEnv(name, value)
  expect(await git(root, ['status'])).toBe('none none own\n')
})

it('takes the configuration of the environment, and branches with names that simple-git looks out for', async () => {
  const repo = temporaryRepo()
  const variables = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'core.editor', GIT_CONFIG_VALUE_0: 'ours' }
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  await git(repo, ['config', 'branch.alias.remote', 'x'])
  expect(await git(repo, ['config', 'core.editor'])).toBe('ours\n')
  expect(await git(repo, ['-C', repo, 'config', '--remove-section', 'branch.alias'])).toBe('')
})
