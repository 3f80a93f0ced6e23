import { afterEach, describe, expect, it } from 'vitest'
import { readEvents, verifyLedger } from '../../../src/state/ledger.ts'
import { finding, planText, verdict } from '../../support/plan-texts.ts'
import { type ReviewedWorktree, reviewedWorktree } from '../../support/reviewed-worktree.ts'
import { runClaude } from '../../support/run-claude.ts'
import { saidBy } from '../../support/servers/responses-record.ts'

let worktree: ReviewedWorktree | undefined
afterEach(() => worktree?.remove())

/** Both real clients, offline: one is told what to write, the other what to think of it. */
describe.each(['newest', 'oldest'] as const)('%s Claude Code and the real Codex', (client) => {
  it('plan, are told what is wrong, revise, are approved, build, and lose the approval with the next edit', async () => {
    worktree = await reviewedWorktree([
      verdict({ verdict: 'CHANGES_REQUIRED', findings: [finding('What is printed is not said.')] }),
      verdict({ verdict: 'APPROVED', previous: [{ id: 'F1', status: 'fixed', reason: 'It says hello now.' }] }),
      verdict({ verdict: 'CHANGES_REQUIRED', findings: [finding('Why it changed again is not said.')] }),
    ])
    const { at, root, api, env } = worktree
    const write = (path: string, content: string) => ({
      tools: [{ name: 'Write', input: { file_path: at(path), content } }],
    })
    const outcome = await runClaude({
      client,
      cwd: root,
      env: { ...env, HOME: worktree.home },
      home: worktree.home,
      turns: [
        write('src/new.ts', 'too early'),
        write('docs/plan.md', planText()),
        write('docs/plan.md', planText('Change the line so that it prints hello.')),
        write('src/new.ts', 'in time'),
        write('docs/plan.md', planText('Something else altogether.')),
        write('src/new.ts', 'too late'),
      ],
      timeoutMs: 90_000,
    })
    expect(outcome.toolResults.map(({ tool, isError }) => [tool, isError])).toEqual([
      ['Write', true],
      ['Write', false],
      ['Write', false],
      ['Write', false],
      ['Write', false],
      ['Write', true],
    ])
    expect(worktree.read('src/new.ts')).toBe('in time')
    const heard = outcome.feedback.join('\n')
    for (const part of ['What is printed is not said.', 'Ready to execute?', 'Why it changed again is not said.'])
      expect(heard).toContain(part)

    // The same thread: the second question comes with the first answer in its history.
    const [first, second, third] = api.requests
    if (first === undefined || second === undefined || third === undefined) throw new Error('Codex was not asked')
    expect(saidBy(first, 'assistant')).toEqual([])
    expect(saidBy(second, 'assistant').join()).toContain('What is printed is not said.')
    expect(saidBy(third, 'assistant')).toHaveLength(2)

    const read = readEvents(root)
    const events = read.kind === 'read' ? read.events : []
    expect(
      events.filter(({ type }) => type === 'reviewed').map(({ revision, verdict: said }) => [revision, said]),
    ).toEqual([
      [1, 'CHANGES_REQUIRED'],
      [2, 'APPROVED'],
      [1, 'CHANGES_REQUIRED'],
    ])
    expect(events.filter(({ type }) => type.startsWith('thread-')).map(({ type }) => type)).toEqual(['thread-started'])
    expect(verifyLedger(root)).toMatchObject({ kind: 'intact', tornBytes: 0 })
  }, 120_000)
})
