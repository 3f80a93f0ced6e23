import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, it } from 'vitest'
import { approve } from '../../support/approved-repo.ts'
import { project } from '../../support/project.ts'
import { runCli } from '../../support/run-cli.ts'
import { cleanEnvironment, commit, git, makeRepo, temporaryFolder, write } from '../../support/temporary-repo.ts'
import { readRunLines } from './read-document.ts'

const [line = ''] = readRunLines(readFileSync(join(project, 'templates/github-workflow.yml'), 'utf8'))

/** As GitHub does it: a clone with its history, the merge of the pull request checked out, and `bash -e` for each line. */
it('the run line of the workflow, in a clone, with the packed package', async () => {
  const folder = temporaryFolder()
  const source = makeRepo(join(folder, 'shop'), { 'src/app.ts': 'export {}\n' })
  await approve(source)
  await runCli(['verify', '--export', 'docs/plan.approval.json', '--ledger', 'docs/plan.events.jsonl'], { cwd: source })
  git(source, 'switch', '--quiet', '--create', 'change')
  commit(source, { 'src/app.ts': 'console.log("hello")\n' }, 'The change')

  const runner = join(folder, 'runner')
  mkdirSync(runner)
  writeFileSync(join(runner, 'package.json'), '{"private":true}')
  const env = { ...cleanEnvironment(), HOME: runner, npm_config_offline: 'true' }
  const packed = await execa('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: project,
  })
  const { filename } =
    Object.values(JSON.parse(packed.stdout) as { [name: string]: { filename: string } })[0] ?? expect.unreachable()
  await execa('npm', ['install', '--no-audit', '--no-fund', join(folder, filename)], {
    cwd: runner,
    env,
    extendEnv: false,
  })

  const clone = join(runner, 'work')
  git(source, 'clone', '--quiet', '--branch', 'main', '.', clone)
  git(clone, 'merge', '--quiet', '--no-ff', '--no-edit', 'origin/change')
  const step = () =>
    execa('bash', ['-e', '-c', line], {
      cwd: clone,
      env: { ...env, GITHUB_BASE_REF: 'main' },
      extendEnv: false,
      reject: false,
    })

  const passed = await step()
  expect([passed.exitCode, passed.stdout.split('\n').map((each) => each.slice(0, 10))]).toEqual([
    0,
    ['✓ plan  it', '✓ approval', '✓ ledger  ', '✓ scope  4'],
  ])
  write(clone, { 'docs/plan.md': 'Something else.\n' })
  const failed = await step()
  expect([failed.exitCode, failed.stdout.split('\n')[0]]).toEqual([1, expect.stringMatching(/^✗ plan {2}it is/)])
}, 120_000)
