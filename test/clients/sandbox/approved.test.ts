import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { closeApproved } from '../../../src/gate/sandbox/approved.ts'
import { hookArgs } from '../../support/hook-args.ts'
import { planText } from '../../support/plan-texts.ts'
import { project } from '../../support/project.ts'
import { differences, type SandboxedWorktree, sandboxedWorktree, wholeState } from '../../support/sandboxed-worktree.ts'
import { approvedAttacks } from './approved-attacks.ts'
import { type OutsideWorld, startOutsideWorld } from './outside-world.ts'

/** plan-gate is installed from where npx puts it, and what it finds on PATH leads into caches. */
const placeProgramsInCaches = `set -e
cd "$HOME/.npm" && mkdir -p _npx/gate/node_modules/.bin _npx/codex/node_modules/.bin _npx/codex/node_modules/@openai/codex/bin
cp -r ../../program _npx/gate/node_modules/plan-gate
ln -s ../plan-gate/dist/cli.mjs _npx/gate/node_modules/.bin/plan-gate
printf '#!/bin/sh\n' > _npx/codex/node_modules/@openai/codex/bin/codex.js
chmod +x _npx/codex/node_modules/@openai/codex/bin/codex.js
ln -s ../@openai/codex/bin/codex.js _npx/codex/node_modules/.bin/codex
ln -s "$HOME/.npm/_npx/codex/node_modules/.bin/codex" ../../bin/codex
cd "$HOME/.cache" && mkdir -p node/22/bin multishell tools/bin
printf '#!/bin/sh\nexec "${process.execPath}" "$@"\n' > node/22/bin/node
chmod +x node/22/bin/node
ln -s ../node/22 multishell/1
cd "$OLDPWD/../../worktree"
PATH="$HOME/.cache/multishell/1/bin:$HOME/.cache/tools/bin:$PATH" "$HOME/.npm/_npx/gate/node_modules/.bin/plan-gate" install`

