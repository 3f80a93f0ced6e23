import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { VerifyOutput } from '../../../src/schemas/output.ts'
import type { ApprovalRecord } from '../../../src/schemas/records.ts'
import { approve, approvedRepo, savePlan } from '../../support/approved-repo.ts'
import { fakeReviewedWorktree } from '../../support/fake-reviewed-worktree.ts'
import { finding, planText, verdict } from '../../support/plan-texts.ts'
import { runCli } from '../../support/run-cli.ts'
import { commit, git, makeRepo, temporaryFolder, write } from '../../support/temporary-repo.ts'

const record = 'docs/plan.approval.json'
const ledger = 'docs/plan.events.jsonl'
const exported = ['verify', '--export', record, '--ledger', ledger]
const asked = ['verify', '--plan', 'docs/plan.md', '--approval', record]
const withLedger = [...asked, '--ledger', ledger]

/** The approved change in CI: a clone of the committed branch, without an install. */
function clone(): string {
  const path = join(temporaryFolder(), 'clone')
  git(change, 'clone', '--quiet', '.', path)
  git(path, 'fetch', '--quiet', 'origin', 'main:refs/remotes/origin/main')
  return path
}

/** Created once: the checkout where the change was approved. */
let change: string
let around: string
beforeAll(async () => {
  around = mkdtempSync(join(tmpdir(), 'approved-'))
  change = makeRepo(join(around, 'shop'), { 'src/app.ts': 'export {}\n' })
  await approve(change)
  await runCli(exported, { cwd: change })
  git(change, 'switch', '--quiet', '--create', 'change')
  commit(change, { 'src/app.ts': 'console.log("hello")\n' }, 'The change')
})
afterAll(() => rmSync(around, { recursive: true, force: true, maxRetries: 3 }))

const check = async (cwd: string, args: readonly string[], exitCode = 0): Promise<VerifyOutput> =>
  JSON.parse((await runCli([...args, '--json'], { cwd, exitCode })).stdout) as VerifyOutput

const failuresIn = ({ checks }: VerifyOutput): string[] =>
  checks.flatMap(({ name, holds, detail }) => (holds ? [] : [`${name}: ${detail}`]))

const textIn = (repo: string, path: string): string => readFileSync(join(repo, path), 'utf8')
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
const edit = (repo: string, path: string, change: (text: string) => string): void =>
  write(repo, { [path]: change(textIn(repo, path)) })

