import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type FailureClass, reviewerAnswerSchema } from '../../../../src/schemas/review.ts'
import { fakeKey } from '../../../support/reviewer-fixture.ts'
import type { Turn } from '../../../support/servers/messages-api.ts'
import { type ClaudeFixture, withClaude } from '../../../support/with-claude.ts'

/** What the real Claude Code makes of a service that fails, and what is made of that. */
const says = (text: string): Turn => ({ text })
const refuses = (status: number, type: string, message: string, headers: { [name: string]: string } = {}): Turn => ({
  http: { status, body: { type: 'error', error: { type, message } }, headers },
})
const always = (turn: Turn) => () => turn
const hourly = {
  'anthropic-ratelimit-unified-status': 'rejected',
  'anthropic-ratelimit-unified-reset': String(Math.floor(Date.now() / 1000) + 3_600),
  'anthropic-ratelimit-unified-representative-claim': 'five_hour',
}
const subscription = { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: fakeKey }

type Case = {
  name: string
  turn: Turn
  env?: { [name: string]: string }
  failure: FailureClass
  requests?: number
  why?: RegExp
}

describe('a service that', () => {
  it.each([
    {
      name: 'does not know the key',
      turn: refuses(401, 'authentication_error', 'invalid x-api-key'),
      failure: 'auth',
      why: /login of Claude Code: .*Invalid API key/,
    },
    {
      name: 'has seen the login expire',
      turn: refuses(401, 'authentication_error', 'OAuth token has expired.'),
      env: subscription,
      failure: 'auth',
    },
    { name: 'forbids it', turn: refuses(403, 'permission_error', 'no access'), failure: 'auth' },
    {
      name: 'wants to be paid',
      turn: refuses(400, 'invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'),
      failure: 'quota',
    },
    {
      name: 'has given the subscription all for these hours',
      turn: refuses(429, 'rate_limit_error', 'limit', hourly),
      env: subscription,
      failure: 'quota',
      why: /5-hour limit/,
    },
    {
      name: 'asks for fewer requests, and is soon ready',
      turn: refuses(429, 'rate_limit_error', 'slow down'),
      failure: 'rate-limited',
      requests: 3,
    },
    {
      name: 'is overloaded',
      turn: refuses(529, 'overloaded_error', 'Overloaded'),
      failure: 'rate-limited',
      requests: 3,
    },
    { name: 'has an error of its own', turn: refuses(500, 'api_error', 'oops'), failure: 'server', requests: 3 },
    { name: 'is down', turn: { http: { status: 503, body: 'no' } }, failure: 'server', requests: 3 },
    { name: 'is not one', turn: { http: { status: 200, body: '<html>' } }, failure: 'transport' },
    { name: 'breaks off', turn: { text: 'half', events: 4 }, failure: 'transport' },
    {
      name: 'does not know the model',
      turn: refuses(404, 'not_found_error', 'model: claude-x'),
      failure: 'rejected',
      why: /model is not available/,
    },
    {
      name: 'cannot take so much',
      turn: refuses(400, 'invalid_request_error', 'prompt is too long: 250000 tokens > 200000 maximum'),
      failure: 'rejected',
      why: /too long/,
    },
    {
      name: 'cannot take such a body',
      turn: refuses(413, 'request_too_large', 'Request exceeds the maximum size'),
      failure: 'rejected',
      why: /too long/,
    },
    {
      name: 'rejects it for another reason',
      turn: refuses(400, 'invalid_request_error', 'something else'),
      failure: 'rejected',
      why: /something else/,
    },
    { name: 'declines', turn: { text: 'I cannot', stopReason: 'refusal' }, failure: 'refused' },
    { name: 'says nothing at all', turn: { text: '' }, failure: 'malformed' },
  ] satisfies Case[] as Case[])('$name: $failure', ({ turn, env = {}, failure, requests, why = /./ }) =>
    withClaude({ turns: always(turn), env }, async (claude) => {
      const startedAt = performance.now()
      expect(await claude.ask()).toMatchObject({
        kind: 'failed',
        failure,
        why: expect.stringMatching(why),
        nextStep: expect.stringMatching(/\S{3}/),
        thread: null,
      })
      // A failure that lasts is not hidden for minutes.
      expect(performance.now() - startedAt).toBeLessThan(15_000)
      if (requests !== undefined) expect(claude.api.requests).toHaveLength(requests)
    }),
  )

  it('names the time after which to ask again is not waited for by Claude itself', () =>
    withClaude(
      { turns: always(refuses(429, 'rate_limit_error', 'slow down', { 'retry-after': '30' })) },
      async (claude) => {
        const answer = await claude.ask()
        expect(answer).toMatchObject({ failure: 'rate-limited' })
        expect(answer.kind === 'failed' ? answer.retryAfterMs : 0).toBeGreaterThanOrEqual(30_000)
        expect(claude.api.requests).toHaveLength(1)
      },
    ))

  it('declines leaves the text to no other model', () =>
    withClaude(
      { turns: ({ model }) => (model === 'claude-opus-5-5' ? { text: 'no', stopReason: 'refusal' } : says(model)) },
      async (claude) => {
        expect(await claude.ask({ model: 'claude-opus-5-5' })).toMatchObject({ failure: 'refused' })
        expect(new Set(claude.api.requests.map(({ model }) => model))).toEqual(new Set(['claude-opus-5-5']))
      },
    ))

  it('was busy for a moment answers the same question', () =>
    withClaude({ turns: [refuses(529, 'overloaded_error', 'Overloaded'), says('yes')] }, async (claude) => {
      expect(await claude.ask()).toMatchObject({ text: 'yes' })
      expect(claude.signs).toContain('claude asks again (529)')
    }))

  it.each([
    { name: 'is not there', baseUrl: 'http://127.0.0.1:9' },
    { name: 'has no address', baseUrl: 'https://nowhere.invalid' },
  ])('$name: transport', ({ baseUrl }) =>
    withClaude({ turns: [], baseUrl }, async (claude) => {
      expect(await claude.ask()).toMatchObject({ failure: 'transport' })
    }),
  )

  it('is to be asked without a login: auth, and nothing is sent', () =>
    withClaude({ turns: [], env: { ANTHROPIC_API_KEY: '' } }, async (claude) => {
      expect(await claude.ask()).toMatchObject({ failure: 'auth', nextStep: expect.stringContaining('/login') })
      expect(claude.api.requests).toEqual([])
    }))

  it('never answers in the form that was asked for: malformed', () =>
    withClaude(
      { turns: always({ tools: [{ name: 'StructuredOutput', input: { verdict: 'X' } }] }) },
      async (claude) => {
        expect(await claude.ask({ schema: reviewerAnswerSchema })).toMatchObject({ failure: 'malformed' })
      },
    ))
})

