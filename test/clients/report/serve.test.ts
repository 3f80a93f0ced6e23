import { readdirSync, renameSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { leaveNote } from '../../../src/plan/plan-change.ts'
import { verifyLedger } from '../../../src/state/ledger.ts'
import { axeSource, type Browser, openBrowser } from '../../support/chromium.ts'
import { startClaude, untilGone } from '../../support/claude-in-terminal.ts'
import { gatedWorktree } from '../../support/gated-worktree.ts'
import { planText, verdict } from '../../support/plan-texts.ts'
import { servedReport } from '../../support/report/served-report.ts'
import { type ReviewedWorktree, reviewedWorktree } from '../../support/reviewed-worktree.ts'
import { runClaude } from '../../support/run-claude.ts'
import { runCli } from '../../support/run-cli.ts'
import { type MessagesApi, startMessagesApi, type Turn } from '../../support/servers/messages-api.ts'
import { textOf } from '../../support/servers/messages-record.ts'
import { saidBy } from '../../support/servers/responses-record.ts'
import { byTmux, hasTmux, openTmux } from '../../support/tmux.ts'
import {
  approves,
  eventsOf,
  gateIsOpen,
  hashOf,
  openWorktree,
  unclear,
  useATool,
} from '../plan-review-e2e/open-worktree.ts'
import { openPage } from './open-page.ts'

let browser: Browser
let axe: string
beforeAll(async () => {
  browser = await openBrowser()
  axe = await axeSource()
}, 300_000)
afterAll(() => browser?.close())

const text = (selector: string): string =>
  `document.querySelector(${JSON.stringify(selector)}).innerText.replace(/\\s+/g, ' ').trim()`
const lineOf = (plan: string, words: string): number => plan.split('\n').findIndex((line) => line.includes(words)) + 1
const [first, second] = [planText('One step.'), planText('Two steps, one after the other.')]
const numberOf = (plan: string, words: string): string => `[aria-label="Comment on line ${lineOf(plan, words)}"]`
const buttons = { request: '#decide .tools button:nth-child(1)', approve: '#decide .approve' }

describe('the page of report --serve', { timeout: 90_000 }, () => {
  it('takes comments on lines of both texts, keeps them through a reload and a refusal, and sends them', async () => {
    const worktree = await openWorktree([unclear])
    await worktree.savePlan(first)
    worktree.write('docs/plan.md', second)
    const { url, ended } = await servedReport(worktree.root)
    const { page, complaints, value, until } = await openPage(browser, url)
    await page.click(numberOf(second, 'Two steps'))
    await page.fill('.comment textarea', 'Why two?')
    await page.selectOption('#decide select', 'reviewed')
    await page.click(numberOf(first, 'One step'))
    await page.fill('.comment textarea', 'This was better. <b>Really</b>')
    await page.reload()
    expect(await value('document.querySelector(".comment textarea").value')).toBe('Why two?')
    expect(await value('document.activeElement.tagName')).toBe('BODY')

    // The plan changes under the reader's eyes.
    const third = second.replace('# Greet', '# Greet\n\nAnother line.')
    worktree.write('docs/plan.md', third)
    await page.fill('.whole textarea', 'And who asked?')
    await page.click(buttons.request)
    await until(`${text('.said')}.includes('has changed since')`)
    expect(await value('document.querySelector(".comment textarea").value')).toBe('Why two?')
    await page.reload()
    expect(await value('document.querySelector(".whole textarea").value')).toBe('And who asked?')
    await page.click(buttons.approve)
    await until(`${text('.said')}.includes('carries no comments')`)
    await page.click(buttons.request)
    await until(`${text('.said')}.includes('Recorded as U1, U2, U3')`)
    expect((await ended).code).toBe(0)
    expect(eventsOf(worktree.root).at(-1)).toMatchObject({
      type: 'changes-requested',
      revision: 1,
      findings: [
        { id: 'U1', place: '', text: 'And who asked?' },
        { id: 'U2', section: 'Approach', place: `docs/plan.md:${lineOf(third, 'Two steps')}`, text: 'Why two?' },
        {
          id: 'U3',
          place: `revision 1, line ${lineOf(first, 'One step')}`,
          quote: 'One step.',
          text: 'This was better. <b>Really</b>',
        },
      ],
    })
    expect(worktree.read('.claude/review/plan_v1.annotated.md')).toMatch(/U3 · major\*\* · Approach, found by the user/)
    expect(complaints.filter((words) => !words.includes('409'))).toEqual([])
  })

  it('approves once, and says so where the server has ended', async () => {
    const worktree = await openWorktree([unclear])
    await worktree.savePlan(first)
    const { url } = await servedReport(worktree.root)
    const [one, other] = [await openPage(browser, url), await openPage(browser, url)]
    await other.page.fill('.whole textarea', 'Typed in another tab.')
    await one.page.fill('.whole textarea', 'It is a spike.')
    await one.page.click(buttons.approve)
    await one.until(`${text('.said')}.includes('approved by you')`)
    expect([gateIsOpen(worktree), eventsOf(worktree.root).at(-1)?.reason]).toEqual([true, 'It is a spike.'])
    expect(await one.value(`document.querySelector(${JSON.stringify(buttons.approve)}).disabled`)).toBe(true)
    await other.page.click(buttons.request)
    await other.until(`${text('.said')}.includes('it has ended')`)
    expect(await other.value('document.querySelector(".whole textarea").value')).toBe('Typed in another tab.')
    expect(gateIsOpen(worktree)).toBe(true)
  })

  it('takes nothing from a page of another origin, which can read nothing of it either', async () => {
    const worktree = await openWorktree([unclear])
    await worktree.savePlan(first)
    const { url, origin, token } = await servedReport(worktree.root)
    const evil = createServer((_, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>evil</p>'),
    )
    await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void evil.close())
    const { value } = await openPage(browser, `http://127.0.0.1:${(evil.address() as AddressInfo).port}/`)
    const asked = (script: string): Promise<string> =>
      value(`(async () => { try { ${script}; return 'through' } catch (error) { return error.name } })()`)
    const body = JSON.stringify({ decision: 'approve', plan_hash: '', revision: 1, comment: '', comments: [] })
    const headers = { 'content-type': 'application/json', 'x-plan-gate-token': token }
    const post = { method: 'POST', headers, body }
    expect(await asked(`await fetch('${origin}/decision', ${JSON.stringify(post)})`)).toBe('TypeError')
    expect(await asked(`await fetch(${JSON.stringify(url)})`)).toBe('TypeError')
    await value(
      `(() => { const frame = document.createElement('iframe'); frame.src = ${JSON.stringify(url)}; document.body.append(frame) })()`,
    )
    await value('new Promise((resolve) => setTimeout(resolve, 500))')
    expect(await asked(`document.querySelector('iframe').contentDocument.body.innerText`)).toBe('TypeError')
    await asked(`await fetch('${origin}/decision', { method: 'POST', mode: 'no-cors', body: ${JSON.stringify(body)} })`)
    expect([gateIsOpen(worktree), eventsOf(worktree.root).at(-1)?.type]).toEqual([false, 'reviewed'])
  })

  it.each([
    { theme: 'light', width: 1400 },
    { theme: 'dark', width: 1400 },
    { theme: 'light', width: 600 },
    { theme: 'dark', width: 600 },
  ] as const)('has no fault that axe-core knows of: $theme, $width wide', async ({ theme, width }) => {
    const worktree = await openWorktree([unclear])
    await worktree.savePlan(first)
    const { url } = await servedReport(worktree.root)
    const { page, value } = await openPage(browser, url, { theme, width })
    await page.click(numberOf(first, 'One step'))
    await page.click(buttons.request)
    await value(axe)
    const { violations } = await value<{ violations: { id: string; nodes: { html: string }[] }[] }>('axe.run()')
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([])
    expect(await value('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
  })

  it('is used by the keyboard: one stop for all lines, the arrows between them', async () => {
    const worktree = await openWorktree([unclear])
    await worktree.savePlan(first)
    const { page, value } = await openPage(browser, (await servedReport(worktree.root)).url)
    await value(`document.querySelector('[aria-label="Comment on line 1"]').focus()`)
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp', 'Enter']) await page.keyboard.press(key)
    expect(await value('document.activeElement.getAttribute("aria-label")')).toBe('Comment on line 2')
    expect(await value('document.querySelectorAll(".decide-text button[tabindex=\\"0\\"]").length')).toBe(1)
  })
})

const terminal = openTmux()
let worktree: ReviewedWorktree | undefined
let messages: MessagesApi | undefined
afterEach(async () => {
  terminal.end()
  if (worktree !== undefined) await untilGone(worktree.home)
  await messages?.close()
  worktree?.remove()
  worktree = undefined
})

describe('a request for changes', { timeout: 90_000 }, () => {
  const ask = async ({ root }: ReviewedWorktree, plan: string, revision: number | null): Promise<string> => {
    const { decide } = await servedReport(root)
    const plan_hash = hashOf(plan)
    const asked = { decision: 'request-changes', plan_hash, revision, comment: 'Say who asked for it.', comments: [] }
    return (await decide(asked)).words
  }
  const saysOf = (status: string) =>
    verdict({ verdict: 'APPROVED', previous: [{ id: 'U1', status, reason: 'Ada is named under Approach.' }] })

  it('has the plan reviewed again where the limit was reached', async () => {
    const worktree = await openWorktree([unclear, approves])
    worktree.configure('plan:\n  max_revisions: 1\n')
    expect((await worktree.savePlan(first))?.text).toMatch(/Stop revising/)
    expect(await ask(worktree, first, null)).toMatch(/Recorded as U1/)
    expect((await worktree.savePlan(second))?.text).toMatch(
      /revision 2 of docs\/plan\.md is not approved[\s\S]*U1 · major/,
    )
    expect(eventsOf(worktree.root).map(({ type }) => type)).toContain('continued')
  })

  it('outweighs a verdict on the same text that a crash kept from opening the gate', async () => {
    const worktree = await openWorktree([verdict({ verdict: 'APPROVED' }), saysOf('not_fixed'), saysOf('fixed')])
    await worktree.savePlan(first)
    for (const path of ['.claude/review/approval.json', '.git/plan-gate/approval.json']) rmSync(worktree.at(path))
    expect(await ask(worktree, first, null)).toMatch(/Recorded as U1/)
    expect((await worktree.savePlan(first))?.text).toMatch(/is not approved[\s\S]*Not so U1: the user wrote it/)
    expect(gateIsOpen(worktree)).toBe(false)
    expect((await worktree.savePlan(second))?.text).toMatch(/is approved/)
    expect(gateIsOpen(worktree)).toBe(true)
    const { findings } = JSON.parse((await runCli(['findings', '--json'], { cwd: worktree.root })).stdout)
    expect(findings).toMatchObject([{ id: 'U1', state: 'fixed', reason: 'Ada is named under Approach.' }])
  })

  it('is taken back by the user alone, and the plan is then the reviewer’s again', async () => {
    const worktree = await openWorktree([unclear, saysOf('withdrawn')])
    await worktree.savePlan(first)
    await ask(worktree, first, null)
    const waive = (id: string) => runCli(['waive', id, '--reason', 'Found out.'], { cwd: worktree.root })
    expect((await waive('F1')).stdout).toMatch(/Still open: U1\./)
    expect(gateIsOpen(worktree)).toBe(false)
    expect((await worktree.savePlan(second))?.text).toMatch(
      /Only the user can take it back\. The reviewer: Ada is named/,
    )
    expect((await waive('U1')).stdout).toMatch(/approved by you; the gate is open/)
    expect(gateIsOpen(worktree)).toBe(true)
  })

  const waive = async ({ root }: ReviewedWorktree, ...args: string[]): Promise<string> =>
    (await runCli(['waive', ...args], { cwd: root })).stdout
  const statesIn = async ({ root }: ReviewedWorktree): Promise<readonly string[]> => {
    const { findings } = JSON.parse((await runCli(['findings', '--json'], { cwd: root })).stdout)
    return findings.map(({ id, state, severity }: { [key: string]: string }) => `${id} ${state} ${severity}`)
  }

  it('holds the plan again when its waiver is taken back, and what else was waived stays so', async () => {
    const worktree = await openWorktree([unclear, saysOf('not_fixed'), saysOf('fixed')])
    await worktree.savePlan(first)
    await ask(worktree, first, null)
    await ask(worktree, first, null)
    for (const id of ['U1', 'F1', 'U2']) await waive(worktree, id, '--reason', 'Found out.')
    expect(gateIsOpen(worktree)).toBe(true)
    worktree.write('src/begun.ts', 'export {}\n')
    expect(await waive(worktree, 'U1', '--undo')).toMatch(/with it the approval: the gate is closed\. Open: U1\./)
    expect(gateIsOpen(worktree)).toBe(false)
    expect(await statesIn(worktree)).toEqual(['F1 waived advice', 'U1 open major', 'U2 waived advice'])
    const told = useATool(worktree)
    expect(told).toMatch(/took the waiver of U1 back.*Open: U1\./)
    expect(told).not.toMatch(/begun/)
    expect((await worktree.savePlan(second))?.text).toMatch(/is not approved[\s\S]*U1/)
    expect((await worktree.savePlan(planText('Three.')))?.text).toMatch(/revision 3 of docs\/plan\.md is approved/)
  })

  it('weighs as before when its waiver is taken back after a review, also one that approved', async () => {
    const answers = ['withdrawn', 'not_fixed', 'withdrawn'].map(saysOf)
    const worktree = await openWorktree([unclear, verdict({ verdict: 'APPROVED' }), ...answers])
    await worktree.savePlan(first)
    await ask(worktree, first, null)
    worktree.write('docs/plan.md', second)
    for (const id of ['F1', 'U1']) await waive(worktree, id, '--reason', 'Found out.')
    expect((await worktree.savePlan(second))?.text).toMatch(/revision 2 of docs\/plan\.md is approved/)
    await waive(worktree, 'U1', '--undo')
    await waive(worktree, 'F1', '--undo')
    expect([gateIsOpen(worktree), await statesIn(worktree)]).toEqual([false, ['F1 open major', 'U1 open major']])
    // The same text: what approved it counted the waivers.
    expect((await worktree.savePlan(second))?.text).toMatch(/is not approved[\s\S]*Only the user can take it back/)
    expect(await statesIn(worktree)).toEqual(['F1 open major', 'U1 open major'])
    expect(gateIsOpen(worktree)).toBe(false)
  })

  describe('outlives a ledger that was damaged', () => {
    const ledger = '.claude/review/events.jsonl'
    const [silent, fixed] = [verdict({ verdict: 'APPROVED' }), saysOf('fixed')]

    /** U1 and U2 are open, the waivers of F1 and U3 stand; then the line of this type is another one. */
    const damagedAt = async (type: string): Promise<ReviewedWorktree> => {
      const worktree = await openWorktree([unclear, silent, silent, fixed])
      await worktree.savePlan(first)
      for (const _ of [1, 2, 3]) await ask(worktree, first, null)
      for (const id of ['F1', 'U3']) await waive(worktree, id, '--reason', 'Found out.')
      const lines = worktree.read(ledger).split('\n')
      const at = lines.findIndex((line) => line.includes(`"type":"${type}"`))
      worktree.write(ledger, lines.map((line, index) => (index === at ? 'garbage' : line)).join('\n'))
      return worktree
    }
    const install = async ({ root, env }: ReviewedWorktree): Promise<string> =>
      (await runCli(['install'], { cwd: root, env })).stderr

    it('as it was where only an older cycle is damaged', async () => {
      const worktree = await openWorktree([silent, silent, silent])
      await worktree.savePlan(first)
      await ask(worktree, first, null)
      await ask(worktree, first, null)
      await waive(worktree, 'U1', '--reason', 'Found out.')
      worktree.write(ledger, worktree.read(ledger).replace('"verdict":"APPROVED"', '"verdict":"APPROVE!"'))
      expect((await worktree.savePlan(second))?.text).toMatch(/damaged in line[\s\S]*plan-gate install/)
      expect(worktree.api.requests).toHaveLength(1)
      expect(await install(worktree)).toMatch(/Carried over: U1, U2, waiver of U1\./)
      expect(await statesIn(worktree)).toEqual(['U1 waived advice', 'U2 open major'])
      expect(await ask(worktree, second, null)).toMatch(/Recorded as U102/)
      expect(verifyLedger(worktree.root).kind).toBe('intact')
      expect(await install(worktree)).not.toMatch(/damaged/)
    })

    it('and is held until the user decides where it may not be all', async () => {
      const worktree = await damagedAt('reviewed')
      expect(await install(worktree)).toMatch(/Carried over: U1, U2, U3, waiver of F1, waiver of U3\..*held by U101/)
      expect(await statesIn(worktree)).toEqual([
        'U1 open major',
        'U2 open major',
        'U3 waived advice',
        'U101 open major',
      ])
      expect(readdirSync(worktree.at('.claude/review')).filter((name) => name.includes('damaged'))).toHaveLength(1)
      for (const id of ['U1', 'U2']) await waive(worktree, id, '--reason', 'Found out.')
      worktree.write('docs/plan.md', second)
      expect((await worktree.savePlan(second))?.text).toMatch(/is not approved[\s\S]*U101/)
      expect(gateIsOpen(worktree)).toBe(false)
      expect(await waive(worktree, 'U101', '--reason', 'I have read it.')).toMatch(/approved by you; the gate is open/)
    })

    it('also where it was put aside by hand', async () => {
      const worktree = await damagedAt('changes-requested')
      renameSync(worktree.at(ledger), worktree.at('.claude/review/events.damaged-1.jsonl'))
      expect((await worktree.savePlan(second))?.text).toMatch(/put aside[\s\S]*plan-gate install/)
      expect(await install(worktree)).toMatch(/Carried over: U2, U3, waiver of F1, waiver of U3\..*held by U101/)
      expect(gateIsOpen(worktree)).toBe(false)
    })
  })
})

it.each(['newest', 'oldest'] as const)(
  'what the user has decided reaches %s Claude Code with the next message, once',
  async (client) => {
    const { root, remove } = await gatedWorktree({})
    onTestFinished(remove)
    leaveNote(root, 'plan-gate: the user has decided.')
    const said = async (): Promise<string> => {
      const { requests } = await runClaude({ client, cwd: root, turns: [{ text: 'I see.' }] })
      return JSON.stringify(requests[0]?.messages)
    }
    expect([await said(), await said()]).toEqual([
      expect.stringContaining('plan-gate: the user has decided.'),
      expect.not.stringContaining('the user has decided'),
    ])
  },
  60_000,
)

it.skipIf(!hasTmux)(
  `a comment reaches the idle Claude with the next message, is settled and approved; an approval in the page opens the gate ${byTmux}`,
  async () => {
    const silent = verdict({ verdict: 'APPROVED' })
    const fixed = verdict({
      verdict: 'APPROVED',
      previous: [{ id: 'U1', status: 'fixed', reason: 'Approach says who asked for it.' }],
    })
    const stays = verdict({
      verdict: 'CHANGES_REQUIRED',
      findings: [
        { id: null, severity: 'critical', section: '## Approach', problem: 'It is wrong.', evidence: '', fix: 'x' },
      ],
    })
    worktree = await reviewedWorktree([silent, silent, fixed, stays])
    const { root, at } = worktree
    const [answered, third] = [planText('One step, which Ada asked for.'), planText('Something else altogether.')]
    const write = (path: string, content: string): Turn => ({
      tools: [{ name: 'Write', input: { file_path: at(path), content } }],
    })
    messages = await startMessagesApi({
      lifetimeMs: 150_000,
      turns: [
        write('docs/plan.md', first),
        { text: 'Planned once.' },
        write('src/early.ts', 'too early'),
        write('docs/plan.md', answered),
        write('src/new.ts', 'in time'),
        { text: 'Built.' },
        write('docs/plan.md', third),
        { text: 'Planned again.' },
        write('src/last.ts', 'approved by the user'),
        { text: 'Built again.' },
      ],
    })
    await startClaude(terminal, worktree, messages)
    await terminal.seen(/Planned once\./, 60_000)
    expect(gateIsOpen(worktree)).toBe(true)

    const commenting = await servedReport(root)
    const one = await openPage(browser, commenting.url)
    await one.page.click(numberOf(first, 'One step'))
    await one.page.fill('.comment textarea', 'Who asked for it?')
    await one.page.click(buttons.request)
    await one.until(`${text('.said')}.includes('the approval has ended')`)
    expect(gateIsOpen(worktree)).toBe(false)

    const before = messages.requests.length
    terminal.tmux('send-keys', 'Go on with it.', 'Enter')
    await terminal.seen(/Built\./, 90_000)
    const told = messages.requests[before]?.messages.map(({ content }) => textOf(content)).join('\n') ?? ''
    expect(told).toMatch(
      /the user has read docs\/plan\.md and requests changes\.[\s\S]*U1 \(Approach, docs\/plan\.md:\d+, “One step\.”\): Who asked for it\?/,
    )
    const [refused, , built] = messages.record().toolResults.slice(1)
    expect([refused?.isError, built?.isError, worktree.read('src/new.ts')]).toEqual([true, false, 'in time'])

    // The reviewer was handed it, said nothing, was asked again, and only then approved.
    const [, asked, again] = worktree.api.requests
    expect(asked && saidBy(asked, 'user').at(-1)).toMatch(/earlier findings[\s\S]*"id":"U1"[\s\S]*Who asked for it\?/)
    expect(again && saidBy(again, 'user').at(-1)).toMatch(/What became of U1\?/)
    expect(
      eventsOf(root)
        .map(({ type }) => type)
        .filter((type) => /^(?:approved|approval|changes|reviewed)/.test(type)),
    ).toEqual(['reviewed', 'approved', 'approval-revoked', 'changes-requested', 'reviewed', 'approved'])

    terminal.tmux('send-keys', 'Now something else.', 'Enter')
    await terminal.seen(/Planned again\./, 60_000)
    expect(gateIsOpen(worktree)).toBe(false)
    const approving = await openPage(browser, (await servedReport(root)).url)
    await approving.page.fill('.whole textarea', 'I know better.')
    await approving.page.click(buttons.approve)
    await approving.until(`${text('.said')}.includes('approved by you')`)
    terminal.tmux('send-keys', 'Do it.', 'Enter')
    await terminal.seen(/Built again\./, 60_000)
    expect(worktree.read('src/last.ts')).toBe('approved by the user')
    expect(JSON.stringify(messages.requests.at(-1)?.messages)).toMatch(
      /the user approved docs\/plan\.md as it is \(I know better\.\)/,
    )
  },
  240_000,
)