describe('plan-gate verify --export', () => {
  it('writes the approval and the ledger for the repository', async () => {
    const repo = await approvedRepo()
    const { stdout, stderr } = await runCli(exported, { cwd: repo })
    expect([stdout.split('\n').at(-2), stderr]).toEqual([
      '✓ approval  by checklist, recorded',
      `written   ${record}\nwritten   ${ledger}\n`,
    ])
    const written = JSON.parse(textIn(repo, record)) as ApprovalRecord
    expect(written).toMatchObject({
      version: 1,
      plan: 'docs/plan.md',
      is_optimal: true,
      plan_hash: hashOf(textIn(repo, 'docs/plan.md')),
      review_version: 1,
      route: 'checklist',
      reason: null,
      ledger_head: hashOf(textIn(repo, ledger).trimEnd().split('\n').at(-1) ?? ''),
    })
    expect(textIn(repo, ledger)).toBe(textIn(repo, '.claude/review/events.jsonl'))
  })

  it('records a manual approval first', async () => {
    const repo = await approvedRepo()
    savePlan(repo, 'By hand.\n')
    const plan_hash = hashOf('By hand.\n')
    write(repo, { '.claude/review/approval.json': JSON.stringify({ is_optimal: true, plan_hash }) })
    await runCli(exported, { cwd: repo })
    expect(await check(repo, withLedger)).toMatchObject({ holds: true, manual: true, plan_hash })
  })

  it('carries what the reviews found and what became of it, which the summary shows', async () => {
    const opened = verdict({
      verdict: 'CHANGES_REQUIRED',
      findings: [finding('It is unclear.'), finding('It is late.', { severity: 'minor' })],
    }).text
    const settled = verdict({
      verdict: 'APPROVED',
      previous: [
        { id: 'F1', status: 'fixed', reason: 'It is clear now.' },
        { id: 'F2', status: 'rejected', reason: 'It need not be early.' },
      ],
      findings: [finding(`It is slow. ${'x'.repeat(2_000)}`, { severity: 'minor' })],
    }).text
    const { root, savePlan } = await fakeReviewedWorktree([opened, settled])
    await savePlan(planText())
    await savePlan(planText('Change the line so that it prints hello.'))
    await runCli(exported, { cwd: root })
    const { findings = [] } = JSON.parse(textIn(root, record)) as ApprovalRecord
    expect(
      findings.map(({ id, severity, state, problem, reason }) => [id, severity, state, problem.length, reason]),
    ).toEqual([
      ['F1', 'major', 'fixed', 14, 'It is clear now.'],
      ['F2', 'minor', 'rejected', 11, 'It need not be early.'],
      ['F3', 'minor', 'open', 600, ''],
    ])
    await runCli([...withLedger, '--summary', 'summary.md'], { cwd: root })
    const summary = textIn(root, 'summary.md')
    expect(summary).toMatch(
      /Approved .*by codex.*; revision 2; .*3 findings of the review.*F1.*fixed.*It is clear now\./s,
    )
    // As an older version wrote it.
    edit(root, record, (text) => JSON.stringify({ ...(JSON.parse(text) as object), findings: undefined }))
    await runCli([...withLedger, '--summary', 'older.md'], { cwd: root })
    expect(textIn(root, 'older.md')).not.toContain('of the review')
  })

  it.each<[string, (repo: string) => void, RegExp]>([
    ['a plan that is not approved', (repo) => savePlan(repo, '# Plan\n'), /✗ approval {2}the gate is closed/],
    [
      'a ledger that was changed',
      (repo) => edit(repo, '.claude/review/events.jsonl', (text) => text.replace('"installed"', '"drift-found"')),
      /✗ ledger {2}line 2/,
    ],
  ])('writes nothing for %s', async (_, forge, says) => {
    const repo = await approvedRepo()
    forge(repo)
    const { stdout, stderr } = await runCli(exported, { cwd: repo, exitCode: 1 })
    expect([stdout, stderr]).toEqual([
      expect.stringMatching(says),
      'Nothing was written: an approval is only exported if everything holds.\n',
    ])
    expect([existsSync(join(repo, record)), existsSync(join(repo, ledger))]).toEqual([false, false])
  })

  it('reports an unwritable file before it checks anything', async () => {
    const repo = await approvedRepo()
    const { stderr } = await runCli(['verify', '--export', 'nix/a.json'], { cwd: repo, exitCode: 2 })
    expect(stderr).toMatch(/nix is not a writable folder[\s\S]*Give another file with --export/)
  })
})

