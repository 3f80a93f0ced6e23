/** A repository on a server, a pull request to its `main`, and what actions/checkout makes of both. */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { approve } from '../approved-repo.ts'
import { runCli } from '../run-cli.ts'
import { commit, git, makeRepo } from '../temporary-repo.ts'

export const files = { plan: 'docs/plan.md', approval: 'docs/plan.approval.json', ledger: 'docs/plan.events.jsonl' }

/** `main` has one commit; `change` the approved plan, its record, and what it names. */
export async function approvedChange(folder: string): Promise<string> {
  const repo = makeRepo(join(folder, 'shop'), { 'src/app.ts': 'export {}\n' })
  await approve(repo)
  await runCli(['verify', '--export', files.approval, '--ledger', files.ledger], { cwd: repo })
  git(repo, 'switch', '--quiet', '--create', 'change')
  commit(repo, { 'src/app.ts': 'console.log("hello")\n' }, 'The change')
  return repo
}

/** The change with what else its author pushes; the server has the merge of it. */
export function openPullRequest(source: string, folder: string, push: (author: string) => void): string {
  const [server, author] = [join(folder, 'server.git'), join(folder, 'author')]
  git(source, 'clone', '--quiet', '--bare', '.', server)
  git(folder, 'clone', '--quiet', '--branch', 'change', server, author)
  push(author)
  git(author, 'add', '--all')
  git(author, 'commit', '--quiet', '--allow-empty', '--message', 'More')
  git(author, 'push', '--quiet', 'origin', 'HEAD:change', 'HEAD:refs/pull/1/head')
  git(author, 'switch', '--quiet', '--detach', 'origin/main')
  git(author, 'merge', '--quiet', '--no-ff', '--no-edit', 'change')
  git(author, 'push', '--quiet', 'origin', 'HEAD:refs/pull/1/merge')
  return server
}

/** `depth` 0: the whole history, with all branches and tags. */
export function checkOut(server: string, workspace: string, ref: string, depth: number): void {
  rmSync(workspace, { recursive: true, force: true })
  mkdirSync(workspace, { recursive: true })
  git(workspace, 'init', '--quiet')
  git(workspace, 'remote', 'add', 'origin', `file://${server}`)
  const local = ref.replace(/^refs\/(?:heads\/)?/, (start) =>
    start === 'refs/' ? 'refs/remotes/' : 'refs/remotes/origin/',
  )
  const all = ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*']
  const how = depth === 0 ? all : ['--no-tags', `--depth=${depth}`]
  const [options, refs] = [how.filter((word) => word.startsWith('--')), how.filter((word) => word.startsWith('+'))]
  git(workspace, 'fetch', '--quiet', '--prune', ...options, 'origin', ...refs, `+${ref}:${local}`)
  git(workspace, 'checkout', '--quiet', '--force', '--detach', local)
}
