import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, renameSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { finding, planText } from '../../support/plan-texts.ts'
import { cli } from '../../support/project.ts'
import { type ReviewedWorktree, reviewedWorktree } from '../../support/reviewed-worktree.ts'
import { askGate } from '../../support/run-hook.ts'
import { byTmux, hasTmux, openTmux } from '../../support/tmux.ts'

const terminal = openTmux()
let worktree: GatedWorktree | undefined
afterEach(() => {
  terminal.end()
  worktree?.remove()
})

/** As a person would: in a shell, which tells afterwards what it ended with. */
const watchIn = (root: string, environment = ''): void =>
  terminal.start(
    `cd '${root}' && echo before && ${environment} '${process.execPath}' '${cli}' watch; echo "ended with $?"; sleep 300`,
    { columns: 100, rows: 28 },
  )

/** A login is taken for a matter that deserves all three passes, each of which takes its time. */
const login = { 'src/auth/login.ts': 'export {}\n' }
const says = (verdict: string, findings: readonly object[] = []) => ({
  kind: 'model' as const,
  afterMs: 2_500,
  text: JSON.stringify({
    context_summary: 'The password is checked.',
    complexity: { risk_area_count: 3, files_affected: 1, scope_category: 'high' },
    verdict,
    is_optimal: verdict === 'APPROVED',
    summary: 'The reviewer has spoken.',
    question: null,
    findings,
    previous_findings: [],
  }),
})
const loginPlan = planText('Check the password.', '- `src/auth/login.ts` (changed): check the password and the token.')
const hostile = 'It is \u001b[2J\u202eunclear for 漢字, and nothing is said of \u001b]0;owned\u0007 the token at all.'

/** The process itself, below the shell of the terminal. */
function pidOfWatch(): number {
  const shell = terminal.tmux('display-message', '-p', '#{pane_pid}').trim()
  const rows = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).stdout.split('\n')
  const row = rows.map((each) => each.trim().split(/\s+/)).find(([, parent]) => parent === shell)
  return Number(row?.[0])
}

describe.skipIf(!hasTmux)(`plan-gate watch ${byTmux}`, () => {
  it('shows a review by the real Codex: each pass, denials and findings as they come; resizes; q gives the terminal back', async () => {
    const reviewed: ReviewedWorktree = await reviewedWorktree([says('CHANGES_REQUIRED', [finding(hostile)])], login)
    worktree = reviewed
    const { root } = reviewed
    watchIn(root)
    await terminal.seen(/there is no plan yet; the gate is closed/)

    askGate(root, 'Write', { file_path: reviewed.at('src/auth/login.ts'), content: 'x' }, { session_id: 's-1' })
    await terminal.seen(/denied +Write src\/auth\/login\.ts \(write\)/)

    const saved = reviewed.savePlan(loginPlan)
    const first = await terminal.seen(/v1, pass 1 of 3: understand with codex/)
    expect(first).toMatch(/since \d\d:\d\d:\d\d\n +\d:\d\d; at most until \d\d:\d\d:\d\d/)
    await terminal.seen(/codex is thinking, \d:\d\d ago/)
    await terminal.seen(/review +v1, pass 2 of 3: find with codex/)
    terminal.tmux('resize-window', '-x', '60', '-y', '16')
    const small = await terminal.seen(/review +v1, pass 3 of 3: verify with codex/)
    expect(small.trimEnd().split('\n')).toHaveLength(16)
    expect(small).toMatch(/pass 3 of 3.*…\nq quits\n/)
    terminal.tmux('resize-window', '-x', '100', '-y', '28')
    await saved
    // The record tells of the verdict before the findings are written down.
    const after = await terminal.seen(/Open after v1/, 5_000)
    expect(after).toMatch(/verdict +v1 CHANGES_REQUIRED by codex, 1 finding/)
    expect(after).toMatch(/Open after v1\n {2}F1 major {2}## Approach: It is .{0,3}\[2Junclear for 漢字, and nothing/)
    expect(after).toMatch(/^plan-gate watch/)

    terminal.tmux('send-keys', 'q')
    const left = await terminal.seen(/ended with 0/)
    expect(left.trim().split('\n')).toEqual(['before', 'ended with 0'])
    expect(terminal.tmux('display-message', '-p', '#{cursor_flag} #{alternate_on}').trim()).toBe('1 0')
  }, 90_000)

  it.each<[string, (pid: number) => void]>([
    ['Ctrl-C', () => void terminal.tmux('send-keys', 'C-c')],
    ['SIGTERM', (pid) => void process.kill(pid, 'SIGTERM')],
    ['SIGINT', (pid) => void process.kill(pid, 'SIGINT')],
  ])('gives the terminal back after %s', async (_, end) => {
    worktree = await gatedWorktree()
    watchIn(worktree.root)
    await terminal.seen(/q quits/)
    end(pidOfWatch())
    const left = await terminal.seen(/ended with 0/)
    expect(left.trim().split('\n')).toEqual(['before', 'ended with 0'])
    expect(terminal.tmux('display-message', '-p', '#{cursor_flag} #{alternate_on}').trim()).toBe('1 0')
  })

  it('ends with its terminal', async () => {
    worktree = await gatedWorktree()
    const ended = worktree.at('ended')
    // The shell outlives the terminal, to tell of it.
    terminal.start(`trap '' HUP; cd '${worktree.root}'; '${process.execPath}' '${cli}' watch; echo $? > ended`)
    await terminal.seen(/q quits/)
    terminal.end()
    const giveUpAt = Date.now() + 20_000
    const code = (): string => (existsSync(ended) ? readFileSync(ended, 'utf8') : '')
    while (code() === '' && Date.now() < giveUpAt) await sleep(50)
    expect(code()).toBe('0\n')
  })

  it('says that the worktree has gone, and that it exists again', async () => {
    worktree = await gatedWorktree()
    watchIn(worktree.root)
    await terminal.seen(/q quits/)
    const aside = `${worktree.root}-aside`
    renameSync(worktree.root, aside)
    await terminal.seen(/This worktree was removed/)
    renameSync(aside, worktree.root)
    await terminal.seen(/exists again/)
    await terminal.seen(/there is no plan yet/)
  })

  it.each([
    ['NO_COLOR=1', /\u001b\[3[0-9]m/, /plan-gate watch/],
    ['TERM=dumb', /\u001b\[\?1049h|\u001b\[3[0-9]m/, /\d\d:\d\d:\d\d {2}gate/],
  ])('honours %s', async (environment, unwanted, wanted) => {
    worktree = await gatedWorktree()
    watchIn(worktree.root, environment)
    await terminal.seen(wanted)
    expect(terminal.tmux('capture-pane', '-p', '-e')).not.toMatch(unwanted)
    expect(terminal.tmux('display-message', '-p', '#{alternate_on}').trim()).toBe(
      environment === 'TERM=dumb' ? '0' : '1',
    )
  })
})
