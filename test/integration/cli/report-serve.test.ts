import { createHash } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { serveReport } from '../../../src/cli/report-server.ts'
import type { LedgerEvent } from '../../../src/schemas/records.ts'
import { readEvents } from '../../../src/state/ledger.ts'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { planText } from '../../support/plan-texts.ts'
import { servedReport } from '../../support/report/served-report.ts'
import { fakePrograms, runCli, startCli } from '../../support/run-cli.ts'
import { askGate, runHook } from '../../support/run-hook.ts'
import { temporaryFolder, temporaryRepo } from '../../support/temporary-repo.ts'

const plan = planText()
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
const lineOf = (words: string): number => plan.split('\n').findIndex((line) => line.includes(words)) + 1

/** The reviewer is the checklist, which nobody asks here. */
async function worktreeWithPlan(): Promise<GatedWorktree> {
  const worktree = await gatedWorktree({ 'src/app.ts': 'export {}\n' })
  onTestFinished(() => worktree.remove())
  worktree.write('docs/plan.md', plan)
  return worktree
}

const isOpen = ({ root, at }: GatedWorktree): boolean =>
  askGate(root, 'Write', { file_path: at('src/app.ts'), content: 'x' }) === null
const eventsOf = ({ root }: GatedWorktree): readonly LedgerEvent[] => {
  const read = readEvents(root)
  return read.kind === 'read' ? read.events : []
}
const decisionsIn = (worktree: GatedWorktree): readonly string[] =>
  eventsOf(worktree).flatMap(({ type }) => (/^(?:approved|changes|continued)/.test(type) ? [type] : []))
const afterATool = ({ root }: GatedWorktree): string =>
  runHook(root, 'post-tool-use', {
    hook_event_name: 'PostToolUse',
    cwd: root,
    tool_name: 'Bash',
    tool_input: { command: 'true' },
    tool_response: {},
  }).stdout
const withNextMessage = ({ root }: GatedWorktree): string =>
  runHook(root, 'user-prompt', { hook_event_name: 'UserPromptSubmit', prompt: 'Go on.', cwd: root }).stdout

const approve = { decision: 'approve', plan_hash: hashOf(plan), revision: null, comment: '', comments: [] }
const onALine = { of: 'now', line: lineOf('Change the line.'), quote: 'whatever the page says', text: 'Which line?' }
const request = { ...approve, decision: 'request-changes', comment: 'Say who asked.', comments: [onALine] }

