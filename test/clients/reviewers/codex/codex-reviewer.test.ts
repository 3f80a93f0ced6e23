import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { reviewerAnswerSchema } from '../../../../src/schemas/review.ts'
import { fakeKey } from '../../../support/reviewer-fixture.ts'
import type { Turn } from '../../../support/servers/responses-api.ts'
import { saidBy } from '../../../support/servers/responses-record.ts'
import { type CodexFixture, withCodex } from '../../../support/with-codex.ts'

/** With the real Codex and a scripted model. */
const says = (text: string): Turn => ({ kind: 'model', text })
const runs = (cmd: string, text?: string): Turn => ({
  kind: 'model',
  calls: [{ name: 'exec_command', arguments: { cmd } }],
  ...(text === undefined ? {} : { text }),
})
const refuses = (message: string, code: string, param: string): Turn => ({
  kind: 'http',
  status: 400,
  body: { error: { message, type: 'invalid_request_error', code, param } },
})
const unknownThread = '01a1eef0-7c9a-72a1-96c8-89a053e3c795'
const usage = { input: 100, cached: 40, output: 20, reasoning: 5 }

/** Files of persisted threads. */
const rolloutsIn = ({ codexHome }: CodexFixture): string[] =>
  readdirSync(codexHome, { recursive: true, encoding: 'utf8' })
    .filter((path) => /rollout-.*\.jsonl$/.test(path))
    .map((path) => join(codexHome, path))

