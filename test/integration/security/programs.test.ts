import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hooksDir } from '../../../src/state/own-paths.ts'
import { fakePrograms, runCli } from '../../support/run-cli.ts'
import { askGate, runHook } from '../../support/run-hook.ts'
import { cleanEnvironment, commit, temporaryRepo, write } from '../../support/temporary-repo.ts'

/**
 * Promise: plan-gate looks for programs only in folders that PATH names in full. A repository that carries a `git`, a
 * `node`, a `codex`, a `claude` or a `model-invoke` of its own gets none of them started, wherever one stands.
 */
const names = ['git', 'node', 'codex', 'claude', 'model-invoke', 'sh', 'env']

const searchPaths = [
  { attack: 'a dot', path: (usual: string) => `.:${usual}` },
  { attack: 'an empty entry', path: (usual: string) => `:${usual}` },
  { attack: 'an empty entry at the end', path: (usual: string) => `${usual}:` },
  { attack: 'a relative folder', path: (usual: string) => `tools:${usual}` },
  { attack: 'a way round', path: (usual: string) => `./tools/../.:${usual}` },
]

/** Each program of the repository leaves its name beside the repository when it is started. */
function repositoryWithPrograms(): { repo: string; started: () => string[] } {
  const repo = temporaryRepo('shop', { 'README.md': '' })
  const marks = dirname(repo)
  const script = `#!/bin/sh\n: > ${marks}/started-$(basename "$0")\nexit 1\n`
  write(repo, Object.fromEntries(names.flatMap((name) => [name, `tools/${name}`]).map((path) => [path, script])))
  for (const name of names) for (const path of [name, `tools/${name}`]) chmodSync(join(repo, path), 0o755)
  commit(repo, {})
  return { repo, started: () => readdirSync(marks).filter((name) => name.startsWith('started-')) }
}

describe.each(searchPaths)('PATH with $attack', ({ path }) => {
  it('starts nothing of the repository in bootstrap, the commands and the hooks, and the gate refuses every command', async () => {
    const { repo, started } = repositoryWithPrograms()
    const env = { PATH: path(cleanEnvironment().PATH ?? '') }
    await runCli(['bootstrap', '--no-launch', '--reviewer', 'checklist', '--name', 'x'], { cwd: repo, env })
    const worktree = `${repo}-x`
    await runCli(['status'], { cwd: worktree, env })
    await runCli(['review', '--diff'], { cwd: worktree, env, exitCode: 2 })
    const { stderr } = await runCli(['doctor'], { cwd: worktree, env, exitCode: 1 })
    expect(stderr).toMatch(/✗ environment {2}PATH has a relative entry/)

    const event = {
      hook_event_name: 'PostToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'ls' },
      tool_response: {},
    }
    expect(runHook(worktree, 'post-tool-use', event, env).stdout).toBe('')
    expect(askGate(worktree, 'Bash', { command: 'ls' }, {}, env)).toMatch(/PATH has an entry that is not absolute/)
    expect(askGate(worktree, 'Bash', { command: 'git status' }, {}, env)).toMatch(/not absolute/)
    expect(askGate(worktree, 'Bash', { command: 'ls' })).toBeNull()
    expect(existsSync(join(worktree, hooksDir))).toBe(true)
    expect(started()).toEqual([])
  })
})

it('and neither does the Claude Code that bootstrap launches: what is relative is not in its PATH', async () => {
  const { repo, started } = repositoryWithPrograms()
  const record = join(dirname(repo), 'path.txt')
  const programs = fakePrograms(dirname(repo), {
    claude: `case "$1" in --version) echo '2.1.326 (Claude Code)'; exit ;; esac\nprintf %s "$PATH" > ${record}`,
  })
  const env = { PATH: `.:${programs}::${cleanEnvironment().PATH}:tools` }
  await runCli(['bootstrap', '--reviewer', 'checklist', '--name', 'x'], { cwd: repo, env })
  expect(readFileSync(record, 'utf8')).toBe(`${programs}:${cleanEnvironment().PATH}`)
  expect(started()).toEqual([])
})

it('a reviewer that is asked is not the repository’s', async () => {
  const { repo, started } = repositoryWithPrograms()
  writeFileSync(join(repo, 'a.txt'), 'x')
  for (const backend of ['codex', 'hounfour']) {
    write(repo, {
      'plan-gate.yaml': `review: {routes: [{backend: ${backend}, when: [always], fail_mode: hard_fail}]}\nhounfour: {flatline_routing: true}\n`,
    })
    const env = { PATH: `.:${cleanEnvironment().PATH}` }
    const { stderr } = await runCli(['review', '--diff'], { cwd: repo, env, exitCode: 2 })
    expect(stderr).toMatch(/is not on PATH|could not be started|is not an executable|does not run/)
  }
  expect(started()).toEqual([])
})
