import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { openaiReviewer } from '../../../src/reviewers/openai/openai.ts'
import type { Question } from '../../../src/schemas/review.ts'
import { serve } from '../../support/servers/serve.ts'

const question: Question = {
  ...{ system: 's', user: 'u', model: 'm', effort: null, schema: null, root: null, timeoutMs: 20_000 },
  ...{ thread: { kind: 'none' }, subject: { type: 'plan', content: '' } },
}

let folder: string
let certificate: string
let key: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'trust-'))
  certificate = join(folder, 'ca.pem')
  key = join(folder, 'key.pem')
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1'],
      ...['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', certificate],
    ],
    { stdio: 'ignore' },
  )
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Asks a server with a certificate that only its owner knows. */
async function ask(env: NodeJS.ProcessEnv): Promise<string> {
  const body = JSON.stringify({ choices: [{ message: { content: 'It is sound.' }, finish_reason: 'stop' }] })
  const pair = { cert: readFileSync(certificate), key: readFileSync(key) }
  const { host, close } = await serve(
    createServer(pair, (_, response) => response.end(body)),
    30_000,
  )
  onTestFinished(close)
  const setup = { OPENAI_API_KEY: ['sk', 'test'].join('-'), OPENAI_BASE_URL: `https://${host}/v1`, ...env }
  const context = { signal: new AbortController().signal, onProgress: () => {} }
  const answer = await openaiReviewer({ env: setup, defaultModel: 'm' })(question, context)
  return answer.kind === 'failed' ? answer.failure : answer.text
}

it('a stranger is not trusted', async () => {
  expect(await ask({})).toBe('transport')
})

it('whom the user trusts is trusted, though the hook’s node was started without it', async () => {
  expect(await ask({ NODE_EXTRA_CA_CERTS: certificate })).toBe('It is sound.')
})

it('and no one where that cannot be read', async () => {
  expect(await ask({ NODE_EXTRA_CA_CERTS: '/nowhere.pem' })).toBe('transport')
})

it('a variable that is not the user’s does not switch the check off', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(await ask({})).toBe('transport')
  expect(await ask({ NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toBe('It is sound.')
})
