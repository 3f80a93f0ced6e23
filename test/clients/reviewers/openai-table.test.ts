import { describe, expect, it } from 'vitest'
import { chatReply, json, raw, startOpenAiHttp } from '../../support/servers/openai-http.ts'
import { answerOf, fakeKey, httpPlace, replies, reviewPlace } from '../cli/review-place.ts'

const otherKey = ['other', 'key', 'of', 'the', 'tests'].join('-')
const asked = ['--type', 'prd', '--content', 'prd.md']

const tableOf = (...rows: readonly string[]): string =>
  `review:\n  routes:\n${rows.map((row) => `    - {backend: curl, model: qwen3, when: [always], ${row}}\n`).join('')}`

describe('several servers in one table', () => {
  it('where the first fails the second serves, and each gets its own key', async () => {
    const first = await startOpenAiHttp(raw(502, ''))
    const second = await startOpenAiHttp(chatReply(answerOf()))
    const config = tableOf(
      `name: first, base_url: "${first.url}/v1", api_key_env: OTHER_KEY`,
      `name: second, base_url: "${second.url}/v1", fail_mode: hard_fail`,
    )
    const place = reviewPlace(
      { 'plan-gate.yaml': config, 'prd.md': '# Shop\n' },
      { OPENAI_API_KEY: fakeKey, OTHER_KEY: otherKey },
    )
    const { stdout, stderr } = await place.review([...asked, '--json'], { env: { PLAN_GATE_DEBUG: '1' } })
    expect(JSON.parse(stdout)).toMatchObject({
      verdict: 'APPROVED',
      pass_metadata: { route: 'second', model: 'qwen3' },
    })
    expect(stderr).toContain('trying backend=curl, name=first, conditions=[always], result=fail (server)')
    expect(stderr).toContain('trying backend=curl, name=second, conditions=[always], result=success')
    expect(first.received.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${otherKey}`])
    expect(second.received.map(({ headers }) => headers.authorization)).toEqual([undefined])
    expect(JSON.stringify([first.received, second.received, stdout, stderr])).not.toContain(fakeKey)
  })

  it('a server over http elsewhere is refused before anybody is asked', async () => {
    const config = tableOf('name: far, base_url: "http://192.0.2.1:8000/v1", fail_mode: hard_fail')
    const place = reviewPlace({ 'plan-gate.yaml': config, 'prd.md': '# Shop\n' })
    const { stderr } = await place.review(asked, { exitCode: 2 })
    expect(stderr).toMatch(/review\.routes\[0\]\.base_url: the address is not encrypted \(http:\/\/192\.0\.2\.1:8000\)/)
    expect(stderr).toContain('allow_http: true')
  })

  it('a row with nothing of its own is asked at OPENAI_BASE_URL with OPENAI_API_KEY, as ever', async () => {
    const place = await httpPlace([replies()], { 'a.txt': 'x\n' })
    await place.review(['--type', 'code', '--content', 'a.txt'])
    expect(place.http.received[0]?.headers.authorization).toBe(`Bearer ${fakeKey}`)
  })

  it('that is not the pinned one is not used, and nobody is asked', async () => {
    const http = await startOpenAiHttp(chatReply(answerOf()))
    const pin = `  policy: {routes_sha256: "${'0'.repeat(64)}"}\n`
    const config = `${tableOf(`name: local, base_url: "${http.url}/v1", fail_mode: hard_fail`)}${pin}`
    const place = reviewPlace({ 'plan-gate.yaml': config, 'prd.md': '# Shop\n' })
    const { stderr } = await place.review(asked, { exitCode: 2 })
    expect(stderr).toMatch(/not the pinned one: pinned 0{64}, and this one has [0-9a-f]{64}\..*`plan-gate routes`/)
    expect(http.received).toHaveLength(0)
  })

  it('what a server lacks is found once, and not by each pass', async () => {
    const http = await startOpenAiHttp((response, received) =>
      (received.path.endsWith('/responses') ? replies({ risks: 4 }) : json(404, { detail: 'Not Found' }))(
        response,
        received,
      ),
    )
    const row = `name: local, base_url: "${http.url}/v1", capabilities: [multi_pass], fail_mode: hard_fail`
    const place = reviewPlace({ 'plan-gate.yaml': tableOf(row), 'prd.md': '# Shop\n' })
    expect(await place.result(asked)).toMatchObject({ pass_metadata: { passes_completed: 3 } })
    expect(http.received.map(({ path }) => path)).toEqual([
      // With the schema, and without.
      ...Array<string>(2).fill('/v1/chat/completions'),
      ...Array<string>(3).fill('/v1/responses'),
    ])
  })
})
