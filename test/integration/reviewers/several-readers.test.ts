import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { ReviewResult } from '../../../src/schemas/review.ts'
import { gatedWorktree } from '../../support/gated-worktree.ts'
import { planText } from '../../support/plan-texts.ts'
import { fireAfterWrite, type PlanTold } from '../../support/reviewed-worktree.ts'
import { runCli } from '../../support/run-cli.ts'
import { type Act, chatReply, type OpenAiHttp, startOpenAiHttp } from '../../support/servers/openai-http.ts'
import { temporaryFolder, temporaryRepo } from '../../support/temporary-repo.ts'
import { answer, finding } from '../../unit/review/reviewer-answers.ts'

const lost = finding('The rows that were written before are lost.', { section: 'Approach' })
const says = (more: Parameters<typeof answer>[0]): Act => {
  const said = answer(more)
  return chatReply(
    JSON.stringify({
      ...said,
      is_optimal: said.verdict === 'APPROVED',
      complexity: { risk_area_count: 0, files_affected: 1, scope_category: 'low' },
    }),
  )
}
const approve = says({})
const refuse = says({ verdict: 'CHANGES_REQUIRED', findings: [lost] })
const after =
  (ms: number, act: Act): Act =>
  (response, received) =>
    void setTimeout(() => act(response, received), ms)
const hang: Act = () => {}

/** A review of a document by rows of OpenAI-compatible servers, all of which read it. */
async function review(
  servers: { readonly [name: string]: OpenAiHttp },
  readers: string,
  flags: readonly string[] = [],
) {
  const rows = Object.entries(servers).map(
    ([name, { url }]) =>
      `    - {backend: curl, name: ${name}, when: [always], model: m-${name}, base_url: '${url}/v1', capabilities: [multi_pass], fail_mode: hard_fail}\n`,
  )
  const folder = temporaryRepo('shop', {
    'plan-gate.yaml': `review:\n  readers: ${readers}\n  routes:\n${rows.join('')}`,
    'design.md': '# Design\n\n## Approach\n\nOne table.\n',
  })
  const startedAt = performance.now()
  const { stdout } = await runCli(['review', '--type', 'sdd', '--content', 'design.md', '--json', ...flags], {
    cwd: folder,
  })
  return { result: JSON.parse(stdout) as ReviewResult, ms: performance.now() - startedAt }
}

it('three readers of which one hangs and one disagrees: the union with its sources, and nobody waits for the one that hangs', async () => {
  const servers = {
    one: await startOpenAiHttp(after(300, approve)),
    other: await startOpenAiHttp(after(3_000, refuse)),
    third: await startOpenAiHttp(hang),
  }
  // With --fast each is asked once, so the slowest that answered is the measure of the whole.
  const { result, ms } = await review(servers, '[one, other, third]', ['--fast'])
  expect(result.verdict).toBe('CHANGES_REQUIRED')
  expect(result.findings).toMatchObject([{ id: 'F1', problem: lost.problem, sources: ['other'] }])
  expect(result.notices?.join('\n')).toContain('The reader third has not answered: it was not waited for any longer')
  expect(result.pass_metadata?.readers?.map(({ name, verdict }) => [name, verdict])).toEqual([
    ['one', 'APPROVED'],
    ['other', 'CHANGES_REQUIRED'],
    ['third', null],
  ])
  // The review itself, without the start of node.
  expect((result.pass_metadata?.total_duration_ms ?? 0) / 3_000).toBeGreaterThan(1)
  expect((result.pass_metadata?.total_duration_ms ?? 0) / 3_000).toBeLessThan(1.1)
  expect(ms).toBeLessThan(10_000)
  expect(servers.third.received).toHaveLength(1)
})

it('an approval needs each that answered: the verification of the first does not outvote the other', async () => {
  const servers = { one: await startOpenAiHttp(approve), other: await startOpenAiHttp(refuse) }
  const { result } = await review(servers, '[one, other]')
  expect(result).toMatchObject({ verdict: 'CHANGES_REQUIRED', findings: [{ sources: ['other'] }] })
  expect(servers.other.received.length).toBe(2)
  const withdrawn = { one: await startOpenAiHttp(approve), other: await startOpenAiHttp(refuse, approve) }
  expect((await review(withdrawn, '[one, other]')).result).toMatchObject({ verdict: 'APPROVED', findings: [] })
})

it('one that is down is said, and the others review', async () => {
  const servers = {
    one: await startOpenAiHttp(approve),
    other: { ...(await startOpenAiHttp(approve)), url: 'http://127.0.0.1:9' },
  }
  const { result } = await review(servers, '[one, other]')
  expect(result.verdict).toBe('APPROVED')
  expect(result.notices?.join('\n')).toMatch(/The reader other has not answered: No connection to/)
})

/** Saves plans in a worktree whose first rounds are read by two. */
async function planPlace(servers: { readonly one: OpenAiHttp; readonly other: OpenAiHttp }) {
  const rows = Object.entries(servers).map(
    ([name, { url }]) => `    - {backend: curl, name: ${name}, when: [always], model: m, base_url: '${url}/v1'}\n`,
  )
  const worktree = await gatedWorktree({ 'src/app.ts': 'export {}\n' }, { reviewer: null, reflect: false })
  onTestFinished(() => worktree.remove())
  worktree.configure(`review:\n  readers: [one, other]\n  routes:\n${rows.join('')}`)
  const home = temporaryFolder()
  const env = { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: home, XDG_CACHE_HOME: join(home, 'cache') }
  const save = (text: string): Promise<PlanTold> => {
    const file_path = worktree.write('docs/plan.md', text)
    const event = { hook_event_name: 'PostToolUse', tool_name: 'Write', tool_input: { file_path, content: '' } }
    return fireAfterWrite(worktree.root, event, env)
  }
  return { worktree, save, approval: worktree.at('.claude/review/approval.json') }
}

it('a plan of the hook: what one has found holds it, and the second round is read by the row that serves', async () => {
  const servers = { one: await startOpenAiHttp(approve), other: await startOpenAiHttp(refuse) }
  const { save, approval } = await planPlace(servers)
  expect((await save(planText('First.')))?.text).toMatch(/F1 · major · Approach, found by other/)
  expect(existsSync(approval)).toBe(false)
  const asked = servers.other.received.length
  expect((await save(planText('Second.')))?.text).toContain('F1')
  expect([servers.other.received.length, existsSync(approval)]).toEqual([asked, false])
})

it('an approval names all who have read the plan, and so does status', async () => {
  const { worktree, save, approval } = await planPlace({
    one: await startOpenAiHttp(approve),
    other: await startOpenAiHttp(approve),
  })
  await save(planText('First.'))
  expect(JSON.parse(readFileSync(approval, 'utf8'))).toMatchObject({
    is_optimal: true,
    route: 'one',
    readers: ['other'],
  })
  const { stdout } = await runCli(['status'], { cwd: worktree.root })
  expect(stdout).toContain('approved  by one (m) and other, ')
})