describe('a Claude that', () => {
  /** The help is the real one's. */
  const pretends = (claude: ClaudeFixture, text: string): string =>
    claude.script('bin/claude', `[ "$1" = --help ] && exec ${claude.program} --help\n${text}`)
  const result = (more: object) =>
    JSON.stringify({ type: 'result', subtype: 'success', is_error: false, result: 'yes', ...more })

  it.each([
    { name: 'prints one result', text: `cat > /dev/null; cat <<'X'\n${result({})}\nX`, expected: { text: 'yes' } },
    {
      name: 'prints a list of events',
      text: `cat > /dev/null; cat <<'X'\n[{"type":"system"},${result({})}]\nX`,
      expected: { text: 'yes' },
    },
    {
      name: 'prints them over lines',
      text: `cat > /dev/null; cat <<'X'\n${JSON.stringify([{ type: 'system' }, JSON.parse(result({}))], null, 2)}\nX`,
      expected: { text: 'yes' },
    },
    {
      name: 'has structured output and prose',
      text: `cat > /dev/null; cat <<'X'\n${result({ structured_output: { a: 1 } })}\nX`,
      expected: { text: '{"a":1}' },
    },
    {
      name: 'ends with an error after its answer',
      text: `cat > /dev/null; cat <<'X'\n${result({})}\nX\nexit 3`,
      expected: { text: 'yes' },
    },
    {
      name: 'prints half a result',
      text: `echo '{"type":"result","subtype":"succ'`,
      expected: { failure: 'malformed' },
    },
    { name: 'prints nothing', text: 'exit 0', expected: { failure: 'malformed' } },
    { name: 'forges a result on stderr', text: `echo '${result({})}' >&2`, expected: { failure: 'malformed' } },
    {
      name: 'crashes',
      text: 'echo "panic: at x" >&2; exit 134',
      expected: { failure: 'crashed', why: expect.stringContaining('panic: at x') },
    },
    { name: 'is killed', text: 'kill -9 $$', expected: { failure: 'crashed' } },
    {
      name: 'does not know a flag',
      text: 'echo "error: unknown option \'--restricted\'" >&2; exit 1',
      expected: { failure: 'not-installed' },
    },
    {
      name: 'has a tool that it should not have',
      text: `echo '{"type":"system","subtype":"init","session_id":"x","tools":["Read","Bash"],"mcp_servers":[]}'; sleep 20`,
      expected: { failure: 'not-installed', why: expect.stringContaining('the tools Bash') },
    },
    {
      name: 'has a server that it should not have',
      text: `echo '{"type":"system","subtype":"init","session_id":"x","tools":["Read"],"mcp_servers":[{"name":"x"}]}'; sleep 20`,
      expected: { failure: 'not-installed', why: expect.stringContaining('MCP servers') },
    },
  ])('$name', ({ text, expected }) =>
    withClaude({ turns: [] }, async (claude) => {
      expect(await claude.ask({}, { program: pretends(claude, text), sandbox: false })).toMatchObject(expected)
    }),
  )

  it.each([
    { name: 'is not there', program: () => '/nowhere/claude', failure: 'not-installed' },
    {
      name: 'cannot be run',
      program: (claude: ClaudeFixture) => claude.write('bin/claude', 'x'),
      failure: 'not-installed',
    },
    {
      name: 'is too old',
      program: (claude: ClaudeFixture) => claude.script('bin/claude', 'echo "  -p, --print   x"'),
      failure: 'not-installed',
      why: /lacks --input-format, .*--restricted/,
    },
    {
      name: 'does not even run',
      program: (claude: ClaudeFixture) => claude.script('bin/claude', 'exit 127'),
      failure: 'not-installed',
    },
  ])('$name', ({ program, failure, why = /./ }) =>
    withClaude({ turns: [] }, async (claude) => {
      expect(await claude.ask({}, { program: program(claude) })).toMatchObject({
        failure,
        why: expect.stringMatching(why),
      })
    }),
  )

  it('is known is not asked for its help again', () =>
    withClaude({ turns: [says('1'), says('2')] }, async (claude) => {
      const program = claude.script(
        'bin/claude',
        `[ "$1" = --help ] && echo x >> ${claude.folder}/helped\nexec ${claude.program} "$@"`,
      )
      for (const text of ['1', '2']) expect(await claude.ask({}, { program, sandbox: false })).toMatchObject({ text })
      expect(readFileSync(`${claude.folder}/helped`, 'utf8')).toBe('x\n')
    }))
})

