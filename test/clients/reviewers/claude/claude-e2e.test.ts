import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { claudeBinary, codexBinary } from '../../../support/claude-clients.ts'
import { type GatedWorktree, gatedWorktree } from '../../../support/gated-worktree.ts'
import { finding, planText, verdict } from '../../../support/plan-texts.ts'
import { fireAfterWrite } from '../../../support/reviewed-worktree.ts'
import { fakeKey } from '../../../support/reviewer-fixture.ts'
import { runClaude } from '../../../support/run-claude.ts'
import { runCli } from '../../../support/run-cli.ts'
import { askGate, runHook } from '../../../support/run-hook.ts'
import { type MessagesApi, startMessagesApi, type Turn } from '../../../support/servers/messages-api.ts'
import { type MessagesRequest, textOf } from '../../../support/servers/messages-record.ts'

/** Whole reviews with the real Claude Code as the reviewer. */
type Setting = { worktree: GatedWorktree; api: MessagesApi; env: { [name: string]: string }; home: string }

async function withReviewer(
  turns: (request: MessagesRequest, n: number) => Turn,
  act: (setting: Setting) => Promise<void>,
  reviewer: 'claude' | null = 'claude',
): Promise<void> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'claude-e2e-')))
  const api = await startMessagesApi({ turns, isOnlyCaller: true })
  const worktree = await gatedWorktree({ 'src/app.ts': 'export {}\n' }, { reviewer, reflect: false })
  try {
    mkdirSync(join(home, 'bin'))
    symlinkSync(await claudeBinary('newest'), join(home, 'bin', 'claude'))
    // Brings the bubblewrap along.
    symlinkSync(await codexBinary(), join(home, 'bin', 'codex'))
    const env = {
      PATH: [join(home, 'bin'), process.env.PATH ?? '/usr/bin:/bin'].join(delimiter),
      HOME: home,
      TMPDIR: home,
      XDG_CACHE_HOME: join(home, 'cache'),
      ANTHROPIC_BASE_URL: api.url,
      ANTHROPIC_API_KEY: fakeKey,
      LANG: 'C.UTF-8',
    }
    await act({ worktree, api, env, home })
  } finally {
    await api.close()
    worktree.remove()
    rmSync(home, { recursive: true, force: true, maxRetries: 10 })
  }
}

const answers = (said: Parameters<typeof verdict>[0], more: object = {}): Turn => ({
  tools: [{ name: 'StructuredOutput', input: { ...(JSON.parse(verdict(said).text) as object), ...more } }],
})
const complex = {
  complexity: { risk_area_count: 9, files_affected: 30, scope_category: 'high' },
  context_summary: 'Many files.',
}
const texts = ({ messages }: MessagesRequest): string[] =>
  messages.flatMap(({ role, content }) => (role === 'user' ? [textOf(content)] : []))

const savePlan = ({ worktree, env }: Setting, text: string) => {
  const file_path = worktree.write('docs/plan.md', text)
  const event = { hook_event_name: 'PostToolUse', tool_name: 'Write', tool_input: { file_path, content: '' } }
  return fireAfterWrite(worktree.root, event, env)
}

