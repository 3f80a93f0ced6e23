import { describe, expect, it } from 'vitest'
import { startAimock } from '../../support/servers/aimock.ts'
import { answerOf, fakeKey, reviewPlace } from '../cli/review-place.ts'

/** One row, at a server that somebody else has written. */
const config = (url: string, more: string) =>
  `review:\n  routes:\n    - {backend: curl, name: stranger, model: qwen3, base_url: "${url}/v1", when: [always], fail_mode: hard_fail${more}}\n`
const env = { OPENAI_API_KEY: fakeKey }

describe('the server of a stranger', () => {
  it.each(['auto', 'chat', 'responses'])('gives a verdict by `api: %s`', async (api) => {
    const url = await startAimock(answerOf({ verdict: 'CHANGES_REQUIRED', summary: 'Rename it first.' }))
    const place = reviewPlace({ 'plan-gate.yaml': config(url, `, api: ${api}`), 'prd.md': '# Shop\n' }, env)
    const result = await place.result(['--type', 'prd', '--content', 'prd.md'])
    expect(result).toMatchObject({ verdict: 'CHANGES_REQUIRED', summary: 'Rename it first.' })
    expect(result.pass_metadata).toMatchObject({ route: 'stranger', model: 'qwen3' })
  })

  it('gives none for the thoughts of a model', async () => {
    const url = await startAimock(
      `<think>${answerOf({ verdict: 'APPROVED' })}</think>${answerOf({ verdict: 'CHANGES_REQUIRED' })}`,
    )
    const place = reviewPlace({ 'plan-gate.yaml': config(url, ''), 'prd.md': '# Shop\n' }, env)
    expect(await place.result(['--type', 'prd', '--content', 'prd.md'])).toMatchObject({ verdict: 'CHANGES_REQUIRED' })
  })

  it('that wants a key gets the one of the row, and otherwise none', async () => {
    const url = await startAimock(answerOf(), { keys: fakeKey })
    const place = reviewPlace({ 'plan-gate.yaml': config(url, ''), 'prd.md': '# Shop\n' }, env)
    const { stderr } = await place.review(['--type', 'prd', '--content', 'prd.md'], { exitCode: 4 })
    expect(stderr).toMatch(/needs a key, and none is sent \(401\)/)
    place.write({ 'plan-gate.yaml': config(url, ', api_key_env: OPENAI_API_KEY') })
    expect(await place.result(['--type', 'prd', '--content', 'prd.md'])).toMatchObject({ verdict: 'APPROVED' })
  })
})
