import { appendFileSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readReport } from '../../../src/cli/report.ts'
import type { ReportData } from '../../../src/report/data.ts'
import { writeProgress } from '../../../src/state/revisions.ts'
import { readGitDirs } from '../../../src/system/git-dirs.ts'
import { finding } from '../../support/plan/findings.ts'
import { keepExample } from '../../support/report/keep-example.ts'
import { keepHistory } from '../../support/report/keep-history.ts'
import { fakeSecrets } from '../../support/review/fake-secrets.ts'
import { temporaryRepo, write } from '../../support/temporary-repo.ts'

function read(root: string): ReportData {
  const gitDirs = readGitDirs(root)
  if (gitDirs === null) throw new Error('no git directory')
  return readReport(root, gitDirs)
}

const review = '.claude/review'
const start = '2026-03-03T09:00:00Z'
const wanting = { verdict: 'CHANGES_REQUIRED', findings: [finding('F1')] } as const

describe('what a report is made from', () => {
  it('is every cycle with its revisions and events, the current one last', async () => {
    const root = temporaryRepo()
    await keepExample(root)
    const { cycles } = read(root)
    expect(cycles.map(({ cycle, kind, revisions, events }) => [cycle, kind, revisions.length, events.length])).toEqual([
      [1, 'archived', 1, 6],
      [2, 'current', 3, 10],
    ])
    expect(cycles[1]?.revisions[1]).toMatchObject({
      submitted_at: '2026-03-03T10:06:43.600Z',
      reviewed_at: '2026-03-03T10:10:03.800Z',
      why_none: null,
      passes: [{ outcome: 'valid' }, { outcome: 'malformed' }, { outcome: 'valid' }, { outcome: 'valid' }],
    })
  })

  it('has the cycles whose files are gone, by the ledger', async () => {
    const root = temporaryRepo()
    await keepExample(root)
    rmSync(join(root, review, 'history'), { recursive: true })
    expect(read(root).cycles.map(({ kind, events }) => [kind, events.length])).toEqual([
      ['lost', 6],
      ['current', 10],
    ])
  })

  it.each<{ name: string; act: (root: string) => unknown; gate: object }>([
    {
      name: 'no plan',
      act: (root) => rmSync(join(root, 'docs/plan.md')),
      gate: { kind: 'no-plan', words: 'There is no plan yet.' },
    },
    {
      name: 'a plan that is not approved',
      act: () => undefined,
      gate: { kind: 'closed', words: 'docs/plan.md is not approved yet.' },
    },
    {
      name: 'a reviewer that failed',
      act: (root) => keepHistory(root, start).noReview('# Other\n', 'quota', 'No credit is left.'),
      gate: {
        kind: 'closed',
        words: 'docs/plan.md is not approved yet. The last review failed: quota: No credit is left.',
      },
    },
    {
      name: 'an approval by hand',
      act: (root) => {
        const history = keepHistory(root, start)
        return history.noReview('# Mine\n', 'timeout', 'Too slow.').then(() => history.approveByHand('It is urgent.'))
      },
      gate: { kind: 'open', words: 'The plan was approved by hand: It is urgent.' },
    },
    {
      name: 'a review that is running',
      act: (root) =>
        writeProgress(root, {
          pass: 2,
          passes: 3,
          backend: 'codex',
          started_at: start,
          deadline_at: start,
          revision: 2,
          pid: process.pid,
        }),
      gate: { kind: 'reviewing', words: 'Revision 2 is with codex: pass 2 of 3.' },
    },
  ])('says where the gate stands with $name', async ({ act, gate }) => {
    const root = temporaryRepo()
    await keepHistory(root, start).review({ plan: '# Plan\n', ...wanting })
    await act(root)
    const { gate: found, checks } = read(root)
    expect([found, checks.filter(({ holds }) => !holds)]).toEqual([gate, []])
  })

  it('says why a revision has no verdict', async () => {
    const root = temporaryRepo()
    const history = keepHistory(root, start)
    await history.noReview('# Plan\n', 'rate-limited', 'Asked too often.')
    expect(read(root).cycles[0]?.revisions).toMatchObject([
      { result: null, why_none: 'The review failed (rate-limited): Asked too often.', text: '# Plan\n' },
    ])
  })

  it('leaves out the passes of an earlier review under the same number', async () => {
    const root = temporaryRepo()
    const passes = [1, 2, 3].map((ms) => ({ does: 'review', ms, tokens: 1 }))
    await keepHistory(root, start).review({ plan: '# Plan\n', ...wanting, passes })
    const before = new Date(Date.parse(start) - 60_000)
    utimesSync(join(root, review, 'passes/plan_v1.pass-3.json'), before, before)
    expect(read(root).cycles[0]?.revisions[0]?.passes.map(({ duration_ms: ms }) => ms)).toEqual([1, 2])
  })

  it('has no secrets of the plan, by the patterns of the configuration as well', async () => {
    const token = fakeSecrets.github
    const root = temporaryRepo('shop', { 'plan-gate.yaml': "review:\n  redaction:\n    patterns: ['WIDGET-[0-9]+']\n" })
    await keepHistory(root, start).review({ plan: `# Plan\n\nUse ${token} for WIDGET-1234.\n`, ...wanting })
    const { text, plan_hash: hash, bytes } = read(root).cycles[0]?.revisions[0] ?? {}
    expect(text).toMatch(/^# Plan\n\nUse \S*REDACTED\S* for \S*REDACTED\S*\.\n$/)
    expect([hash, bytes]).toEqual([
      expect.stringMatching(/^[0-9a-f]{64}$/),
      `# Plan\n\nUse ${token} for WIDGET-1234.\n`.length,
    ])
  })

  it('shows no plan that secrets cannot be blanked in', async () => {
    const root = temporaryRepo('shop', { 'plan-gate.yaml': "review:\n  redaction:\n    patterns: ['(a+)+$']\n" })
    await keepHistory(root, start).review({ plan: `# Plan ${'a'.repeat(40)}!\n`, ...wanting })
    const { cycles, problems } = read(root)
    expect([cycles[0]?.revisions[0]?.text, problems]).toEqual([
      null,
      [expect.stringMatching(/^Revision 1 is not shown: secrets in it cannot be redacted/)],
    ])
  })
})

describe('what cannot be read is told, and the rest is there', () => {
  it.each<{ name: string; break: (at: (path: string) => string) => unknown; problem: RegExp }>([
    {
      name: 'a result that is no JSON',
      break: (at) => writeFileSync(at('plan_v1.codex.json'), '{'),
      problem: /^The result of revision 1 cannot be read\.$/,
    },
    {
      name: 'a result of another form',
      break: (at) => writeFileSync(at('plan_v1.codex.json'), '{"verdict":"FINE"}'),
      problem: /^The result of revision 1 cannot be read\.$/,
    },
    {
      name: 'a snapshot that is a link',
      break: (at) => {
        rmSync(at('plan_v1.snapshot.md'))
        symlinkSync('/etc/passwd', at('plan_v1.snapshot.md'))
      },
      problem: /plan_v1\.snapshot\.md is a symbolic link/,
    },
    {
      name: 'a ledger that is a folder',
      break: (at) => {
        rmSync(at('events.jsonl'))
        write(at('events.jsonl'), { x: '' })
      },
      problem: /^The ledger cannot be read: /,
    },
  ])('$name', async ({ break: breakIt, problem }) => {
    const root = temporaryRepo()
    const history = keepHistory(root, start)
    await history.review({ plan: '# Plan\n', ...wanting })
    await history.review({ plan: '# Plan 2\n', ...wanting })
    breakIt((path) => join(root, review, path))
    const { problems, cycles } = read(root)
    expect(problems).toEqual([expect.stringMatching(problem)])
    expect(cycles[0]?.revisions).toHaveLength(2)
    expect(cycles[0]?.revisions[1]).toMatchObject({ text: '# Plan 2\n', result: { verdict: 'CHANGES_REQUIRED' } })
  })

  it('a pass of another form, and a line of the ledger that is torn', async () => {
    const root = temporaryRepo()
    await keepHistory(root, start).review({
      plan: '# Plan\n',
      ...wanting,
      passes: [{ does: 'plan', ms: 1, tokens: 1 }],
    })
    writeFileSync(join(root, review, 'passes/plan_v1.pass-2.json'), '{"pass":"two"}')
    appendFileSync(join(root, review, 'events.jsonl'), '{"torn')
    const { cycles, problems } = read(root)
    expect([cycles[0]?.revisions[0]?.passes.length, cycles[0]?.events.length, problems]).toEqual([1, 2, []])
    expect(readFileSync(join(root, review, 'events.jsonl'), 'utf8')).toMatch(/torn$/)
  })
})