describe('under an approval, a command', () => {
  let worktree: SandboxedWorktree
  let world: OutsideWorld
  beforeAll(async () => {
    worktree = await sandboxedWorktree({ 'plan-gate.yaml': 'gate:\n', '.mcp.json': '{}\n' })
    const installed = await worktree.plainly(placeProgramsInCaches)
    if (installed.code !== 0) throw new Error(installed.output)
    world = await startOutsideWorld(worktree)
    await worktree.run('true')
  })
  beforeEach(() => worktree.approve())
  afterAll(() => {
    world.close()
    worktree.remove()
  })
  const main = () => join(worktree.base, 'main')
  const controlPlane = () =>
    wholeState([
      ...['.claude', 'plan-gate.yaml', '.mcp.json', '.git'].map((name) => join(worktree.root, name)),
      ...['plan-gate', 'gitdir', 'commondir', 'config.worktree'].map((name) => join(worktree.gitDir, name)),
      ...['.git/config', '.git/hooks', 'README.md', '.claude'].map((name) => join(main(), name)),
      worktree.home,
      join(worktree.base, 'bin'),
    ])

  it.each([
    ['writes', 'echo x > new.txt && mkdir -p lib && mv new.txt lib/ && rm -r lib'],
    [
      'commits',
      'echo y >> src/a.ts && git add -A src && git commit -qm second && git log -1 --format=%s | grep -q second',
    ],
    ['uses git', 'git tag t && git stash -q; git branch b && git branch -d b && git gc -q && git rebase -q HEAD'],
    ['reaches the network', 'exec 3<>/dev/tcp/127.0.0.1/$PORT'],
    ['keeps what it has in /tmp', 'echo x > /tmp/kept && mkdir -p "$TMPDIR"'],
    ['fills the caches', 'touch $HOME/.npm/x $HOME/.cache/x && rm $HOME/.npm/x $HOME/.cache/x'],
    ['lets npx bring other packages', 'cd $HOME/.npm/_npx && mkdir -p x/node_modules && mv x y && rm -r y'],
    ['edits the plan', 'sed -i s/Plan/Plans/ docs/plan.md'],
  ])('%s', async (_name, command) => {
    const { code, output } = await worktree.run(command, { env: world.env })
    expect([code, output]).toEqual([0, expect.any(String)])
    await world.disturbances()
  })

  it('checks the approval as the skill says', async () => {
    const skill = readFileSync(join(project, 'skills/implement-approved-plan/SKILL.md'), 'utf8')
    const command = /and run `([^`]+)`/.exec(skill)?.[1] ?? ''
    const approval = readFileSync(join(worktree.root, '.claude/review/approval.json'), 'utf8')
    const { plan_hash } = JSON.parse(approval) as { plan_hash: string }
    expect(await worktree.run(command)).toMatchObject({ code: 0, output: `${plan_hash}  docs/plan.md\n` })
  })

  it('is read-only again as soon as the plan is another', async () => {
    expect(await worktree.run('echo x >> docs/plan.md')).toMatchObject({ code: 0 })
    expect(await worktree.run('echo x >> docs/plan.md')).toMatchObject({ code: 1 })
  })

  it('is read-only as soon as the approval is gone', async () => {
    worktree.write('.claude/review/approval.json', '{}')
    expect(await worktree.run('touch new.txt')).toMatchObject({ code: 1 })
  })

  it('ends with the approval, with all that it has started', async () => {
    const running = worktree.run('(setsid sh -c "while sleep 0.05; do echo x >> beat.txt; done" &); sleep 30')
    while (!existsSync(join(worktree.root, 'beat.txt'))) await new Promise((resolve) => setTimeout(resolve, 20))
    closeApproved(worktree.gitDir)
    expect((await running).code).not.toBe(0)
    await new Promise((resolve) => setTimeout(resolve, 100))
    const before = wholeState([join(worktree.root, 'beat.txt')])
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(wholeState([join(worktree.root, 'beat.txt')])).toEqual(before)
  })

  it('goes on when it began before: only what an approval allowed ends with it', async () => {
    worktree.write('.claude/review/approval.json', '{}')
    const running = worktree.run('sleep 0.5; echo done')
    await new Promise((resolve) => setTimeout(resolve, 200))
    closeApproved(worktree.gitDir)
    expect(await running).toMatchObject({ code: 0, output: 'done\n' })
  })

  // Last: some break git's own files.
  it.each([...new Set(approvedAttacks)])(
    'leaves the control plane as it is: %s',
    { timeout: 60_000 },
    async (attack) => {
      const before = controlPlane()
      const COMMON = join(main(), '.git')
      await worktree.run(attack, { env: { ...world.env, COMMON }, timeoutMs: 10_000 })
      expect([...differences(before, controlPlane()), ...(await world.disturbances())]).toEqual([])
    },
  )
})

const quoted = (word: string): string => `'${word.replaceAll("'", `'"'"'`)}'`

it('goes on in the profile of an approval that was carried over to ticked boxes, and in no other after an edit', async () => {
  const worktree = await sandboxedWorktree()
  onTestFinished(() => worktree.remove())
  const { root } = worktree
  const fire = async (name: string, event: object): Promise<void> => {
    const words = [process.execPath, ...hookArgs(root, name)].map(quoted).join(' ')
    const input = JSON.stringify({ cwd: root, session_id: 'test-session', ...event })
    const ran = await worktree.plainly(`CLAUDE_PROJECT_DIR='${root}' ${words} <<< ${quoted(input)}`)
    // A command is refused where it could not be run in the sandbox; here it is.
    expect([0, 2], ran.output).toContain(ran.code)
  }
  const save = async (text: string): Promise<void> => {
    worktree.write('docs/plan.md', text)
    const tool = { tool_name: 'Write', tool_input: { file_path: join(root, 'docs/plan.md'), content: text } }
    await fire('post-tool-use', { hook_event_name: 'PostToolUse', ...tool, tool_response: {} })
  }
  const writes = async (path: string): Promise<boolean> => {
    const tool = { tool_name: 'Bash', tool_input: { command: `echo x > ${path}` }, tool_use_id: path }
    await fire('pre-tool-use', { hook_event_name: 'PreToolUse', ...tool })
    await worktree.run(`echo x > ${path}`)
    return existsSync(join(root, path))
  }
  const plan = (box: string) =>
    planText(`- [${box}] Change the line.`, '- `src/a.ts` (changed): print hello.').replaceAll('src/app.ts', 'src/a.ts')
  expect(await writes('src/none')).toBe(false)
  await save(plan(' '))
  expect(await writes('src/one')).toBe(true)
  await save(plan('x'))
  expect(await writes('src/two')).toBe(true)
  await save('# Another plan\n')
  expect(await writes('src/three')).toBe(false)
})
