import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { runCli } from '../../support/run-cli.ts'
import { commit, git, temporaryRepo, write } from '../../support/temporary-repo.ts'
import { offline } from '../bootstrap/worktree/bootstrap-in.ts'

/** The name of a file is a line of its own in no output, and nothing in it commands a terminal or reverses text. */
it('names of files and worktrees are one line, with what would deceive shown by its number', async () => {
  const repo = temporaryRepo('shop', { 'README.md': '# Shop\n', '.gitignore': 'ign*\n' })
  const [worktree, second] = ['x\u202ey', 'z\u202ey'].map((name) => join(dirname(repo), name)) as [string, string]
  for (const [at, dir] of [worktree, second].entries())
    await runCli([...offline, '--name', `n${at}`, '--dir', dir], { cwd: repo })
  commit(worktree, { 'done.js': '' })
  git(repo, 'merge', '--quiet', 'plan/n0')
  write(worktree, {
    'a\nremoved   everything\u001b[31m': '',
    'ign\u202ertl': 'x',
    '.claude/skills/s\u202e/SKILL.md': '---\nhooks: {}\n---\n',
  })
  const said = async (cwd: string, args: readonly string[], exitCode = 0): Promise<string> => {
    const { stdout, stderr } = await runCli(args, { cwd, exitCode })
    expect(stdout + stderr).not.toMatch(/^removed {3}everything|[\u001b\u202e\ufffd]/m)
    return stdout + stderr
  }
  const file = 'a\\u{a}removed   everything\\u{1b}[31m'
  const folder = join(dirname(repo), 'x\\u{202e}y')
  const rows: readonly (readonly [cwd: string, args: string[], exitCode: number, says: string])[] = [
    [worktree, ['finish', '--dry-run'], 2, `    ?? ${file}\n`],
    [worktree, ['finish', '--dry-run'], 2, 'keep     ign\\u{202e}rtl,'],
    [worktree, ['finish'], 2, `${folder} was not removed:`],
    [worktree, ['finish'], 2, `      ?? ${file}\n`],
    [worktree, ['status'], 0, `${file}`],
    [worktree, ['status'], 0, `worktree  ${folder}\n`],
    [worktree, ['drift', 'accept'], 0, `${file}: created\n`],
    [worktree, ['log'], 0, file.replace(/ +/, ' ')],
    [worktree, ['doctor'], 0, 's\\u{202e}'],
    [repo, ['open', 'none'], 2, `  ${folder}\n`],
    [repo, ['status'], 0, `worktree  ${folder} on plan/n0\n`],
    [worktree, ['finish', '--discard', 'uncommitted'], 0, 'kept      ign\\u{202e}rtl,'],
  ]
  for (const [cwd, args, exitCode, says] of rows) expect(await said(cwd, args, exitCode)).toContain(says)
})