describe('plan-gate verify --plan', () => {
  it('holds in a clone, with and without the ledger, and prints who approved', async () => {
    const repo = clone()
    expect(await check(repo, asked)).toMatchObject({ holds: true, manual: false })
    const { stdout } = await runCli([...withLedger, '--no-manual'], { cwd: repo })
    expect(stdout).toMatch(
      /^✓ plan {2}it is the approved text \([0-9a-f]{12}\)\n✓ approval {2}by checklist, revision 1, \S+\n✓ ledger {2}\d+ events; approved by checklist\n$/,
    )
  })

  it('needs neither git nor a configuration nor a folder of its own', async () => {
    const repo = clone()
    const cwd = temporaryFolder()
    const files = [
      '--plan',
      join(repo, 'docs/plan.md'),
      '--approval',
      join(repo, record),
      '--ledger',
      join(repo, ledger),
    ]
    expect((await check(cwd, ['verify', ...files])).holds).toBe(true)
  })

  it('accepts approval.json of the gate, as well', async () => {
    const repo = await approvedRepo()
    const own = [
      'verify',
      '--plan',
      'docs/plan.md',
      '--approval',
      '.claude/review/approval.json',
      '--ledger',
      '.claude/review/events.jsonl',
    ]
    expect(await check(repo, own)).toMatchObject({ holds: true, manual: false })
  })

  it.each<[string, (repo: string) => void, readonly string[], RegExp]>([
    [
      'another plan',
      (repo) => edit(repo, 'docs/plan.md', (text) => `${text}More.\n`),
      asked,
      /^plan: it is [0-9a-f]{12}, but [0-9a-f]{12} was approved$/,
    ],
    [
      'line ends that git changed',
      (repo) => edit(repo, 'docs/plan.md', (text) => text.replaceAll('\n', '\r\n')),
      asked,
      /only its line endings differ/,
    ],
    [
      'no approval',
      (repo) => rmSync(join(repo, record)),
      asked,
      /^approval: there is none: docs\/plan\.approval\.json does not exist$/,
    ],
    [
      'an approval that is none',
      (repo) => edit(repo, record, (text) => text.replace('true', 'false')),
      asked,
      /^plan: the approval says is_optimal: false/,
    ],
    [
      'an approval by hand where that will not do',
      (repo) => edit(repo, record, (text) => text.replace('"checklist"', '"manual"')),
      [...asked, '--no-manual'],
      /^approval: by hand.*--no-manual/,
    ],
    [
      'an approval without a route where that will not do',
      (repo) => edit(repo, record, (text) => text.replace(/"route":.*\n/, '')),
      [...asked, '--no-manual'],
      /^approval: by hand/,
    ],
    ['no ledger', (repo) => rmSync(join(repo, ledger)), withLedger, /^ledger: there is none/],
    [
      'a ledger that was changed',
      (repo) => edit(repo, ledger, (text) => text.replace('"backend":"checklist"', '"backend":"codex"')),
      withLedger,
      /^ledger: line \d+: it does not follow/,
    ],
    [
      'a ledger that was cut',
      (repo) => edit(repo, ledger, (text) => text.replace(/.*"type":"approved".*\n/, '')),
      withLedger,
      /^ledger: it is not the ledger that the approval was exported with/,
    ],
    [
      'an approval and a plan that the ledger does not know',
      (repo) => {
        write(repo, { 'docs/plan.md': 'Mine.\n' })
        edit(repo, record, (text) => text.replace(/"plan_hash": ".*"/, `"plan_hash": "${hashOf('Mine.\n')}"`))
      },
      withLedger,
      /^ledger: it has no approval of this text/,
    ],
    [
      'another reviewer than the ledger names',
      (repo) => {
        edit(repo, record, (text) => text.replace('"checklist"', '"codex"'))
      },
      [...withLedger],
      /^ledger: it says checklist, but the approval says codex/,
    ],
  ])('does not hold for %s', async (_, forge, args, says) => {
    const repo = clone()
    forge(repo)
    const output = await check(repo, args, 1)
    expect([output.holds, failuresIn(output).join('\n')]).toEqual([false, expect.stringMatching(says)])
  })

  it('a revoked approval does not hold', async () => {
    const repo = await approvedRepo()
    await runCli(exported, { cwd: repo })
    const approved = textIn(repo, 'docs/plan.md')
    savePlan(repo, '# Another plan\n')
    write(repo, { 'docs/plan.md': approved, [ledger]: textIn(repo, '.claude/review/events.jsonl') })
    expect(failuresIn(await check(repo, withLedger, 1))).toEqual(['ledger: the approval of this text was revoked'])
    savePlan(repo, planText('Change the line, twice.'))
    savePlan(repo, approved)
    await runCli(exported, { cwd: repo })
    expect((await check(repo, withLedger)).holds).toBe(true)
  })

  it.each<[string, (repo: string) => void, readonly string[], RegExp]>([
    [
      'a plan that is not there',
      () => {},
      ['verify', '--plan', 'docs/nix.md', '--approval', record],
      /--plan docs\/nix\.md cannot be used: it does not exist/,
    ],
    [
      'a plan that is a folder',
      () => {},
      ['verify', '--plan', 'docs', '--approval', record],
      /--plan docs cannot be used: docs is a directory/,
    ],
    [
      'an approval that is no JSON',
      (repo) => write(repo, { [record]: '{' }),
      asked,
      /--approval \S+ cannot be used: .*is not JSON/,
    ],
    [
      'an approval of another form',
      (repo) => write(repo, { [record]: '{"verdict":"APPROVED"}' }),
      asked,
      /has the wrong form/,
    ],
    [
      'a ledger behind a link',
      (repo) => symlinkSync('plan.events.jsonl', join(repo, 'docs/link')),
      [...asked, '--ledger', 'docs/link'],
      /symbolic link/,
    ],
    ['no approval', () => {}, ['verify', '--plan', 'docs/plan.md'], /--plan needs the approval/],
    [
      'options that mean nothing without a plan',
      () => {},
      ['verify', '--approval', record, '--no-manual', '--base', 'main'],
      /--approval and --no-manual and --base can only be used with --plan/,
    ],
    [
      'a base that nobody knows',
      () => {},
      [...asked, '--base', 'origin/nix'],
      /is not a commit that this clone knows[\s\S]*fetch-depth: 0/,
    ],
    ['strictness about nothing', () => {}, [...asked, '--strict-scope'], /--strict-scope needs a base/],
    [
      'a summary in no folder',
      () => {},
      [...asked, '--summary', 'nix/summary.md'],
      /cannot be written to nix\/summary\.md[\s\S]*Give another file with --summary/,
    ],
    ['a summary of nothing', () => {}, ['verify', '--summary', 'summary.md'], /--summary can only be used with --plan/],
    ['both at once', () => {}, [...asked, '--export', 'a.json'], /cannot be combined/],
  ])('refuses %s', async (_, act, args, says) => {
    const repo = clone()
    act(repo)
    expect((await runCli(args, { cwd: repo, exitCode: 2 })).stderr).toMatch(says)
  })
})