describe('plan-gate report --serve', () => {
  it('shows the page to whoever has its address, with headers that keep everybody else out', async () => {
    const { url, token, ask } = await servedReport((await worktreeWithPlan()).root)
    const { status, headers, body } = await ask(url)
    expect([status, body.includes('Your decision'), body.includes(token)]).toEqual([200, true, true])
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; .*connect-src 'self'; .*frame-ancestors 'none'$/,
      ),
    })
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control') || name === 'set-cookie')).toEqual(
      [],
    )
  })

  it.each<[string, string, { [name: string]: string }, number]>([
    ['no token', '/', {}, 403],
    ['another token', `/?token=${'x'.repeat(43)}`, {}, 403],
    ['another host', '/?token=TOKEN', { host: 'plan-gate.example:PORT' }, 403],
    ['the host of another port', '/?token=TOKEN', { host: '127.0.0.1:1' }, 403],
    ['a code that nobody made', '/open?code=', {}, 403],
    ['another path', '/secrets?token=TOKEN', {}, 404],
    ['a decision by GET', '/decision?token=TOKEN', {}, 405],
    ['a path that is no path', '//', {}, 404],
  ])('refuses %s, and says what to do', async (_, path, headers, status) => {
    const served = await servedReport((await worktreeWithPlan()).root)
    const { port } = new URL(served.url)
    const filled = (text: string): string => text.replace('TOKEN', served.token).replace('PORT', port)
    const told = await served.ask(`${served.origin}${filled(path)}`, {
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, filled(value)])),
    })
    expect([told.status, told.body]).toEqual([status, expect.stringContaining('plan-gate report --serve')])
    expect(told.body).not.toContain(served.token)
  })

  it.each<[string, { [name: string]: string | null }, string, number]>([
    ['without the token', { 'x-plan-gate-token': null }, JSON.stringify(approve), 403],
    ['with another token', { 'x-plan-gate-token': 'x' }, JSON.stringify(approve), 403],
    ['from another origin', { origin: 'http://127.0.0.1:1' }, JSON.stringify(approve), 403],
    ['from no origin', { origin: null }, JSON.stringify(approve), 403],
    ['from a sandboxed frame', { origin: 'null' }, JSON.stringify(approve), 403],
    ['from another site', { 'sec-fetch-site': 'cross-site' }, JSON.stringify(approve), 403],
    ['to another host', { host: 'plan-gate.example' }, JSON.stringify(approve), 403],
    ['as a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'decision=approve', 415],
    ['as text', { 'content-type': 'text/plain' }, JSON.stringify(approve), 415],
    ['that is half JSON', {}, '{"decision":"approve"', 400],
    ['that is no decision', {}, '{"decision":"open"}', 400],
    ['without the hash', {}, JSON.stringify({ ...approve, plan_hash: 7 }), 400],
    ['of a megabyte', {}, JSON.stringify({ ...approve, comment: 'x'.repeat(1_000_000) }), 413],
    ['on an earlier text', {}, JSON.stringify({ ...approve, plan_hash: hashOf('other') }), 409],
    ['on a revision that was not reviewed', {}, JSON.stringify({ ...approve, revision: 3 }), 409],
    ['without a comment', {}, JSON.stringify({ ...request, comment: ' ', comments: [] }), 409],
    ['on a line that is not there', {}, JSON.stringify({ ...request, comments: [{ ...onALine, line: 999 }] }), 409],
    ['with comments that nobody would settle', {}, JSON.stringify({ ...approve, comments: [onALine] }), 409],
    ['too long for the ledger', {}, JSON.stringify({ ...request, comment: 'x'.repeat(30_000) }), 409],
  ])('refuses a decision %s, and changes nothing', async (_, changed, body, status) => {
    const worktree = await worktreeWithPlan()
    const { ask, origin, token } = await servedReport(worktree.root)
    const usual = { origin, 'content-type': 'application/json', 'x-plan-gate-token': token }
    const headers = Object.fromEntries(
      Object.entries({ ...usual, ...changed }).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
    )
    expect((await ask('/decision', { method: 'POST', headers, body })).status).toBe(status)
    expect([decisionsIn(worktree), isOpen(worktree)]).toEqual([[], false])
  })

  it('records an approval as the user’s, opens the gate, tells Claude, and ends', async () => {
    const worktree = await worktreeWithPlan()
    const { decide, ended } = await servedReport(worktree.root)
    expect(await decide({ ...approve, comment: 'Only a spike.' })).toMatchObject({
      status: 200,
      words: expect.stringContaining('approved by you'),
    })
    expect(await ended).toEqual({ code: 0, stderr: '' })
    expect([decisionsIn(worktree), isOpen(worktree)]).toEqual([['approved-manually'], true])
    expect(eventsOf(worktree).at(-1)).toMatchObject({ plan_hash: hashOf(plan), reason: 'Only a spike.' })
    expect(withNextMessage(worktree)).toMatch(/"UserPromptSubmit".*the user approved docs\/plan\.md.*Only a spike/)
    expect([withNextMessage(worktree), afterATool(worktree)]).toEqual(['', ''])
  })

  it('turns comments into findings of the user’s that hold the plan', async () => {
    const worktree = await worktreeWithPlan()
    const { decide, ended } = await servedReport(worktree.root)
    expect(await decide(request)).toMatchObject({ status: 200, words: expect.stringContaining('Recorded as U1, U2') })
    expect((await ended).code).toBe(0)
    expect(eventsOf(worktree).at(-1)).toMatchObject({
      type: 'changes-requested',
      plan_hash: hashOf(plan),
      findings: [
        { id: 'U1', section: 'Overall', place: '', quote: '', text: 'Say who asked.' },
        {
          id: 'U2',
          section: 'Approach',
          place: `docs/plan.md:${onALine.line}`,
          quote: 'Change the line.',
          text: 'Which line?',
        },
      ],
    })
    const told = JSON.parse(withNextMessage(worktree)) as { hookSpecificOutput: { additionalContext: string } }
    expect(told.hookSpecificOutput.additionalContext).toMatch(
      /requests changes[\s\S]*U1 \(Overall\): Say who asked\.\nU2 \(Approach, docs\/plan\.md:\d+, “Change the line\.”\): Which line\?/,
    )
    const cli = async (...args: string[]): Promise<string> => (await runCli(args, { cwd: worktree.root })).stdout
    expect(await cli('findings')).toMatch(/U1 {2}open, major, found by the user {2}Overall\n[\s\S]*U2 {2}open, major/)
    expect(await cli('status')).toMatch(/U2 +major[\s\S]*Claude has to revise the plan: U1, U2 are open/)
    expect(await cli('report', '--output', '-')).toMatch(/The user requests changes/)
    expect(await cli('waive', 'U1', '--reason', 'Found out.')).toMatch(/U1 is waived\. Still open: U2\./)
    expect((await runCli(['waive', 'U9', '--reason', 'x'], { cwd: worktree.root, exitCode: 2 })).stderr).toMatch(
      /There is no finding U9\. Open: U1, U2\./,
    )
    expect((await runCli(['verify'], { cwd: worktree.root, exitCode: 1 })).stdout).toMatch(/✓ ledger/)
  })

  it('ends an approval with the request for changes, and its comments outlive that', async () => {
    const worktree = await worktreeWithPlan()
    afterATool(worktree)
    worktree.approve()
    expect([afterATool(worktree).includes('written by hand'), isOpen(worktree)]).toEqual([true, true])
    const { decide } = await servedReport(worktree.root)
    expect(await decide(approve)).toMatchObject({ status: 409, words: 'docs/plan.md is approved already.' })
    expect((await decide(request)).words).toMatch(/the approval has ended: the gate is closed/)
    expect(isOpen(worktree)).toBe(false)
    expect(eventsOf(worktree).map(({ type, why }) => [type, why])).toContainEqual([
      'approval-revoked',
      'the user requested changes to docs/plan.md in the report',
    ])
    expect(afterATool(worktree)).toMatch(/Its approval has ended: the gate is closed/)
    expect((await runCli(['findings', '--open'], { cwd: worktree.root })).stdout).toMatch(/U1[\s\S]*U2/)
  })

  it('takes one decision, however many ask at once', async () => {
    const worktree = await worktreeWithPlan()
    const { decide, ended } = await servedReport(worktree.root)
    const answers = await Promise.allSettled([decide(request), decide(approve), decide(request)])
    const statuses = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.status : 'ended'))
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status !== 200 && status !== 410 && status !== 'ended')).toEqual([])
    await ended
    expect(decisionsIn(worktree)).toHaveLength(1)
  })

  it('refuses a text that has changed since, and while a tool call runs', async () => {
    const worktree = await worktreeWithPlan()
    const { decide } = await servedReport(worktree.root)
    worktree.write('docs/plan.md', `${plan}\nAnd deploy.\n`)
    expect(await decide(approve)).toMatchObject({ status: 409, next: expect.stringContaining('Reload the page') })
    const call = { cwd: worktree.root, tool_name: 'Bash', tool_input: { command: 'cat README.md' }, tool_use_id: 't1' }
    runHook(worktree.root, 'pre-tool-use', { ...call, hook_event_name: 'PreToolUse' })
    expect(await decide(approve)).toMatchObject({ status: 409, words: expect.stringContaining('A tool call') })
    expect(await decide(request)).toMatchObject({ status: 409, words: expect.stringContaining('A tool call') })
    expect(decisionsIn(worktree)).toEqual([])
  })

  it('is not started by Claude, for an archive, or where there is no gate', async () => {
    const { root } = await worktreeWithPlan()
    const says = async (args: string[], exitCode: number, env = {}, cwd = root): Promise<string> =>
      (await runCli(['report', '--serve', ...args], { cwd, exitCode, env })).stderr
    expect(await says([], 1, { CLAUDECODE: '1' })).toMatch(
      /Claude Code reads what is printed here[\s\S]*→ Run plan-gate/,
    )
    expect(await says(['--output', 'x.html'], 2)).toMatch(/Leave out --from and --output/)
    expect(await says([], 2, {}, temporaryRepo())).toMatch(/There is no gate in .*\n {2}→ Open a worktree/)
  })

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('ends on %s, and answers nobody any more', async (signal, code) => {
    const { child, ended, url, ask } = await servedReport((await worktreeWithPlan()).root)
    child.kill(signal)
    expect((await ended).code).toBe(code)
    await expect(ask(url)).rejects.toThrow(/ECONNREFUSED/)
  })

  it('is kept alive by who writes, with the token', async () => {
    const { ask, token } = await servedReport((await worktreeWithPlan()).root)
    const alive = async (given: string): Promise<number> =>
      (await ask('/alive', { headers: { 'x-plan-gate-token': given } })).status
    expect([await alive(token), await alive('x')]).toEqual([204, 404])
  })

  it('shows no plan that no browser could show', async () => {
    const worktree = await worktreeWithPlan()
    worktree.write('docs/plan.md', 'x\n'.repeat(600_000))
    const { ask, url } = await servedReport(worktree.root)
    expect(await ask(url)).toMatchObject({ status: 500, body: expect.stringMatching(/larger than a megabyte/) })
  })

  it('ends when its worktree goes away, or nobody has asked for a while', async () => {
    const { root, gitDirs } = await worktreeWithPlan()
    const render = (): { page: string; policy: string } => ({ page: '', policy: '' })
    const idle = await serveReport({ root, gitDirs, idleMs: 100, render })
    expect(await idle.ended).toEqual({ kind: 'idle' })
    const gone = await serveReport({ root, gitDirs, idleMs: 60_000, render })
    renameSync(root, `${root}-moved`)
    try {
      expect(await gone.ended).toEqual({ kind: 'gone' })
    } finally {
      renameSync(`${root}-moved`, root)
    }
  })
})

