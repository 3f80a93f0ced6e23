import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { planText } from '../../support/plan-texts.ts'
import { runHook } from '../../support/run-hook.ts'

let worktree: GatedWorktree
const opened: GatedWorktree[] = []
beforeEach(async () => {
  worktree = await gatedWorktree({ 'src/app.ts': 'export {}\n' })
  opened.push(worktree)
})
afterAll(() => {
  for (const each of opened) each.remove()
})

type Answer = { systemMessage?: string; hookSpecificOutput?: { additionalContext?: string } }

function savePlan(text: string, env: NodeJS.ProcessEnv = {}): Answer {
  const file_path = worktree.write('docs/plan.md', text)
  const event = { hook_event_name: 'PostToolUse', tool_name: 'Write', tool_input: { file_path, content: '' } }
  return JSON.parse(runHook(worktree.root, 'post-tool-use', event, env).stdout) as Answer
}

describe('plan.notify', () => {
  it('a command gets the outcome in its environment, and only when a review has ended', () => {
    worktree.configure('plan: {notify: command}\n')
    const env = { PLAN_GATE_NOTIFY: 'echo "$PLAN_GATE_EVENT|$PLAN_GATE_MESSAGE|$PLAN_GATE_WORKTREE" >> told.txt' }
    // The checklist sends it back before any review.
    savePlan('# A plan\n', env)
    expect(existsSync(worktree.at('told.txt'))).toBe(false)
    expect(savePlan(planText(), env).systemMessage).toMatch(/is approved by checklist/)
    expect(worktree.read('told.txt')).toMatch(
      new RegExp(`^approved\\|plan-gate: revision 1 of the plan is approved by checklist.*\\|${worktree.root}\n$`),
    )
  })

  it.each([
    ['fails', 'exit 3', 'exit code 3'],
    ['does not exist', 'no-such-program-of-anybody', 'exit code 127'],
    ['hangs', 'sleep 60', 'timed-out'],
  ])('a command that %s takes nothing from the verdict, and is said', (_, command, why) => {
    worktree.configure('plan: {notify: command}\n')
    const { systemMessage } = savePlan(planText(), { PLAN_GATE_NOTIFY: command })
    expect(systemMessage).toMatch(/is approved by checklist/)
    expect(systemMessage).toContain(`The command in PLAN_GATE_NOTIFY failed (${why}).`)
    expect(existsSync(worktree.at('.claude/review/approval.json'))).toBe(true)
  })

  it('no file of the repository says which command it is', () => {
    worktree.configure('plan: {notify: command}\n')
    worktree.write('.claude/settings.local.json', JSON.stringify({ env: { PLAN_GATE_NOTIFY: 'touch ran' } }))
    // As the client injects what settings say.
    const { systemMessage } = savePlan(planText(), { PLAN_GATE_NOTIFY: 'touch ran' })
    expect(systemMessage).toContain('PLAN_GATE_NOTIFY is not set in your environment')
    expect(existsSync(worktree.at('ran'))).toBe(false)
  })

  it('bell rings in the terminal that Claude Code writes to', async () => {
    worktree.configure('plan: {notify: bell}\n')
    const transcript = worktree.at('.claude/review/terminal.txt')
    const terminal = spawn('script', ['-qfc', 'echo pid=$$; sleep 20', transcript], { stdio: 'ignore' })
    try {
      const pid = await readPid(transcript)
      expect(savePlan(planText(), { CLAUDE_PID: pid }).systemMessage).toMatch(/is approved by checklist/)
      await sleep(200)
      expect(readFileSync(transcript, 'latin1')).toContain('\u0007')
    } finally {
      terminal.kill()
      rmSync(transcript, { force: true })
    }
  })

  it.each([
    ['there is none', {}],
    ['its output goes to a file or a pipe', { CLAUDE_PID: String(process.pid) }],
    ['the pid is none', { CLAUDE_PID: '../../etc' }],
  ])('bell is silent where %s', (_, env) => {
    worktree.configure('plan: {notify: bell}\n')
    const { systemMessage } = savePlan(planText(), env)
    expect(systemMessage).toMatch(/is approved by checklist/)
    expect(systemMessage).not.toMatch(/bell/)
  })
})

async function readPid(transcript: string): Promise<string> {
  for (let tries = 0; tries < 100; tries += 1) {
    const pid = existsSync(transcript) ? /pid=(\d+)/.exec(readFileSync(transcript, 'utf8'))?.[1] : undefined
    if (pid !== undefined) return pid
    await sleep(50)
  }
  throw new Error('the terminal did not start')
}
