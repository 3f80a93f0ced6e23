import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ReportData } from '../../../src/report/data.ts'
import { planText } from '../../support/plan-texts.ts'
import { keepExample } from '../../support/report/keep-example.ts'
import { keepHistory } from '../../support/report/keep-history.ts'
import { type CliOutcome, fakePrograms, runCli } from '../../support/run-cli.ts'
import { askGate } from '../../support/run-hook.ts'
import { statusOf, temporaryFolder, temporaryRepo } from '../../support/temporary-repo.ts'
import { approves, openWorktree, unclear } from '../plan-review-e2e/open-worktree.ts'

const page = (path: string): string => readFileSync(path, 'utf8')

/** Which of these words nobody would read in the page. */
function missing(words: readonly string[], path: string): string[] {
  const text = page(path).replace(/<style>[\s\S]*?<\/style>|<script[\s\S]*?<\/script>|<[^>]*>/g, '')
  return words.filter((each) => !text.includes(each))
}

/** A repository with reviews in it. */
async function reviewedRepo(): Promise<string> {
  const repo = temporaryRepo()
  await keepExample(repo)
  return repo
}

const dataOf = ({ stdout }: CliOutcome): ReportData => JSON.parse(stdout) as ReportData

describe('plan-gate report', () => {
  it('tells of what really happened, and leaves no trace in git', async () => {
    const worktree = await openWorktree([unclear, approves])
    const { root, at } = worktree
    await worktree.savePlan(planText('One.'))
    askGate(root, 'Write', { file_path: at('src/app.ts') }, { session_id: 'a-session' })
    await worktree.savePlan(planText('Two.'))
    const before = statusOf(root)
    const { stdout } = await runCli(['report'], { cwd: at('src') })
    expect(stdout).toBe(`The report is in ${at('.claude/review/report.html')}\n`)
    expect(statusOf(root)).toBe(before)
    const words = ['The gate is open', 'It is unclear.', 'fixed in v2', 'src/app.ts']
    expect(missing(words, at('.claude/review/report.html'))).toEqual([])
    const { gate, cycles, sessions, checks, problems } = dataOf(await runCli(['report', '--json'], { cwd: root }))
    expect({ gate, problems, broken: checks.filter(({ holds }) => !holds) }).toEqual({
      gate: {
        kind: 'open',
        words: 'Revision 2 of the plan is approved by codex, a single pass, not verified, with the repository.',
      },
      problems: [],
      broken: [],
    })
    expect(cycles).toHaveLength(1)
    expect(cycles[0]?.revisions.map(({ text, result }) => [text?.includes('One.'), result?.verdict])).toEqual([
      [true, 'CHANGES_REQUIRED'],
      [false, 'APPROVED'],
    ])
    const [first] = cycles[0]?.revisions ?? []
    expect(first?.passes).toMatchObject([{ does: 'plan', backend: 'codex', outcome: 'valid', why: null }])
    expect(first?.passes[0]).not.toHaveProperty('answer')
    expect(sessions.map(({ session, denials }) => [session, denials.map(({ tool }) => tool)])).toEqual([
      ['a-session', ['Write']],
    ])
  })

  it.each([
    { name: 'in a repository without a gate', act: async (): Promise<unknown> => undefined },
    { name: 'after the install', act: (cwd: string) => runCli(['install', '--reviewer', 'checklist'], { cwd }) },
  ])('has nothing to say $name, and says what to do', async ({ act }) => {
    const cwd = temporaryRepo()
    await act(cwd)
    const { stderr, stdout } = await runCli(['report'], { cwd, exitCode: 2 })
    expect([stdout, stderr]).toEqual([
      '',
      expect.stringMatching(/nothing to report yet[\s\S]*→ Let Claude write docs\/plan\.md/),
    ])
    expect(existsSync(join(cwd, '.claude/review/report.html'))).toBe(false)
    const json = await runCli(['report', '--json'], { cwd, exitCode: 2 })
    expect(JSON.parse(json.stdout)).toMatchObject({ event: 'error', exit_code: 2 })
  })

  it('goes where it is told to', async () => {
    const cwd = await reviewedRepo()
    const printed = await runCli(['report', '--output', '-'], { cwd })
    expect(printed.stdout).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/)
    await runCli(['report', '-o', 'review.html'], { cwd })
    expect(page(join(cwd, 'review.html'))).toContain('Revision 3 of the plan is approved by codex, ')
  })

  it.each([
    { args: ['--output', 'no/such/folder.html'], says: /cannot be written \(ENOENT\)[\s\S]*→ Create the folder/ },
    { args: ['--output', 'docs'], says: /cannot be written \(EISDIR\)[\s\S]*→ Name another file/ },
    { args: ['--output', '-', '--open'], says: /--open needs a file[\s\S]*→ Leave out --output/ },
    { args: ['--from', 'nowhere'], says: /nowhere contains no reviews[\s\S]*→ Name the folder/ },
    { args: ['--from', 'docs'], says: /docs contains no reviews/ },
  ])('$args is refused with the next step', async ({ args, says }) => {
    const { stderr } = await runCli(['report', ...args], { cwd: await reviewedRepo(), exitCode: 2 })
    expect(stderr).toMatch(says)
  })

  it('does not write through a link that somebody laid', async () => {
    const cwd = await reviewedRepo()
    const target = join(temporaryFolder(), 'target')
    symlinkSync(target, join(cwd, '.claude/review/report.html'))
    const { stderr } = await runCli(['report'], { cwd, exitCode: 1 })
    expect([existsSync(target), stderr]).toEqual([false, expect.stringContaining('is a symbolic link')])
  })

  it('works on reviews that were kept', async () => {
    const cwd = await reviewedRepo()
    const kept = join(temporaryFolder(), 'kept')
    await runCli(['uninstall', '--keep-reviews', kept], { cwd })
    expect(existsSync(join(cwd, '.claude/review'))).toBe(false)
    const folder = temporaryFolder()
    await runCli(['report', '--from', kept, '--output', 'kept.html'], { cwd: folder })
    const words = ['Kept reviews', 'Approved by hand', 'rejected in v2', 'Session b7a1e6c0']
    expect(missing(words, join(folder, 'kept.html'))).toEqual([])
    expect((await runCli(['report', '--from', kept], { cwd: folder })).stdout).toContain(join(kept, 'report.html'))
    const { gate, checks, cycles } = dataOf(await runCli(['report', '--from', kept, '--json'], { cwd: folder }))
    expect([gate.kind, checks.every(({ holds }) => holds), cycles.length]).toEqual(['kept', true, 2])
  })

  it('works on another worktree as well, with its gate', async () => {
    const { gate, cycles } = dataOf(
      await runCli(['report', '--from', await reviewedRepo(), '--json'], { cwd: temporaryFolder() }),
    )
    expect([gate.kind, ...cycles.map(({ revisions }) => revisions.length)]).toEqual(['open', 1, 3])
  })

  it('keeps what would turn text on a terminal out of its JSON, and loses none of it', async () => {
    const cwd = temporaryRepo()
    await keepHistory(cwd, '2026-03-03T09:00:00Z').review({ plan: 'a\u202eb\u{e0041}\u009b\n', verdict: 'APPROVED' })
    const outcome = await runCli(['report', '--json'], { cwd })
    expect(outcome.stdout).not.toMatch(/[\u007f-\u009f]|\p{Cf}/u)
    expect(dataOf(outcome).cycles[0]?.revisions[0]?.text).toBe('a\u202eb\u{e0041}\u009b\n')
  })

  it('says how it is used', async () => {
    const { stdout } = await runCli(['report', '--help'], { cwd: temporaryFolder() })
    for (const words of ['--output', '--from', '--open', '--json', 'Examples:', 'Exit code:'])
      expect(stdout).toContain(words)
  })
})