describe('--base', () => {
  const base = ['--base', 'origin/main']

  it('passes if the plan names every changed file; the plan and its record need not be named', async () => {
    const repo = clone()
    expect(await check(repo, [...withLedger, ...base, '--strict-scope'])).toMatchObject({
      holds: true,
      out_of_scope: [],
    })
  })

  it('lists other files, which only fail with --strict-scope', async () => {
    const repo = clone()
    commit(repo, { 'src/more.ts': '', 'a b\u202e.txt': '' })
    const output = await check(repo, [...withLedger, ...base])
    expect([output.holds, output.out_of_scope]).toEqual([true, ['a b\u202e.txt', 'src/more.ts']])
    const { stdout } = await runCli([...withLedger, ...base], { cwd: join(repo) })
    expect(stdout).toContain(
      '! scope  the plan does not name a b.txt, src/more.ts (a warning; with --strict-scope a failure)\n',
    )
    expect(failuresIn(await check(repo, [...withLedger, ...base, '--strict-scope'], 1))).toEqual([
      'scope: the plan does not name a b\u202e.txt, src/more.ts',
    ])
  })

  it('checks only changes since the merge base', async () => {
    const repo = clone()
    const main = git(repo, 'rev-parse', 'origin/main')
    git(repo, 'switch', '--quiet', '--detach', main)
    commit(repo, { 'meanwhile.ts': '' })
    git(repo, 'update-ref', 'refs/remotes/origin/main', 'HEAD')
    git(repo, 'switch', '--quiet', 'change')
    expect((await check(repo, [...asked, '--ledger', ledger, ...base])).out_of_scope).toEqual([])
  })

  it('finds what a merge has taken back, where two histories have crossed', async () => {
    const repo = clone()
    const start = git(repo, 'rev-parse', 'origin/main')
    const side = (name: string, file: string): void => {
      git(repo, 'switch', '--quiet', '-c', name, start)
      commit(repo, { [file]: 'fixed\n' })
    }
    side('one', 'one.txt')
    side('two', 'two.txt')
    git(repo, 'switch', '--quiet', '-c', 'crossed', 'one')
    git(repo, 'merge', '--quiet', '--no-edit', 'two')
    git(repo, 'update-ref', 'refs/remotes/origin/main', 'HEAD')
    // Nothing differs from `one` in two.txt, nor from `two` in one.txt.
    for (const [kept, taken, file] of [
      ['one', 'two', 'two.txt'],
      ['two', 'one', 'one.txt'],
    ] as const) {
      git(repo, 'switch', '--quiet', '-C', 'again', kept)
      git(repo, 'merge', '--quiet', '--no-commit', '--no-ff', taken)
      git(repo, 'rm', '--quiet', '--force', file)
      git(repo, 'commit', '--quiet', '-m', 'merge')
      git(repo, 'merge', '--quiet', '--no-edit', 'change')
      const { holds, out_of_scope } = await check(repo, [...asked, '--ledger', ledger, ...base, '--strict-scope'], 1)
      expect([holds, out_of_scope]).toEqual([false, expect.arrayContaining([file])])
    }
  })
})
