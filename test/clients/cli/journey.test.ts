import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Journey, startJourney } from '../../support/journey.ts'
import { finding, planText, verdict } from '../../support/plan-texts.ts'
import type { Turn } from '../../support/servers/messages-api.ts'
import { byTmux, hasTmux, openTmux } from '../../support/tmux.ts'

let journey: Journey | undefined
const second = openTmux()
afterEach(async () => {
  second.end()
  await journey?.end()
  journey = undefined
})

const write = (path: string, content: string): Turn => ({
  tools: [{ name: 'Write', input: { file_path: join(journey?.home ?? '', 'shop-strategy', path), content } }],
})
const changes = '- `src/greet.js` (new): says hello.'

/** One person's hour, from the packed tarball, with both real clients in a terminal. */
describe.skipIf(!hasTmux)(`a stranger’s first session ${byTmux}`, () => {
  it('is denied, reviewed, revised, approved, left, looked at, opened again, carried out and finished', async () => {
    journey = await startJourney({
      files: { 'plan-gate.yaml': 'plan: {notify: bell}\n' },
      claude: (_, turn) => {
        if (turn === 1) return write('src/greet.js', 'too early\n')
        if (turn === 2) return write('docs/plan.md', planText('One function.', changes))
        if (turn === 3) return write('docs/plan.md', planText('One function; no name gives Hello.', changes))
        if (turn === 4) return { text: 'Ready to execute?' }
        if (turn === 5) return write('src/greet.js', 'export const greet = () => 1\n')
        return { text: 'It is carried out.' }
      },
      codex: (request) =>
        JSON.stringify(request.body).includes('no name gives')
          ? {
              ...verdict({ verdict: 'APPROVED', previous: [{ id: 'F1', status: 'fixed', reason: 'It says so now.' }] }),
            }
          : { ...verdict({ verdict: 'CHANGES_REQUIRED', findings: [finding('What of no name?')] }), afterMs: 8_000 },
    })
    const { terminal, type, run, repo, home } = journey
    const worktree = join(home, 'shop-strategy')

    expect(await run('plan-gate bootstrap docs/strategy.md --dry-run')).toMatch(/Nothing was changed/)
    expect(existsSync(worktree)).toBe(false)
    await type('clear; plan-gate bootstrap docs/strategy.md -- --permission-mode acceptEdits')
    await terminal.seen(/not allowed before there is an approved plan/, 60_000)

    // In the middle of a pass: since when it runs, and what the reviewer does.
    await terminal.seen(/reviewing v1 \(codex\): pass 1 of 3, 0:0\d/, 60_000)
    second.start(`cd '${worktree}' && '${join(journey.folder, 'global/bin/plan-gate')}' watch`, {
      columns: 90,
      rows: 24,
    })
    await second.seen(/v1, pass 1 of 3: understand with codex, since \d\d:\d\d:\d\d/)
    second.end()

    await terminal.seen(/revision 1 of the plan is not approved/, 60_000)
    await terminal.seen(/gate open, v2 is approved/, 60_000)
    terminal.tmux('send-keys', '-l', '/exit')
    terminal.tmux('send-keys', 'Enter')
    const left = await terminal.seen(/plan-gate open \S+ -- --resume [0-9a-f-]{36}/, 30_000)
    expect(left).toMatch(/the plan is approved; the gate is open/)

    const status = await run(`cd ${worktree} && plan-gate status`)
    expect(status).toMatch(/The plan is approved: tell Claude to carry it out/)
    expect(await run('plan-gate log')).toMatch(/denied[\s\S]*CHANGES_REQUIRED[\s\S]*APPROVED[\s\S]*approved/)

    await type('clear; cd ~/shop && plan-gate open strategy')
    await terminal.seen(/implement-approved-plan/, 30_000)
    await terminal.seen(/It is carried out/, 60_000)
    terminal.tmux('send-keys', '-l', '/exit')
    terminal.tmux('send-keys', 'Enter')
    await terminal.seen(/--resume/, 30_000)

    expect(await run(`cd ${repo} && plan-gate finish strategy`, 30_000)).toMatch(/src\/greet\.js[\s\S]*Commit/)
    await run(
      'git -C ../shop-strategy add --all && git -C ../shop-strategy commit -qm greet && git merge -q plan/strategy',
    )
    expect(await run('plan-gate finish strategy', 30_000)).toMatch(/archived[\s\S]*removed/)
    expect(existsSync(worktree)).toBe(false)
    expect(await run('git status --short && plan-gate status')).toMatch(/there is none in/)
  }, 240_000)

  it('takes side steps: No to trust, the wrong folder, a broken gate, an edited .env, and everything taken away', async () => {
    journey = await startJourney({
      trusted: false,
      files: { '.gitignore': '.env\n', '.worktreeinclude': '.env\n' },
      claude: [{ text: 'What do you want?' }],
      codex: [verdict({ verdict: 'APPROVED' })],
    })
    const { terminal, type, run, repo, home } = journey
    const worktree = join(home, 'shop-strategy')
    writeFileSync(join(repo, '.env'), 'KEY=1\n')
    writeFileSync(join(repo, 'notes.txt'), 'not committed\n')

    const dry = await run('plan-gate bootstrap docs/strategy.md --dry-run 2>&1 | grep -e notes -e /.env -e Nothing')
    expect(dry).toMatch(/not committed[\s\S]*notes\.txt[\s\S]*\.env[\s\S]*Nothing was changed/)
    await type('clear; plan-gate bootstrap docs/strategy.md')
    const asked = await terminal.seen(/Accessing workspace[\s\S]*Enter to confirm/, 60_000)
    expect(asked).toContain(worktree)
    // A dialog that has only just been drawn does not listen yet.
    const declined = await vi.waitFor(async () => {
      terminal.tmux('send-keys', 'Enter')
      return terminal.seen(/because this folder is not trusted[\s\S]*plan-gate open \S+/, 3_000)
    }, 30_000)
    expect(declined).toMatch(/Start it again, and choose Yes/)

    expect(await run('plan-gate status')).toMatch(/there is none in[\s\S]*plan-gate open/)
    expect(await run('plan-gate approve --force --reason x')).toMatch(/plan-gate: [\s\S]*shop-strategy/)

    rmSync(join(worktree, '.claude/hooks/plan-gate/pre-tool-use.mjs'))
    const broken = await run(`cd ${worktree} && plan-gate doctor`)
    expect(broken).toMatch(/The gate does not hold/)
    const [, remedy = ''] = /→ .*`(plan-gate install)`/.exec(broken) ?? []
    expect(await run(`${remedy} && plan-gate doctor`, 60_000)).toMatch(/The gate holds/)

    writeFileSync(join(worktree, '.env'), 'KEY=2\n')
    const finished = await run('plan-gate finish', 30_000)
    expect(finished).toMatch(/kept +\.env, which git ignores: (\S+)/)
    expect(existsSync(worktree)).toBe(false)
    expect(await run(`cd ${repo} && cat .git/plan-gate-archive/*/ignored/.env`)).toContain('KEY=2')

    await run('plan-gate install --reviewer checklist && plan-gate uninstall --all --yes', 60_000)
    expect([existsSync(join(home, '.cache/plan-gate')), existsSync(join(repo, '.claude'))]).toEqual([false, false])
    expect(await run('git status --short')).toMatch(/^\?\? notes\.txt\n\$/)
  }, 240_000)
})