describe.each([true, false])('time (sandbox: %s)', (sandbox) => {
  it.each([
    { name: 'that is up', question: { timeoutMs: 2_500 }, more: {}, why: /did not finish within/ },
    { name: 'without any sign of life', question: {}, more: { limits: { silenceMs: 1_500 } }, why: /said nothing/ },
  ])('$name ends it with all of its processes', ({ question, more, why }) =>
    withClaude({ turns: always({ hangs: true }) }, async (claude) => {
      const asking = claude.ask(question, { ...more, sandbox })
      await expect.poll(() => claude.api.requests.length, { timeout: 10_000 }).toBe(1)
      expect(claude.processes()).not.toEqual([])
      expect(await asking).toMatchObject({ failure: 'timeout', why: expect.stringMatching(why) })
      await expect.poll(() => claude.processes(), { timeout: 3_000 }).toEqual([])
    }),
  )

  it('that nobody has any more ends it with all of its processes', () =>
    withClaude({ turns: always({ hangs: true }) }, async (claude) => {
      const stop = new AbortController()
      const asking = claude.ask({ thread: { kind: 'start' } }, { signal: stop.signal, sandbox })
      await expect.poll(() => claude.api.requests.length, { timeout: 10_000 }).toBe(1)
      stop.abort()
      expect(await asking).toMatchObject({ failure: 'cancelled' })
      await expect.poll(() => claude.processes(), { timeout: 3_000 }).toEqual([])
    }))
})