describe('Claude reviews a plan', () => {
  it('by the hook, in all passes, and the next revision on the same session', () => {
    let isRevised = false
    const turns = (request: MessagesRequest): Turn => {
      const id = JSON.stringify(request).includes('F1') ? 'F1' : null
      return isRevised
        ? answers({ verdict: 'APPROVED', previous: [{ id: 'F1', status: 'fixed', reason: 'It is said.' }] })
        : answers({ verdict: 'CHANGES_REQUIRED', findings: [finding('What is printed is unclear.', { id })] }, complex)
    }
    return withReviewer(turns, async (setting) => {
      const { worktree, api, home } = setting
      const first = await savePlan(setting, planText())
      expect(first).toMatchObject({ decision: 'block', text: expect.stringContaining('What is printed is unclear') })
      expect(JSON.parse(worktree.read('.claude/review/plan_v1.codex.json'))).toMatchObject({
        verification: 'passed',
        pass_metadata: { passes_completed: 3, route: 'claude', repository: true, failed_calls: 0, malformed_calls: 0 },
      })
      const asked = api.requests.length
      const thread = worktree.read('.claude/review/codex_thread_id').trim()
      isRevised = true
      expect(await savePlan(setting, planText('Change the line so that it prints hello.'))).toMatchObject({
        decision: 'context',
        text: expect.stringContaining('revision 2 of docs/plan.md is approved'),
      })
      expect(worktree.read('.claude/review/codex_thread_id').trim()).toBe(thread)
      const next = api.requests[asked]
      if (next === undefined) throw new Error('nothing was asked')
      expect(texts(next).slice(0, -1).join('\n')).toContain('Change the line.')
      expect(texts(next).at(-1)).toContain('so that it prints hello')
      expect(
        readdirSync(join(home, 'cache', 'plan-gate', 'claude-sessions')).map((name) => name.slice(0, 36)),
      ).toContain(thread)
      const approval = JSON.parse(worktree.read('.claude/review/approval.json')) as object
      expect(approval).toMatchObject({ route: 'claude', is_optimal: true })

      // Who could write there would tell the reviewer what it has said.
      const session = { hook_event_name: 'SessionStart', source: 'resume', session_id: 's' }
      runHook(worktree.root, 'session-start', session, setting.env)
      const file_path = join(home, 'cache', 'plan-gate', 'claude-sessions', `${thread}.jsonl`)
      expect(askGate(worktree.root, 'Write', { file_path }, {}, setting.env)).toMatch(/is never written by a tool/)
    })
  }, 60_000)

  it(
    'by the command, as a row with a name and a model of its own',
    () =>
      withReviewer(
        () => answers({ verdict: 'APPROVED' }),
        async ({ worktree, env, api }) => {
          worktree.configure(
            'review:\n  routes:\n    - name: second\n      backend: claude\n      model: claude-of-the-row\n      when: [always]\n',
          )
          const content = worktree.write('docs/other.md', planText())
          const args = ['review', '--type', 'plan', '--content', content, '--json']
          const { stdout } = await runCli(args, { cwd: worktree.root, env })
          expect(JSON.parse(stdout)).toMatchObject({
            verdict: 'APPROVED',
            pass_metadata: { route: 'second', model: 'claude-of-the-row', failed_calls: 0 },
          })
          expect(new Set(api.requests.map(({ model }) => model))).toEqual(new Set(['claude-of-the-row']))
        },
        null,
      ),
    60_000,
  )

  it('inside of a session of the same Claude Code', async () => {
    const worktree = await gatedWorktree({ 'src/app.ts': 'export {}\n' }, { reviewer: 'claude', reflect: false })
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'claude-e2e-')))
    try {
      mkdirSync(join(home, 'bin'))
      symlinkSync(await claudeBinary('newest'), join(home, 'bin', 'claude'))
      symlinkSync(await codexBinary(), join(home, 'bin', 'codex'))
      const outcome = await runClaude({
        client: 'newest',
        cwd: worktree.root,
        home,
        env: { PATH: [join(home, 'bin'), process.env.PATH ?? '/usr/bin:/bin'].join(delimiter) },
        turns: [{ tools: [{ name: 'Write', input: { file_path: worktree.at('docs/plan.md'), content: planText() } }] }],
        subagents: [{ prompt: 'is material.', turns: () => answers({ verdict: 'APPROVED' }) }],
      })
      expect(outcome.feedback.join('\n')).toContain('revision 1 of docs/plan.md is approved')
      expect(JSON.parse(worktree.read('.claude/review/plan_v1.codex.json'))).toMatchObject({
        verdict: 'APPROVED',
        pass_metadata: { route: 'claude', failed_calls: 0, malformed_calls: 0 },
      })
    } finally {
      worktree.remove()
      rmSync(home, { recursive: true, force: true, maxRetries: 10 })
    }
  }, 90_000)
})
