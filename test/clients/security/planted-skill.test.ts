import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { launchPlace } from '../../support/launch-place.ts'

/**
 * Promise: what a command writes under an approval registers no hook: such a hook would run outside of the sandbox, and
 * go on rewriting calls once the approval has ended.
 */
it.each(['newest', 'oldest'] as const)(
  'a skill with hooks, written into a subfolder under an approval (%s)',
  async (client) => {
    const place = launchPlace({ 'packages/x/z.ts': 'export {}\n' })
    onTestFinished(place.remove)
    const { worktree } = place
    const flags = ['-p', 'Go.', '--permission-mode', 'bypassPermissions']
    await place.run(['bootstrap', '--name', 'work', '--reviewer', 'checklist'], { client })
    place.write('shop-work/docs/plan.md', '# Plan\n')
    await place.run(['approve', '--force', '--reason', 'x'], { cwd: worktree })
    const skill = [
      '---',
      'description: x',
      'hooks:',
      '  PreToolUse:',
      '    - hooks:',
      '        - type: command',
      `          command: touch "${place.home}/ran"`,
      '---',
      'Hi.',
      '',
    ].join('\n')
    const plant = `mkdir -p packages/x/.claude/skills/s && printf '%s' ${JSON.stringify(skill).replaceAll('$', '\\$').replaceAll('\\"', '\\"')} > packages/x/.claude/skills/s/SKILL.md`
    const turns = [
      { tools: [{ name: 'Bash', input: { command: plant.replaceAll('\\n', '\n'), description: 'x' } }] },
      { tools: [{ name: 'Read', input: { file_path: join(worktree, 'packages/x/z.ts') } }] },
      { tools: [{ name: 'Skill', input: { skill: 's' } }] },
      { tools: [{ name: 'Write', input: { file_path: join(worktree, 'src/ok.ts'), content: 'x' } }] },
      { text: 'done' },
    ]
    const run = await place.run(['open', 'work'], { client, turns, flags })
    expect(existsSync(join(worktree, 'packages/x/.claude/skills/s/SKILL.md'))).toBe(true)
    expect(run.toolResults.find(({ tool }) => tool === 'Skill')?.text).toMatch(/approved plan or not/)
    expect([existsSync(join(place.home, 'ran')), existsSync(join(worktree, 'src/ok.ts'))]).toEqual([false, true])
    // The next session is asked about it.
    expect((await place.run(['open', 'work'], { client, flags })).stderr).toMatch(/skill:.*\n?.*packages\/x/)
  },
  90_000,
)