describe.skipIf(process.platform !== 'linux')('plan-gate report --open', () => {
  it.each([
    { name: 'the only one', scripts: {} },
    { name: 'the next one where the first fails', scripts: { wslview: 'exit 1' } },
  ])('hands the page to an opener: $name', async ({ scripts }) => {
    const cwd = await reviewedRepo()
    const opener = { 'xdg-open': `printf %s "$1" > "${cwd}/opened"` }
    const programs = fakePrograms(temporaryFolder(), { ...opener, ...scripts })
    const { stdout, stderr } = await runCli(['report', '--open'], { cwd, programs })
    expect([stdout, stderr]).toEqual([`The report is in ${cwd}/.claude/review/report.html\n`, ''])
    expect(page(join(cwd, 'opened'))).toBe(`file://${cwd}/.claude/review/report.html`)
  })

  it('says so where the opener fails', async () => {
    const programs = fakePrograms(temporaryFolder(), { 'xdg-open': 'exit 3' })
    const { stderr } = await runCli(['report', '--open'], { cwd: await reviewedRepo(), programs })
    expect(stderr).toMatch(/xdg-open failed \(exit code 3\)\. Open the file yourself\./)
  })

  it('says where the page is when there is none', async () => {
    const cwd = await reviewedRepo()
    const PATH = join(temporaryFolder(), 'bin')
    mkdirSync(PATH)
    symlinkSync(execFileSync('which', ['git'], { encoding: 'utf8' }).trim(), join(PATH, 'git'))
    const { stdout, stderr } = await runCli(['report', '--open'], { cwd, env: { PATH } })
    expect(stdout).toContain(`${cwd}/.claude/review/report.html`)
    expect(stderr).toMatch(/No program was found that opens a browser\. Open the file yourself\./)
  })
})