describe('a question to Codex', () => {
  it('is answered on a thread that begins, in the form that was asked for', () =>
    withCodex({ turns: [says('{"verdict":"APPROVED"}')] }, async (codex) => {
      const answer = await codex.ask({
        thread: { kind: 'start' },
        schema: reviewerAnswerSchema,
        effort: 'xhigh',
        model: 'another-model',
      })
      const [request] = codex.api.requests
      if (request === undefined) throw new Error('nothing was asked')
      expect(answer).toEqual({
        kind: 'answered',
        text: '{"verdict":"APPROVED"}',
        usage,
        model: 'another-model',
        thread: { id: expect.stringMatching(/^[0-9a-f-]{36}$/), used: usage, replaced: null },
        notices: [],
      })
      expect({
        key: request.headers.authorization,
        model: request.body.model,
        effort: request.body.reasoning?.effort,
        format: request.body.text?.format,
        instructions: saidBy(request, 'developer')[0],
        prompt: saidBy(request, 'user').at(-1),
      }).toMatchObject({
        key: `Bearer ${fakeKey}`,
        model: 'another-model',
        effort: 'xhigh',
        format: { type: 'json_schema', strict: true, schema: { required: reviewerAnswerSchema.required } },
        instructions: 'You review plans.',
        prompt: 'The plan: do it.',
      })
      expect(codex.signs).toEqual(['starting codex', 'codex is thinking', 'codex is answering'])
      expect(readdirSync(join(codex.folder, 'scratch'))).toEqual([])
    }))

  it('goes on with its thread, and each turn is charged for itself', () =>
    withCodex({ turns: [says('first'), says('second'), says('third')] }, async (codex) => {
      const first = await codex.ask({ thread: { kind: 'start' } })
      const id = first.thread?.id ?? ''
      const second = await codex.ask({ user: 'And now?', thread: { kind: 'resume', id, used: usage } })
      const third = await codex.ask({ thread: { kind: 'resume', id, used: null } })
      const request = codex.api.requests[1]
      if (request === undefined) throw new Error('nothing was asked')
      expect(second).toMatchObject({ text: 'second', usage, thread: { id, used: { input: 200 }, replaced: null } })
      expect(third).toMatchObject({ text: 'third', usage: null, thread: { id, used: { input: 300 } } })
      expect(saidBy(request, 'assistant')).toEqual(['first'])
      expect(saidBy(request, 'user').at(-1)).toBe('And now?')
      expect(rolloutsIn(codex)).toHaveLength(1)
    }))

  it.each([
    { instructions: 'replace', texts: ['The plan: do it.', 'The plan: do it.', 'Short.', 'The plan: do it.'] },
    {
      instructions: 'keep',
      texts: [
        'You review plans.\n\nThe plan: do it.',
        'You review plans.\n\nThe plan: do it.',
        'Short.',
        'You review plans.\n\nThe plan: do it.',
      ],
    },
  ] as const)(
    'says no more than is new to the thread, where its instructions $instructions',
    ({ instructions, texts }) =>
      withCodex({ turns: [says('yes')] }, async (codex) => {
        const asked: { turn?: string }[] = [{}, { turn: 'Short.' }]
        const { thread } = await codex.ask({ thread: { kind: 'start' } }, { instructions })
        const id = thread?.id ?? ''
        for (const more of asked)
          await codex.ask({ ...more, thread: { kind: 'resume', id, used: null } }, { instructions })
        // A thread that is gone has to be told everything.
        const lost = { kind: 'resume', id: '01a1ed39-1483-7430-bc57-36916eb75627', used: null } as const
        await codex.ask({ turn: 'Short.', thread: lost }, { instructions })
        expect(codex.api.requests.map((request) => saidBy(request, 'user').at(-1))).toEqual(texts)
        const own = codex.api.requests.map((request) => saidBy(request, 'developer')[0] === 'You review plans.')
        expect(new Set(own)).toEqual(new Set([instructions === 'replace']))
      }),
  )

  it('leaves nothing behind without a thread', () =>
    withCodex({ turns: [says('yes')] }, async (codex) => {
      expect(await codex.ask()).toMatchObject({ kind: 'answered', thread: null, usage })
      expect(rolloutsIn(codex)).toEqual([])
    }))

  it.each([
    { name: 'OPENAI_API_KEY, where Codex has no login', auth: null, expected: 'Bearer from-the-environment' },
    { name: 'its login, where it has one', auth: 'from-the-login', expected: 'Bearer from-the-login' },
  ])('goes to the provider that Codex knows with $name', ({ auth, expected }) =>
    withCodex(
      { turns: [says('yes')], provider: 'built-in', env: { OPENAI_API_KEY: 'from-the-environment' } },
      async (codex) => {
        if (auth !== null) writeFileSync(join(codex.codexHome, 'auth.json'), JSON.stringify({ OPENAI_API_KEY: auth }))
        expect(await codex.ask()).toMatchObject({ text: 'yes' })
        expect(codex.api.requests.map(({ headers }) => headers.authorization)).toEqual([expected])
      },
    ),
  )

  it('is asked again without the effort, the form, or both, where they are not taken', () =>
    withCodex(
      {
        turns: [
          refuses(
            "Unsupported value: 'high' is not supported with this model.",
            'unsupported_value',
            'reasoning.effort',
          ),
          refuses(
            "Invalid schema for response_format 'codex_output_schema'",
            'invalid_json_schema',
            'text.format.schema',
          ),
          says('yes'),
        ],
      },
      async (codex) => {
        const answer = await codex.ask({ effort: 'high', schema: reviewerAnswerSchema, thread: { kind: 'start' } })
        expect(answer).toMatchObject({
          text: 'yes',
          usage,
          notices: [
            'Reasoning effort high was left out: the model does not take it.',
            'The form of the answer was asked for in words only: the schema was refused.',
          ],
        })
        expect(codex.api.requests.map(({ body }) => [body.reasoning?.effort, body.text?.format?.type])).toEqual([
          ['high', 'json_schema'],
          [undefined, 'json_schema'],
          [undefined, undefined],
        ])
        const texts = codex.api.requests.map((request) => saidBy(request, 'user').at(-1) ?? '')
        expect(texts.map((text) => text.includes('by this JSON schema'))).toEqual([false, false, true])
      },
    ))

  it('that is longer than Codex takes starts no process', () =>
    withCodex({ turns: [says('yes')], program: '/nowhere/codex' }, async (codex) => {
      const tooLong = await codex.ask({ user: 'é'.repeat(1_048_577) })
      const notThere = await codex.ask({ user: '😀'.repeat(1_048_576 - 19) })
      expect([tooLong, notThere]).toMatchObject([{ failure: 'rejected' }, { failure: 'not-installed' }])
    }))

  it.each([
    { name: 'a refusal', turns: [{ kind: 'model', refusal: 'I cannot.' }], expected: 'refused' },
    { name: 'nothing', turns: [{ kind: 'model', usage: { output: 5, reasoning: 5 } }], expected: 'malformed' },
    {
      name: 'only what it means to do',
      turns: [runs('true', 'I will look.'), { kind: 'model' }],
      expected: 'malformed',
    },
    {
      name: 'half an answer',
      turns: [{ kind: 'model', text: '{"verd', incomplete: 'max_output_tokens' }],
      expected: 'malformed',
    },
  ] as { name: string; turns: Turn[]; expected: string }[])('that gets $name is $expected', ({ turns, expected }) =>
    withCodex({ turns }, async (codex) => {
      expect(await codex.ask()).toMatchObject({ kind: 'failed', failure: expected })
    }),
  )

  it('that names a folder which is not there is rejected', () =>
    withCodex({ turns: [says('yes')] }, async (codex) => {
      expect(await codex.ask({ root: join(codex.folder, 'gone') })).toMatchObject({ failure: 'rejected' })
      expect(codex.api.requests).toEqual([])
    }))
})

