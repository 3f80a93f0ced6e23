import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { outputs } from '../../../src/cli/schema.ts'
import { savePlan } from '../../support/approved-repo.ts'
import { finding, planText } from '../../support/plan-texts.ts'
import { cli, dist } from '../../support/project.ts'
import { runCli } from '../../support/run-cli.ts'
import { askGate } from '../../support/run-hook.ts'
import { runProgram } from '../../support/run-program.ts'
import { cleanEnvironment, commit, git, temporaryFolder, temporaryRepo, write } from '../../support/temporary-repo.ts'

const published = join(dist, 'schemas')

/** The published schema, without additional properties. */
function validatorOf(name: string) {
  const schema = JSON.parse(readFileSync(join(published, `${name}.schema.json`), 'utf8')) as object
  return new Ajv2020({ allowUnionTypes: true, allErrors: true }).compile(closed(schema) as object)
}

function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (typeof value !== 'object' || value === null) return value
  const inner = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, closed(each)]))
  const isObject = inner.type === 'object' && 'properties' in inner && !('additionalProperties' in inner)
  return isObject ? { ...inner, additionalProperties: false } : inner
}

function wrongIn(command: string, stdout: string): unknown[] {
  const { schema, form } = outputs[command] ?? expect.unreachable(command)
  const validate = validatorOf(schema.$id)
  const lines = stdout.trimEnd().split('\n')
  // A single object may be indented.
  const values = (form === 'object' ? [stdout] : lines).map((text) => JSON.parse(text) as unknown)
  return values.flatMap((value) => (validate(value) ? [] : [value, validate.errors]))
}

/** A used worktree: revisions, an outage, denials, an approval, drift. */
async function scene(): Promise<{ repo: string; worktree: string }> {
  const repo = temporaryRepo('shop', { 'src/app.ts': 'export {}\n', 'docs/design.md': '# Design\n' })
  const args = ['bootstrap', '--no-launch', '--reviewer', 'checklist', '--name', 'x']
  expect(wrongIn('bootstrap', (await runCli([...args, '--dry-run', '--json'], { cwd: repo })).stdout)).toEqual([])
  expect(wrongIn('bootstrap', (await runCli([...args, '--json'], { cwd: repo })).stdout)).toEqual([])
  return { repo, worktree: `${repo}-x` }
}

type Step = { args: string[]; exitCode?: number; before?: (root: string) => void; cwd?: (root: string) => string }

const steps: readonly Step[] = [
  { args: ['status'] },
  { args: ['log'] },
  { args: ['verify'], exitCode: 1 },
  { args: ['doctor'] },
  { args: ['drift'] },
  { args: ['drift'], exitCode: 1, before: (root) => write(root, { 'by-hand.txt': '' }) },
  { args: ['drift', 'accept'] },
  { args: ['explain', 'git log | head'] },
  { args: ['explain', 'rm -rf /'], exitCode: 1 },
  { args: ['routes'] },
  { args: ['calibrate', '--routes', 'checklist', '--plans', '1', '--dry-run'] },
  { args: ['config'] },
  {
    args: ['status'],
    before: (root) => {
      askGate(root, 'Write', { file_path: join(root, 'src/app.ts'), content: '' }, { session_id: 's-1' })
      savePlan(root, planText('TODO'))
      savePlan(root, planText())
    },
  },
  { args: ['trust'] },
  { args: ['trust', '--all'] },
  { args: ['untrust', '--all'] },
  { args: ['explain', '--plan'] },
  { args: ['verify'] },
  { args: ['verify', '--export', 'docs/plan.approval.json', '--ledger', 'docs/plan.events.jsonl'] },
  {
    args: [
      'verify',
      '--plan',
      'docs/plan.md',
      '--approval',
      'docs/plan.approval.json',
      '--ledger',
      'docs/plan.events.jsonl',
    ],
  },
  {
    args: ['verify', '--plan', 'docs/plan.md', '--approval', 'docs/plan.approval.json', '--base', 'main'],
    before: (root) => void git(root, 'commit', '--quiet', '--allow-empty', '--message', 'The change'),
  },
  { args: ['diff'] },
  { args: ['findings'] },
  { args: ['log', '-n', '3'] },
  { args: ['report'] },
  {
    args: ['approve', '--force', '--reason', 'Because.'],
    before: (root) => write(root, { 'docs/plan.md': '# Mine\n' }),
  },
  {
    args: ['continue'],
    before: (root) => {
      write(root, { 'plan-gate.yaml': 'plan:\n  max_revisions: 1\n' })
      savePlan(root, planText('Another way.'))
    },
  },
  { args: ['review', '--type', 'sdd', '--content', 'docs/design.md'] },
  {
    args: ['review', '--diff', '--previous', 'before.json'],
    before: (root) => write(root, { 'before.json': previous }),
  },
  { args: ['schema'] },
  { args: ['completion'] },
  { args: ['install', '--dry-run'] },
  { args: ['install'] },
  { args: ['finish', '--dry-run'], exitCode: 2, before: (root) => git(root, 'worktree', 'lock', root) },
  { args: ['uninstall'], before: (root) => git(root, 'worktree', 'unlock', root) },
]