describe.skipIf(process.platform !== 'linux')('plan-gate report --serve --open', () => {
  it('hands the opener a code that counts once, never the token; the second use of it ends the server', async () => {
    const { root } = await worktreeWithPlan()
    const told = join(temporaryFolder(), 'told')
    writeFileSync(told, '')
    const opener = `printf %s "$1" > '${told}'`
    const programs = fakePrograms(temporaryFolder(), { wslview: opener, 'xdg-open': opener })
    const child = startCli(['report', '--serve', '--open'], { cwd: root, programs })
    onTestFinished(() => void child.kill('SIGKILL'))
    let stderr = ''
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    await expect.poll(() => readFileSync(told, 'utf8'), { timeout: 20_000 }).toMatch(/\/open\?code=/)
    const code = readFileSync(told, 'utf8')
    const [url = ''] = /http:\S+token=[\w-]+/.exec(stderr) ?? []
    const token = new URL(url).searchParams.get('token') ?? '?'
    expect(code).not.toContain(token)
    const first = await fetch(code, { redirect: 'manual' })
    expect([first.status, first.headers.get('location')]).toEqual([303, `/?token=${token}`])
    const exited = new Promise((resolve) => child.once('exit', resolve))
    expect((await fetch(code, { redirect: 'manual' })).status).toBe(403)
    expect([await exited, stderr]).toEqual([1, expect.stringContaining('was used twice')])
  })
})
