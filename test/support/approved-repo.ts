import { join } from 'node:path'
import { planText } from './plan-texts.ts'
import { runCli } from './run-cli.ts'
import { runHook } from './run-hook.ts'
import { temporaryRepo, write } from './temporary-repo.ts'

/** A repository with the gate in it, and a plan that its reviewer, the checklist, has approved. */
export async function approvedRepo(files: { [path: string]: string } = {}): Promise<string> {
  const repo = temporaryRepo('shop', { 'src/app.ts': 'export {}\n', ...files })
  await approve(repo)
  return repo
}

export async function approve(repo: string): Promise<void> {
  await runCli(['install', '--reviewer', 'checklist'], { cwd: repo })
  savePlan(repo, planText())
}

/** docs/plan.md gets this text, and the installed hook hears of it. */
export function savePlan(repo: string, text: string): void {
  write(repo, { 'docs/plan.md': text })
  runHook(repo, 'post-tool-use', {
    hook_event_name: 'PostToolUse',
    session_id: 's-1',
    cwd: repo,
    tool_name: 'Write',
    tool_input: { file_path: join(repo, 'docs/plan.md'), content: text },
    tool_response: {},
  })
}
