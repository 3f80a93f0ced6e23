import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { codexProcesses } from '../plan-review-e2e/codex-processes.ts'
import { hookProgram, reflectWorktree, writeTranscript } from './reflect-worktree.ts'

/** Esc, or the end of the session. */
describe('a hook that is asked to end while the reviewer is asked', () => {
  const signals = [
    ['SIGTERM', 'PostToolUse'],
    ['SIGTERM', 'Stop'],
    ['SIGTERM', 'PreCompact'],
    ['SIGINT', 'PostToolUse'],
    ['SIGHUP', 'Stop'],
  ] as const
  it.each(signals)('ends by %s, and Codex with it: %s', async (signal, name) => {
    const worktree = await reflectWorktree([{ kind: 'hang', when: 'after-created' }])
    const { root, at, env, home, api, state } = worktree
    writeTranscript(worktree, 'I did it.')
    const child = spawn(process.execPath, hookProgram(root, name), {
      cwd: root,
      env: { ...env, CLAUDE_PROJECT_DIR: root },
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    const tool = { tool_name: 'Write', tool_input: { file_path: at('src/app.ts'), content: 'one\n' } }
    const common = { session_id: 's1', cwd: root, transcript_path: join(home, 'transcript.jsonl') }
    child.stdin.end(
      JSON.stringify({ hook_event_name: name, ...common, ...tool, last_assistant_message: 'It is done.' }),
    )
    await api.asked(1)
    child.kill(signal)
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(codexProcesses(worktree)).toEqual([])
    expect(state()).toMatchObject({ fails: { fails: [] }, memory: { entries: [] } })
  })
})