describe('a thread that cannot be resumed', () => {
  const asked = (id: string) => ({ thread: { kind: 'resume', id, used: null } }) as const

  it.each([
    { name: 'unknown', id: unknownThread, why: /no longer/ },
    { name: 'no id', id: 'not-a-uuid', why: /not the id of a thread/ },
    { name: 'empty', id: '', why: /not the id of a thread/ },
    { name: 'a flag', id: '--last', why: /not the id of a thread/ },
  ])('$name: a new one takes its place', ({ id, why }) =>
    withCodex({ turns: [says('yes')] }, async (codex) => {
      const answer = await codex.ask(asked(id))
      expect(answer).toMatchObject({
        text: 'yes',
        usage,
        thread: { used: usage, replaced: { was: id, why: expect.stringMatching(why) } },
      })
      expect(answer.thread?.id).not.toBe(id)
      expect(codex.api.requests).toHaveLength(1)
    }),
  )

  it('corrupt: a new one takes its place', () =>
    withCodex({ turns: [says('yes')] }, async (codex) => {
      const first = await codex.ask({ thread: { kind: 'start' } })
      for (const file of rolloutsIn(codex)) writeFileSync(file, '')
      const id = first.thread?.id ?? ''
      expect(await codex.ask(asked(id))).toMatchObject({ text: 'yes', usage, thread: { replaced: { was: id } } })
    }))

  it('busy: a new one takes its place', () =>
    withCodex({ turns: (_, n) => (n === 2 ? { kind: 'hang', when: 'after-created' } : says('yes')) }, async (codex) => {
      const id = (await codex.ask({ thread: { kind: 'start' } })).thread?.id ?? ''
      const stop = new AbortController()
      const holder = codex.ask(asked(id), { signal: stop.signal })
      await codex.api.asked(2)
      expect(await codex.ask(asked(id))).toMatchObject({ text: 'yes', thread: { replaced: { was: id } } })
      stop.abort()
      expect(await holder).toMatchObject({ failure: 'cancelled', thread: { id, used: null, replaced: null } })
    }))

  it('too full: a new one takes its place', () =>
    withCodex(
      {
        turns: [
          says('yes'),
          { kind: 'model', failed: { code: 'context_length_exceeded', message: 'Your input exceeds the window.' } },
          says('again'),
        ],
      },
      async (codex) => {
        const id = (await codex.ask({ thread: { kind: 'start' } })).thread?.id ?? ''
        expect(await codex.ask(asked(id))).toMatchObject({ text: 'again', thread: { replaced: { was: id } } })
        expect(saidBy(codex.api.requests[2] ?? fail(), 'assistant')).toEqual([])
      },
    ))

  it('is kept after a turn that failed', () =>
    withCodex(
      { turns: [says('yes'), { kind: 'http', status: 400, body: { error: { message: 'Well.' } } }, says('again')] },
      async (codex) => {
        const id = (await codex.ask({ thread: { kind: 'start' } })).thread?.id ?? ''
        expect(await codex.ask(asked(id))).toMatchObject({ failure: 'rejected', thread: { id, replaced: null } })
        expect(await codex.ask(asked(id))).toMatchObject({ text: 'again', thread: { id, replaced: null } })
      },
    ))
})

describe('a Codex that must end', () => {
  it('is gone at the deadline, with the command that it runs', () =>
    withCodex({ turns: [runs('echo begun; sleep 987'), says('yes')] }, async (codex) => {
      const answer = await codex.ask({ timeoutMs: 10_000 })
      expect(answer).toMatchObject({ failure: 'timeout', why: 'Codex did not finish within 10 s.' })
      expect(codex.signs).toContain('codex is running echo begun; sleep 987')
      expect(codex.processes()).toEqual([])
    }))

  it('is gone when the review is cancelled, and its thread can be resumed', () =>
    withCodex(
      { turns: (_, n) => (n === 1 ? { kind: 'hang', when: 'before-headers' } : says('yes')) },
      async (codex) => {
        const stop = new AbortController()
        const asking = codex.ask({ thread: { kind: 'start' } }, { signal: stop.signal })
        await codex.api.asked(1)
        expect(codex.processes()).not.toEqual([])
        stop.abort()
        const answer = await asking
        expect([answer, codex.processes()]).toMatchObject([{ failure: 'cancelled' }, []])
        const thread = { kind: 'resume', id: answer.thread?.id ?? '', used: null } as const
        expect(await codex.ask({ thread })).toMatchObject({ text: 'yes', thread: { replaced: null } })
      },
    ))

  it('is not even started when the review is cancelled already', () =>
    withCodex({ turns: [says('yes')] }, async (codex) => {
      expect(await codex.ask({}, { signal: AbortSignal.abort() })).toMatchObject({ failure: 'cancelled' })
      expect(codex.api.requests).toEqual([])
    }))

  it('is gone when it says nothing', () =>
    withCodex({ turns: [{ kind: 'hang', when: 'after-created' }] }, async (codex) => {
      const answer = await codex.ask({}, { limits: { silenceMs: 1_500 } })
      expect([answer, codex.processes()]).toMatchObject([
        { failure: 'timeout', why: 'Codex has said nothing for too long.' },
        [],
      ])
    }))
})

function fail(): never {
  throw new Error('nothing was asked')
}