const previous = JSON.stringify({
  verdict: 'CHANGES_REQUIRED',
  is_optimal: false,
  summary: 'Something is wrong here.',
  findings: [{ ...finding('It is unclear.'), id: 'F1' }],
})

describe('the output of --json matches its published schema', () => {
  it('for every command, in a used worktree', async () => {
    const { worktree } = await scene()
    const wrong: unknown[] = []
    for (const { args, exitCode = 0, before } of steps) {
      before?.(worktree)
      const { stdout } = await runCli([...args, '--json'], { cwd: worktree, exitCode })
      const found = wrongIn(args[0] ?? '', stdout)
      if (found.length > 0) wrong.push({ args, found })
    }
    expect(wrong).toEqual([])
  }, 120_000)

  it('these are all commands', () => {
    const tried = steps.map(({ args }) => args[0])
    // What waive prints is compared whole in test/clients/plan-review-e2e/decisions.test.ts.
    const elsewhere = ['bootstrap', 'open', 'finish', 'demo', 'watch', 'waive']
    expect(Object.keys(outputs).filter((name) => !tried.includes(name) && !elsewhere.includes(name))).toEqual([])
  })

  it('for demo and finish', async () => {
    const { repo, worktree } = await scene()
    commit(worktree, { 'work.js': '' })
    git(repo, 'merge', '--quiet', 'plan/x')
    const { stdout } = await runCli(['finish', '--json'], { cwd: worktree })
    const [archive = ''] = readdirSync(join(repo, '.git/plan-gate-archive'))
    const record = JSON.parse(
      readFileSync(join(repo, '.git/plan-gate-archive', archive, 'finished.json'), 'utf8'),
    ) as object
    const demo = (await runCli(['demo', '--json'], { cwd: repo })).stdout
    expect([wrongIn('finish', stdout), wrongIn('demo', demo), validatorOf('finished')(record)]).toEqual([[], [], true])
  }, 60_000)

  it('for watch, until it is ended', async () => {
    const { worktree } = await scene()
    const run = { cwd: worktree, env: cleanEnvironment(), timeoutMs: 4_000 }
    const { exitCode, stdout } = await runProgram(process.execPath, [cli, 'watch', '--json'], run)
    expect([exitCode, wrongIn('watch', stdout)]).toEqual([0, []])
  })

  it('for a failure, and for the exported approval', async () => {
    const { worktree } = await scene()
    const { stdout } = await runCli(['diff', '--json'], { cwd: worktree, exitCode: 2 })
    expect(validatorOf('error')(JSON.parse(stdout))).toBe(true)
    savePlan(worktree, planText())
    await runCli(['verify', '--export', 'a.json'], { cwd: worktree })
    expect(validatorOf('approval-record')(JSON.parse(readFileSync(join(worktree, 'a.json'), 'utf8')))).toBe(true)
    expect(
      validatorOf('approval')(JSON.parse(readFileSync(join(worktree, '.claude/review/approval.json'), 'utf8'))),
    ).toBe(true)
  })

  it('the check finds missing and additional properties', () => {
    expect(wrongIn('continue', '{"revisions":1}')).toHaveLength(2)
    expect(wrongIn('continue', '{"revisions":1,"limit":2,"more":3}')).toHaveLength(2)
    expect(wrongIn('continue', '{"revisions":1,"limit":2}')).toEqual([])
    expect(wrongIn('log', `{"seq":1,"at":"","type":"installed","prev":"${'0'.repeat(64)}","version":"1"}`)).toEqual([])
    expect(wrongIn('log', '{"seq":1,"at":"","type":"installed","prev":"x","version":"1"}')).toHaveLength(2)
  })
})

describe('plan-gate schema', () => {
  it('lists the published schemas, and prints one as in the package', async () => {
    const cwd = temporaryFolder()
    const files = readdirSync(published).map((name) => name.replace('.schema.json', ''))
    const listed = JSON.parse((await runCli(['schema', '--json'], { cwd })).stdout) as {
      name: string
      title: string
      path: string
    }[]
    expect(listed.map(({ name }) => name)).toEqual(files.sort())
    for (const { title, path } of listed)
      expect([title === '', readFileSync(path, 'utf8').includes('json-schema.org')]).toEqual([false, true])
    const lines = (await runCli(['schema'], { cwd })).stdout.trimEnd().split('\n')
    expect(lines.map((line) => line.split(' ')[0])).toEqual(files)
    expect((await runCli(['schema', 'status'], { cwd })).stdout).toBe(
      readFileSync(join(published, 'status.schema.json'), 'utf8'),
    )
  })
})
