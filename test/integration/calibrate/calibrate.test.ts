import { once } from 'node:events'
import { appendFileSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { codeClasses, planClasses } from '../../../src/calibrate/cases.ts'
import type { Calibration } from '../../../src/schemas/calibration.ts'
import { savePlan } from '../../support/approved-repo.ts'
import { runCli, startCli } from '../../support/run-cli.ts'
import { type Act, apiError, chatReply, type OpenAiHttp, startOpenAiHttp } from '../../support/servers/openai-http.ts'
import { commit, git, snapshot, temporaryRepo } from '../../support/temporary-repo.ts'

const answer = (verdict: 'APPROVED' | 'CHANGES_REQUIRED', findings: readonly object[] = []): Act =>
  chatReply(
    JSON.stringify({
      verdict,
      is_optimal: verdict === 'APPROVED',
      summary: 'Read.',
      question: null,
      findings,
      previous_findings: [],
      context_summary: null,
      complexity: null,
    }),
  )

const approves = answer('APPROVED')

/** A judge that says the same of each pair. */
const answersOf =
  (same: boolean): Act =>
  (response, received) => {
    const pairs = JSON.stringify(received.body).match(/\\"pair\\": \d+,/g)?.length ?? 0
    const answers = Array.from({ length: pairs }, (_, n) => ({ pair: n + 1, same }))
    chatReply(JSON.stringify({ answers }))(response, received)
  }

const rowOf = (name: string, { url }: OpenAiHttp, model: string): string =>
  `    - {backend: curl, name: ${name}, model: ${model}, base_url: "${url}/v1", api: chat, when: [always], fail_mode: hard_fail, price: {input: 1, output: 10}}\n`

const repoWith = (...rows: readonly string[]): string =>
  temporaryRepo('shop', { 'plan-gate.yaml': `review:\n  routes:\n${rows.join('')}` })

/** Two defects and three controls, twice: ten reviews of one question. */
const small = [
  'calibrate',
  '--classes',
  'rollback-removed,path-missing',
  '--plans',
  '1',
  '--repeat',
  '2',
  '--only-shipped',
]
const reviews = 10
const journalsIn = (repo: string): readonly string[] => {
  const folder = join(repo, '.git/plan-gate/calibration')
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
}
const measured = async (repo: string, ...args: readonly string[]): Promise<Calibration> =>
  JSON.parse((await runCli([...small, '--yes', '--json', ...args], { cwd: repo })).stdout) as Calibration

const promptsOf = ({ received }: OpenAiHttp): readonly string[] => received.map(({ body }) => JSON.stringify(body))

describe('before anything is paid for', () => {
  it('shows the cases and what they would take, asks nobody and leaves nothing', async () => {
    const server = await startOpenAiHttp(approves)
    const repo = repoWith(rowOf('one', server, 'm1'))
    const before = snapshot(repo)
    const { stdout } = await runCli([...small, '--dry-run'], { cwd: repo })
    expect(stdout).toMatch(/^[\w-]+ rollback-removed$/m)
    expect(stdout).toContain('5 copies, 2 times by each of: one.')
    expect(stdout).toContain('10 reviews, about 10 questions. What they take is not known yet')
    const asked = await runCli(small, { cwd: repo, exitCode: 2 })
    expect(asked.stderr).toContain('nobody can be asked here')
    expect(asked.stderr).toContain('Give --yes')
    expect([server.received.length, snapshot(repo)]).toEqual([0, before])
  })

  it.each([
    [['--routes', 'two'], 'the route table has no row "two"'],
    [['--effort', 'most'], 'expected'],
    [['--routes', ','], '--routes ,: a name is empty'],
    [['--effort', ','], '--effort ,: a name is empty'],
    [['--readers', '1,'], '--readers 1,: a name is empty'],
    [['--classes', ''], '--classes : a name is empty'],
    [['--readers', '9'], 'is not a whole number from 1 to 5'],
    [['--classes', 'rollback'], 'there is no class "rollback"'],
    [['--judge', 'one'], 'it would judge itself'],
    [['--only-own'], 'leave nothing'],
    [['--diff'], 'there is no class "rollback-removed" of changes'],
  ])('refuses %j', async (args, said) => {
    const server = await startOpenAiHttp(approves)
    const repo = repoWith(rowOf('one', server, 'm1'))
    expect((await runCli([...small, ...args, '--yes'], { cwd: repo, exitCode: 2 })).stderr).toContain(said)
    expect(server.received).toHaveLength(0)
  })
})

const refuses = chatReply('', { message: { role: 'assistant', content: null, refusal: 'I cannot help with that.' } })

describe('a measurement', () => {
  it('is not forgotten by --fresh before it was agreed to, and set aside then', async () => {
    const server = await startOpenAiHttp(approves)
    const repo = repoWith(rowOf('one', server, 'm1'))
    await measured(repo)
    const journal = journalsIn(repo).find((path) => path.endsWith('.jsonl')) ?? ''
    const kept = readFileSync(journal, 'utf8')
    const refused = await runCli([...small, '--fresh'], { cwd: repo, exitCode: 2 })
    expect(refused.stderr).toContain('10 reviews, about 10 questions')
    expect(readFileSync(journal, 'utf8')).toBe(kept)
    await measured(repo, '--fresh')
    expect(readFileSync(`${journal}.old`, 'utf8')).toBe(kept)
    expect(readFileSync(journal, 'utf8')).not.toBe(kept)
  })

  it('is made by one process at a time, and the other says which one is at work', async () => {
    const server = await startOpenAiHttp((response, received) => {
      if (server.received.length !== 3) approves(response, received)
    })
    const repo = repoWith(rowOf('one', server, 'm1'))
    const first = startCli([...small, '--yes'], { cwd: repo })
    const ended = once(first, 'exit')
    while (server.received.length < 3 && first.exitCode === null) await sleep(5)
    const journal = journalsIn(repo).find((path) => path.endsWith('.jsonl')) ?? ''
    const kept = readFileSync(journal, 'utf8')
    const second = await runCli([...small, '--yes', '--fresh'], { cwd: repo, exitCode: 2 })
    expect(second.stderr).toContain('The same measurement is running already, as process ')
    expect([readFileSync(journal, 'utf8'), server.received.length]).toEqual([kept, 3])
    process.kill(-Number(first.pid), 'SIGINT')
    await ended
  }, 30_000)

  it('reads what is kept after it has waited for the one before', async () => {
    const server = await startOpenAiHttp((response, received) => {
      setTimeout(() => approves(response, received), 100)
    })
    const repo = repoWith(rowOf('one', server, 'm1'))
    await Promise.all([1, 2].map(() => runCli([...small, '--yes'], { cwd: repo })))
    expect(server.received).toHaveLength(reviews)
  }, 30_000)

  it('names the folder where it cannot keep anything, before it asks anybody', async () => {
    const server = await startOpenAiHttp(approves)
    const repo = repoWith(rowOf('one', server, 'm1'))
    writeFileSync(join(repo, '.git/plan-gate'), '')
    const { stderr } = await runCli([...small, '--yes'], { cwd: repo, exitCode: 2 })
    expect(stderr).toContain(
      `${join(repo, '.git/plan-gate/calibration')}, and that cannot be written: plan-gate is a file, not a directory.`,
    )
    expect(server.received).toHaveLength(0)
  })

  it('passes over what a model refuses, and leaves a row that always fails behind', async () => {
    const works = await startOpenAiHttp((response, received) =>
      (works.received.length === 1 ? refuses : approves)(response, received),
    )
    const broken = await startOpenAiHttp(apiError(401, { message: 'No such key.' }))
    const repo = repoWith(rowOf('bad', broken, 'm0'), rowOf('good', works, 'm1'))
    const { stdout } = await runCli([...small, '--yes', '--json'], { cwd: repo, exitCode: 1 })
    const result = JSON.parse(stdout) as Calibration
    expect(result.cells.find(({ name }) => name === 'good')).toMatchObject({ reviews: 9, failed: 1 })
    expect(result.why).toMatch(/^bad is not asked any more: .*9 of 20 reviews are done and kept; the same command/)
    expect(broken.received).toHaveLength(1)
  })

  it('says once that the judge failed and why, and goes on without one', async () => {
    const server = await startOpenAiHttp(approves)
    const broken = await startOpenAiHttp(apiError(401, { message: 'No such key.' }))
    const repo = repoWith(rowOf('one', server, 'm1'), rowOf('third', broken, 'm3'))
    const args = [...small, '--yes', '--routes', 'one', '--judge', 'third']
    const dry = await runCli([...args, '--dry-run'], { cwd: repo })
    expect(dry.stdout).toMatch(/10 reviews, about 10 questions and up to \d+ questions to the judge/)
    const { stdout } = await runCli(args, { cwd: repo })
    expect(stdout.match(/The judge, third, did not answer everything: /g)).toHaveLength(1)
    expect(stdout).not.toContain('kappa 0.00')
    expect(broken.received).toHaveLength(1)
  })

  it('counts what the judge is asked into --max-calls', async () => {
    const server = await startOpenAiHttp(approves)
    const judge = await startOpenAiHttp(answersOf(true))
    const repo = repoWith(rowOf('one', server, 'm1'), rowOf('third', judge, 'm3'))
    const args = ['--routes', 'one', '--judge', 'third', '--max-calls']
    const first = await measured(repo, ...args, '11')
    expect([server.received.length, judge.received.length]).toEqual([10, 1])
    expect(first).toMatchObject({ complete: true, judge: { pairs: 20, why: '--max-calls is used up.' } })
    expect((await measured(repo, ...args, '100')).judge?.why).toBeNull()
    // Another model under the same name has not answered anything yet.
    writeFileSync(
      join(repo, 'plan-gate.yaml'),
      `review:\n  routes:\n${rowOf('one', server, 'm1')}${rowOf('third', judge, 'm4')}`,
    )
    const asked = judge.received.length
    await measured(repo, ...args, '1')
    expect(judge.received).toHaveLength(asked + 1)
  })

  it('asks each case as often as it was told, tells nobody what it looks for, and is not paid for twice', async () => {
    const server = await startOpenAiHttp(approves)
    const repo = repoWith(rowOf('one', server, 'm1'))
    const result = await measured(repo)
    expect(server.received).toHaveLength(reviews)
    expect(result).toMatchObject({
      complete: true,
      defects: 2,
      controls: 3,
      cells: [
        { name: 'one', reviews, failed: 0, recall: { hits: 0, of: 4 }, false_blocks: { hits: 0, of: 6 }, tokens: 160 },
      ],
    })
    // 10 · (120 · 1 + 40 · 10) / 1,000,000; what was cached costs the same here.
    expect(result.cells[0]?.dollars).toBeCloseTo(0.0052, 6)
    const prompts = promptsOf(server).join('\n')
    for (const word of [...planClasses, ...codeClasses, 'mutat', 'calibrat', 'seeded', 'There is no way back any more'])
      expect(prompts).not.toContain(word)

    await measured(repo)
    expect(server.received).toHaveLength(reviews)
    await measured(repo, '--repeat', '3')
    expect(server.received).toHaveLength(reviews + 5)
    await measured(repo, '--fresh')
    expect(server.received).toHaveLength(reviews + 5 + reviews)
    expect(git(repo, 'status', '--porcelain')).toBe('')
  })

  it('goes on where Ctrl-C has ended it, and pays for no review twice', async () => {
    let hangs = false
    const server = await startOpenAiHttp((response, received) => {
      if (server.received.length === 4 && !hangs) hangs = true
      else approves(response, received)
    })
    const repo = repoWith(rowOf('one', server, 'm1'))
    const cut = startCli([...small, '--yes'], { cwd: repo })
    const ended = once(cut, 'exit') as Promise<[number | null]>
    let said = ''
    cut.stderr.on('data', (piece) => {
      said += piece
    })
    while (!hangs && cut.exitCode === null) await sleep(5)
    process.kill(-Number(cut.pid), 'SIGINT')
    expect((await ended)[0]).toBe(130)
    expect(said).toContain('Stopped: 3 of 10 reviews are done and kept.')
    expect(said).toContain('The same command goes on from there.')
    expect(server.received).toHaveLength(4)

    // A line that a crash has torn is nothing that was kept.
    const [journal = ''] = journalsIn(repo)
    appendFileSync(journal, '{"kind":"review","key":"one | torn')
    const result = await measured(repo)
    expect(result).toMatchObject({ complete: true, cells: [{ reviews, failed: 0 }] })
    // The one that was cut off was never answered.
    expect(server.received).toHaveLength(reviews + 1)
    const lines = readFileSync(journal, 'utf8')
      .split('\n')
      .filter((line) => line.endsWith('}'))
    expect(lines).toHaveLength(reviews)
  })

  it('ends at once where there is no quota left, says how to go on, and counts no failure as a miss', async () => {
    const noQuota = apiError(429, {
      code: 'insufficient_quota',
      type: 'insufficient_quota',
      message: 'You exceeded your quota.',
    })
    let isEmpty = true
    const server = await startOpenAiHttp((response, received) =>
      (isEmpty && server.received.length > 2 ? noQuota : approves)(response, received),
    )
    const repo = repoWith(rowOf('one', server, 'm1'))
    const { stdout } = await runCli([...small, '--yes', '--json'], { cwd: repo, exitCode: 1 })
    expect(server.received).toHaveLength(3)
    const first = JSON.parse(stdout) as Calibration
    expect(first).toMatchObject({ complete: false, cells: [{ reviews: 2, failed: 1 }] })
    expect(first.why).toContain('the same command goes on')
    isEmpty = false
    expect(await measured(repo)).toMatchObject({ complete: true, cells: [{ reviews, failed: 1 }] })
    expect(server.received).toHaveLength(reviews + 1)
  })

  it('ends after --max-calls, and says so', async () => {
    const server = await startOpenAiHttp(approves)
    const repo = repoWith(rowOf('one', server, 'm1'))
    const { stdout } = await runCli([...small, '--yes', '--max-calls', '4'], { cwd: repo })
    expect(stdout).toContain('Not complete: --max-calls is used up. 4 of 10 reviews are done')
    expect(server.received).toHaveLength(4)
  })

  it('compares two rows, with a judge for what code leaves open', async () => {
    // It names the place and leaves the matter in the dark.
    const vague = {
      id: null,
      severity: 'major',
      section: 'Context',
      problem: 'This path is odd.',
      evidence: '',
      fix: 'Look.',
    }
    const blind = await startOpenAiHttp(approves)
    const wary = await startOpenAiHttp(answer('CHANGES_REQUIRED', [vague]))
    const judge = await startOpenAiHttp(answersOf(true))
    const repo = repoWith(rowOf('one', blind, 'm1'), rowOf('two', wary, 'm2'), rowOf('third', judge, 'm3'))
    const result = await measured(repo, '--routes', 'one,two', '--judge', 'third')
    expect(result).toMatchObject({
      cells: [
        { name: 'one', false_blocks: { share: 0 } },
        { name: 'two', false_blocks: { share: 1 } },
      ],
      comparisons: [{ is_apart: false, words: expect.stringContaining('cannot be distinguished') }],
      judge: { route: 'third' },
    })
    // It says yes to everything, which is half of the sample and says nothing.
    expect(result.judge?.pairs).toBeGreaterThanOrEqual(40)
    expect(result.judge?.kappa).toBe(0)
    expect(result.bases.some((base) => base.is_held)).toBe(false)
    expect(result.proposal).toBeNull()
    const asked = judge.received.length
    await measured(repo, '--routes', 'one,two', '--judge', 'third')
    expect(judge.received).toHaveLength(asked)
    const { stdout } = await runCli([...small, '--yes', '--routes', 'one,two', '--judge', 'third'], { cwd: repo })
    expect(stdout).toMatch(/^two .* 1\.00 \(0\.\d\d–1\.00\)/m)
    expect(stdout).toContain(
      'No order is proposed: of independent cases, one about 2 and two about 2; it takes 20 or more',
    )
    expect(stdout).toContain('the intervals are about these only')
    expect(stdout).toContain('That is too little to rely on it')
    expect(stdout).not.toContain('For plan-gate.yaml:')
  })
})

describe("one's own texts", () => {
  const plan = (title: string): string => `# ${title}

## Goal

Search answers within 200 ms, as the page of the shop allows.

## Context

\`src/search.ts\` reads every document. \`src/view.ts\` calls it. 200 ms is what the page waits for.

## Approach

1. Add \`buildIndex()\` to \`src/search.ts\`.
2. Call \`buildIndex()\` in \`src/view.ts\`.

## Changes

- \`src/search.ts\` (changed): \`buildIndex()\`
- \`src/view.ts\` (changed): calls it

## Risks

- Rollback: deploy the version of before.
- If the search server is unreachable, the old way is taken.

## Open Questions

None.
`

  it('are plans that were approved, with the repository as it was then', async () => {
    const server = await startOpenAiHttp(approves)
    const repo = repoWith(rowOf('one', server, 'm1'))
    commit(repo, { 'src/search.ts': 'export {}\n', 'src/view.ts': 'export {}\n' })
    await runCli(['install', '--reviewer', 'checklist'], { cwd: repo })
    savePlan(repo, plan('Find faster'))
    // The reviewer of the install is the checklist: it has approved, and it is no model.
    const none = await runCli(['calibrate', '--only-own', '--yes'], { cwd: repo, exitCode: 2 })
    expect(none.stderr).toContain('No row of the route table could review now')
    await runCli(['install', '--reviewer', 'curl'], { cwd: repo, env: { OPENAI_API_KEY: 'none' } })
    const { stdout } = await runCli(['calibrate', '--only-own', '--dry-run', '--routes', 'curl'], {
      cwd: repo,
      env: { OPENAI_API_KEY: 'none' },
    })
    expect(stdout).toMatch(/^own-[0-9a-f]{8} rollback-removed {2}\(the commit that it was planned on is not known/m)
    expect(stdout).toMatch(/^own-[0-9a-f]{8} caller-not-listed/m)
    expect(stdout).toMatch(/^own-[0-9a-f]{8} unchanged/m)
    // What was asked for is not known, so nothing of it can be missing.
    expect(stdout).not.toContain('requirement-dropped')
    const env = { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: `${server.url}/v1` }
    const args = ['calibrate', '--only-own', '--routes', 'curl', '--repeat', '1', '--yes', '--json']
    const result = JSON.parse((await runCli(args, { cwd: repo, env })).stdout) as Calibration
    expect(result).toMatchObject({ complete: true, bases: [{ origin: 'own' }], cells: [{ name: 'curl', failed: 0 }] })
    expect(server.received).toHaveLength(result.defects + result.controls)
    expect(promptsOf(server).every((prompt) => prompt.includes('Find faster'))).toBe(true)
    // The worktree itself is not touched.
    expect(readFileSync(join(repo, 'docs/plan.md'), 'utf8')).toBe(plan('Find faster'))
  })

  it('are the plans of worktrees that are finished, against the commit that they started from', async () => {
    const server = await startOpenAiHttp(approves)
    const repo = repoWith(rowOf('one', server, 'm1'))
    commit(repo, { 'src/search.ts': 'export {}\n', 'src/view.ts': 'export {}\n' })
    await runCli(['bootstrap', '--no-launch', '--reviewer', 'checklist', '--name', 'x'], { cwd: repo })
    savePlan(`${repo}-x`, plan('Find faster'))
    await runCli(['finish', `${repo}-x`, '--discard', 'uncommitted'], { cwd: repo })
    commit(repo, { 'src/view.ts': 'export const later = 1\n' })
    const { stdout } = await runCli(['calibrate', '--only-own', '--dry-run'], { cwd: repo })
    expect(stdout).toMatch(/^own-[0-9a-f]{8} rollback-removed$/m)
    const args = ['calibrate', '--only-own', '--classes', 'path-missing', '--repeat', '1', '--yes', '--json']
    expect(JSON.parse((await runCli(args, { cwd: repo })).stdout)).toMatchObject({ complete: true, defects: 1 })
  })

  it('are small commits, and their message is what was asked for', async () => {
    const server = await startOpenAiHttp(approves)
    const repo = repoWith(rowOf('one', server, 'm1'))
    const source =
      'export async function read(db, id) {\n  const row = await db.find(id)\n  if (row === null) return null\n  if (row.age >= 18) return row.name\n  return null\n}\n'
    commit(repo, { 'src/read.ts': source }, 'Read a name by its id')
    const args = ['calibrate', '--diff', '--only-own', '--repeat', '1', '--yes', '--json']
    const result = JSON.parse((await runCli(args, { cwd: repo })).stdout) as Calibration
    expect(result).toMatchObject({
      type: 'code',
      complete: true,
      bases: [{ origin: 'own', name: expect.stringMatching(/^commit-/) }],
    })
    expect(result.cells[0]?.classes.map((each) => each.class)).toEqual(
      expect.arrayContaining(['await-dropped', 'check-removed', 'bound-off-by-one']),
    )
    const prompts = promptsOf(server)
    expect(prompts.every((prompt) => prompt.includes('Read a name by its id') && prompt.includes('diff --git'))).toBe(
      true,
    )
    expect(prompts.some((prompt) => prompt.includes('row = db.find(id)'))).toBe(true)
  })

  it('are commits that are sent as a whole, and whose edits may be in place', async () => {
    const server = await startOpenAiHttp(approves)
    const repo = repoWith(rowOf('one', server, 'm1'))
    const guarded = (n: number, name: string): string =>
      Array.from(
        { length: n },
        (_, at) =>
          `export async function f${at}(db) {\n  const row = await db.${name}(${at})\n  if (row === null) return null\n  return row\n}\n`,
      ).join('')
    const last = (): string => `commit-${git(repo, 'rev-parse', 'HEAD').trim().slice(0, 8)}`
    commit(repo, { 'src/a.ts': guarded(200, 'find') }, 'Too large')
    commit(repo, { 'src/a.ts': guarded(201, 'load') }, 'Few more lines, and all are others')
    const huge = last()
    commit(repo, { 'src/a.ts': guarded(201, 'load').replace('db.load(7)', 'db.first(7)') }, 'In place')
    const inPlace = last()
    commit(repo, { 'src/b.ts': `const long = '${'word '.repeat(40_000)}'\n${guarded(1, 'find')}` }, 'A long line')
    const long = last()
    symlinkSync('a.ts', join(repo, 'src/link.ts'))
    commit(repo, { 'src/c.ts': guarded(4, 'find') }, 'A file and a link')
    const linked = last()
    const args = ['calibrate', '--diff', '--only-own', '--repeat', '1']
    const { stdout, stderr } = await runCli([...args, '--dry-run'], { cwd: repo })
    expect(stdout).toContain(`${inPlace} await-dropped`)
    for (const left of [huge, long, linked]) expect(stdout).not.toContain(left)
    expect(stderr).toContain(`${linked} is left out: "src/link.ts" is a symbolic link or a submodule.`)
    const result = JSON.parse((await runCli([...args, '--yes', '--json'], { cwd: repo })).stdout) as Calibration
    expect(result).toMatchObject({ complete: true, cells: [{ failed: 0 }] })
  })

  it('stand beside the figures in the report', async () => {
    const server = await startOpenAiHttp(approves)
    const repo = repoWith(rowOf('one', server, 'm1'))
    commit(repo, { 'src/search.ts': 'export {}\n', 'src/view.ts': 'export {}\n' })
    const result = await measured(repo)
    await runCli(['install', '--reviewer', 'checklist'], { cwd: repo })
    savePlan(repo, plan('Find faster'))
    const { stdout } = await runCli(['report', '--json'], { cwd: repo })
    expect((JSON.parse(stdout) as { calibration?: Calibration }).calibration).toEqual(result)
    await runCli(['report', '--output', 'report.html'], { cwd: repo })
    const page = readFileSync(join(repo, 'report.html'), 'utf8')
    expect(page).toContain('How much the reviewers find')
    expect(page).toContain('0.00 (0.00–')
    expect(page).toContain('plans with one defect')
    expect(page).not.toContain('Not complete')
  })

  it('stand there as unfinished where they are', async () => {
    const server = await startOpenAiHttp(approves)
    const repo = repoWith(rowOf('one', server, 'm1'))
    commit(repo, { 'src/search.ts': 'export {}\n', 'src/view.ts': 'export {}\n' })
    await measured(repo, '--max-calls', '4')
    await runCli(['install', '--reviewer', 'checklist'], { cwd: repo })
    savePlan(repo, plan('Find faster'))
    await runCli(['report', '--output', 'report.html'], { cwd: repo })
    const unfinished = readFileSync(join(repo, 'report.html'), 'utf8')
    expect(unfinished).toContain('Not complete.')
    expect(unfinished).toContain('4 of 10 reviews are done and kept')
    expect(unfinished).toContain('to be reviewed 2 times')
    expect(unfinished).toContain('No order is proposed')
  })

  it('and figures leave nothing behind after the last uninstall', async () => {
    const server = await startOpenAiHttp(approves)
    const repo = repoWith(rowOf('one', server, 'm1'))
    await measured(repo)
    git(repo, 'worktree', 'add', '--quiet', '../other')
    const other = join(repo, '../other')
    await runCli(['install', '--reviewer', 'checklist'], { cwd: other })
    expect(journalsIn(repo)).not.toEqual([])
    await runCli(['uninstall'], { cwd: other })
    expect(existsSync(join(repo, '.git/plan-gate'))).toBe(false)
  })
})
