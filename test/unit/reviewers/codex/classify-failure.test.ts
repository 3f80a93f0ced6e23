import { describe, expect, it } from 'vitest'
import { classifyFailure } from '../../../../src/reviewers/codex/turn.ts'

const body = (message: string, code: string, param: string | null = null): string =>
  JSON.stringify({ error: { message, type: 'invalid_request_error', code, param } })

describe('what Codex says about a failure', () => {
  it.each([
    ['unexpected status 401 Unauthorized: Incorrect API key provided: x, url: http://127.0.0.1:42901/v1', 'auth'],
    ['unexpected status 403 Forbidden: Country not supported, url: http://127.0.0.1:50300/v1', 'auth'],
    [
      'Your access token could not be refreshed because your refresh token has expired. Please log out and sign in again.',
      'auth',
    ],
    ['Missing environment variable: `FAKE_KEY`.', 'auth'],
    ['You’ve hit your usage limit. Upgrade to Pro or try again at 3:17 PM.', 'quota'],
    ['Quota exceeded. Check your plan and billing details.', 'quota'],
    ['To use Codex with your ChatGPT plan, upgrade to Plus: https://chatgpt.com/explore/plus.', 'quota'],
    ['unexpected status 402 Payment Required: x, url: http://127.0.0.1:4000/v1', 'quota'],
    ['exceeded retry limit, last status: 429 Too Many Requests', 'rate-limited'],
    ['We’re currently experiencing high demand, which may cause temporary errors.', 'server'],
    ['Selected model is at capacity. Please try a different model.', 'server'],
    ['exceeded retry limit, last status: 503 Service Unavailable', 'server'],
    ['unexpected status 529 <unknown status code>: overloaded, url: http://127.0.0.1:4000/v1', 'server'],
    ['stream disconnected before completion: The server had an error', 'server'],
    ['stream disconnected before completion: stream closed before response.completed', 'transport'],
    [
      'stream disconnected before completion: Transport error: network error: error decoding response body',
      'transport',
    ],
    ['stream disconnected before completion: idle timeout waiting for SSE', 'transport'],
    ['Connection failed: error sending request', 'transport'],
    ['stream disconnected before completion: Connection refused (os error 111)', 'transport'],
    ['Incomplete response returned, reason: max_output_tokens', 'malformed'],
    ['stream disconnected before completion: Incomplete response returned, reason: content_filter', 'refused'],
    ['Invalid prompt: we limited access to this content for safety reasons.', 'refused'],
    ['The model `x` does not exist or you do not have access to it.', 'rejected'],
    ['The `x` model is not supported when using Codex with a ChatGPT account.', 'rejected'],
    ['unexpected status 404 Not Found: <html>nothing</html>, url: http://127.0.0.1:40100/v1', 'rejected'],
    ['unexpected status 413 Payload Too Large: too large, url: http://127.0.0.1:4000/v1', 'rejected'],
    ['Error: turn/start: turn/start failed: Input exceeds the maximum length of 1048576 characters.', 'rejected'],
    [body('Something else is wrong', 'bad'), 'rejected'],
    ['Not inside a trusted directory and --skip-git-repo-check was not specified.', 'rejected'],
    ['Error loading config.toml: unknown variant `nonsense`', 'not-installed'],
    ['Error finding codex home: CODEX_HOME points to "/x", but that path does not exist', 'not-installed'],
    ["error: unexpected argument '--output-schema' found", 'not-installed'],
    ["/usr/bin/env: 'node': No such file or directory", 'not-installed'],
  ])('%s → %s', (said, failure) => {
    expect(classifyFailure(said, [])).toMatchObject({ failure: { failure }, fallback: null })
  })

  it.each([
    ['Error: thread/resume: thread/resume failed: no rollout found for thread id 0a (code -32600)', 'new-thread'],
    ['Error: thread/resume: thread 0a already has an active writer (code -32600)', 'new-thread'],
    ['Error: thread/resume: failed to read: rollout at /x is empty (code -32603)', 'new-thread'],
    ["Codex ran out of room in the model's context window. Start a new thread or clear earlier history.", 'new-thread'],
    [
      body("Invalid schema for response_format 'codex_output_schema'", 'invalid_json_schema', 'text.format.schema'),
      'no-schema',
    ],
    [
      body("Unsupported value: 'xhigh' is not supported with the 'x' model.", 'unsupported_value', 'reasoning.effort'),
      'no-effort',
    ],
  ])('%s → rejected, and once more with %s', (said, fallback) => {
    expect(classifyFailure(said, [])).toMatchObject({ failure: { failure: 'rejected' }, fallback })
  })

  it('knows nothing of what is new, so that it is called a crash', () => {
    expect(['', 'thread main panicked', 'Something happened'].map((said) => classifyFailure(said, []))).toEqual([
      null,
      null,
      null,
    ])
  })

  it('says it in its own words with the server’s own behind them, and without a key', () => {
    const key = ['secret', 'of', 'the', 'test'].join('-')
    expect(classifyFailure(body(`The model x does not\n exist, ${key}`, 'model_not_found'), [key])?.failure).toEqual({
      failure: 'rejected',
      why: 'The model is not available: The model x does not exist, [redacted]',
      nextStep: 'Name another one: review.models in plan-gate.yaml, or model in config.toml of Codex.',
      retryAfterMs: null,
    })
  })

  it.each([
    ['rate limit exceeded: Rate limit reached. Please try again in 2s.', 2_000],
    ['rate limit exceeded: Please try again in 1.5s.', 1_500],
    ['rate limit exceeded: Please try again in 250ms.', 250],
    ['rate limit exceeded: Please try again in 2 minutes.', 120_000],
    ['rate limit exceeded', null],
    ['Quota exceeded; try again in 2s', null],
  ])('%s → wait for %s ms', (said, retryAfterMs) => {
    expect(classifyFailure(said, [])?.failure.retryAfterMs).toBe(retryAfterMs)
  })
})
