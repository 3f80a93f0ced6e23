import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { planText } from '../../../support/plan-texts.ts'
import { runCli } from '../../../support/run-cli.ts'
import { runHook } from '../../../support/run-hook.ts'
import { commit, git, statusOf, temporaryRepo, write } from '../../../support/temporary-repo.ts'
import { offline } from '../worktree/bootstrap-in.ts'
import { archivesOf, finish, refused } from './finishable.ts'

const yaml = (archive = 'docs/plans/{date}-{name}.md'): string => `plan:\n  archive: ${archive}\n`

/** Worktrees with an approved plan and a commit each. */
async function places(names: readonly string[], config = yaml()): Promise<string> {
  const repo = temporaryRepo('shop', { 'README.md': '# Shop\n', 'plan-gate.yaml': config })
  for (const name of names) {
    await runCli([...offline, '--name', name], { cwd: repo })
    const worktree = `${repo}-${name}`
    write(worktree, { 'src/app.ts': 'export {}\n' })
    commit(worktree, { [`${name}.js`]: name }, `The work of ${name}`)
    write(worktree, { 'docs/plan.md': planText() })
    runHook(worktree, 'post-tool-use', {
      hook_event_name: 'PostToolUse',
      session_id: 's',
      cwd: worktree,
      tool_name: 'Write',
      tool_input: { file_path: join(worktree, 'docs/plan.md'), content: '' },
      tool_response: {},
    })
    runHook(worktree, 'session-end', { hook_event_name: 'SessionEnd', session_id: 's', reason: 'other' })
  }
  return repo
}

const today = new Date().toISOString().slice(0, 10)
const merge = (repo: string, name: string): string => git(repo, 'merge', '--quiet', '--no-edit', `plan/${name}`)

describe('plan.archive', () => {
  it('commits a copy to the branch that is still to be merged; two worktrees do not conflict', async () => {
    const repo = await places(['a', 'b'])
    for (const name of ['a', 'b']) {
      const head = git(repo, 'rev-parse', `plan/${name}`)
      const said = await runCli(['finish', name], { cwd: repo, exitCode: 2 })
      expect(said.stderr).toMatch(`committed as docs/plans/${today}-${name}.md on plan/${name}.`)
      expect(said.stderr).toMatch(`Merge plan/${name}, then run the same command again.`)
      expect(git(repo, 'log', '--format=%s', `${head}..plan/${name}`)).toBe(`docs: the plan of ${today}-${name}`)
    }
    for (const name of ['a', 'b']) merge(repo, name)
    for (const name of ['a', 'b']) expect((await finish(repo, [name])).notes).toEqual([])
    for (const name of ['a', 'b'])
      expect(readFileSync(join(repo, `docs/plans/${today}-${name}.md`), 'utf8')).toBe(planText())
    expect([statusOf(repo), git(repo, 'worktree', 'list').split('\n').length]).toEqual(['', 1])
  })

  it('commits to a clean checkout of the branch that it was merged into, and finishes', async () => {
    const repo = await places(['a'])
    merge(repo, 'a')
    expect((await finish(repo, ['a', '--dry-run'])).notes).toEqual([
      `The plan would be committed as docs/plans/${today}-a.md on main.`,
    ])
    expect((await finish(repo, ['a'])).notes).toEqual([`The plan was committed as docs/plans/${today}-a.md on main.`])
    expect([git(repo, 'show', '--name-only', '--format=', 'HEAD'), statusOf(repo)]).toEqual([
      `docs/plans/${today}-a.md`,
      '',
    ])
  })

  it('commits nothing to a checkout with changes, and finishes without the copy if it is told to', async () => {
    const repo = await places(['a'])
    merge(repo, 'a')
    write(repo, { 'README.md': '# Mine\n' })
    expect(await refused(repo, ['a'])).toMatch(
      /cannot be committed as docs\/plans\/.*has changes that are not committed/,
    )
    await finish(repo, ['a', '--discard', 'plan-copy'])
    expect([existsSync(join(repo, 'docs/plans')), statusOf(repo), archivesOf(repo)]).toEqual([
      false,
      ' M README.md',
      [expect.any(String)],
    ])
  })

  it.each<[string, (repo: string) => void, RegExp]>([
    [
      'a commit hook that fails',
      (repo) => {
        write(repo, { 'hooks/pre-commit': '#!/bin/sh\necho no plans here >&2; exit 1\n' })
        git(repo, 'config', 'core.hooksPath', join(repo, 'hooks'))
        git(repo, 'update-index', '--refresh')
      },
      /git did not commit the plan .*: no plans here/,
    ],
    [
      'a signature that cannot be made',
      (repo) => {
        git(repo, 'config', 'commit.gpgSign', 'true')
        git(repo, 'config', 'gpg.program', 'false')
      },
      /git did not commit the plan .*gpg failed/s,
    ],
  ])('leaves nothing after %s', async (_, configure, says) => {
    const repo = await places(['a'])
    configure(repo)
    if (existsSync(join(repo, 'hooks/pre-commit'))) chmodSync(join(repo, 'hooks/pre-commit'), 0o755)
    const head = git(repo, 'rev-parse', 'plan/a')
    const { stderr } = await runCli(['finish', 'a'], { cwd: repo, exitCode: 1 })
    expect(stderr).toMatch(says)
    expect([git(repo, 'rev-parse', 'plan/a'), statusOf(`${repo}-a`)]).toEqual([head, '?? docs/plan.md'])
  })

  it('takes another name where a different plan has it, and commits only once', async () => {
    const repo = await places(['a'], yaml('docs/plans/{branch}.md'))
    commit(`${repo}-a`, { 'docs/plans/plan-a.md': 'An older one.' }, 'Older')
    await runCli(['finish', 'a'], { cwd: repo, exitCode: 2 })
    const again = await runCli(['finish', 'a'], { cwd: repo, exitCode: 2 })
    expect(again.stderr).toMatch(/3 commits of plan\/a are not merged/)
    merge(repo, 'a')
    await finish(repo, ['a'])
    expect(readFileSync(join(repo, 'docs/plans/plan-a-2.md'), 'utf8')).toBe(planText())
  })

  it.each([
    '/tmp/{name}.md',
    '../{name}.md',
    'docs/plan.md',
    '.git/{name}.md',
    'docs/{user}.md',
    'docs/plans',
    'a/../../b.md',
  ])('is refused with its line: %s', async (path) => {
    const repo = temporaryRepo('shop', { 'plan-gate.yaml': yaml(path) })
    const { stderr } = await runCli([...offline, '--name', 'a'], { cwd: repo, exitCode: 2 })
    expect(stderr).toMatch(/plan-gate\.yaml:2:\d+ +plan\.archive: expected the path of an \.md file in the repository/)
  })
})
