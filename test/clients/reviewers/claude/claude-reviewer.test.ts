import { readdirSync, readFileSync, renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { reviewerAnswerSchema, type Thread } from '../../../../src/schemas/review.ts'
import { fakeKey } from '../../../support/reviewer-fixture.ts'
import type { Turn } from '../../../support/servers/messages-api.ts'
import { type MessagesRequest, textOf } from '../../../support/servers/messages-record.ts'
import { type ClaudeFixture, withClaude } from '../../../support/with-claude.ts'

/** With the real Claude Code and a scripted model. */
const yes = {
  verdict: 'APPROVED',
  is_optimal: true,
  summary: 'Fine.',
  question: null,
  findings: [],
  previous_findings: [],
  context_summary: null,
  complexity: null,
}
const answers = (input: object): Turn => ({ tools: [{ name: 'StructuredOutput', input: { ...input } }] })
const says = (text: string): Turn => ({ text })
const usage = { input: 10, cached: 0, output: 10, reasoning: 0 }
const resume = (id: string | undefined): Thread => ({ kind: 'resume', id: id ?? '', used: null })
const unknownSession = '01a1eef0-7c9a-42a1-96c8-89a053e3c795'

/** The first block of each of the user's messages that is not the result of a tool. */
const askedIn = ({ messages }: MessagesRequest): string[] =>
  messages.flatMap(({ role, content }) => {
    const texts = typeof content === 'string' ? [] : content.filter(({ type }) => type === 'text')
    return role === 'user' && texts[0]?.text !== undefined ? [texts[0].text] : []
  })
const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
const sessionFiles = ({ sessions }: ClaudeFixture): string[] => readdirSync(sessions)
const sessionFile = (claude: ClaudeFixture): string => join(claude.sessions, sessionFiles(claude)[0] ?? '')

describe.each(['newest', 'oldest'] as const)('a question to the %s Claude', (client) => {
  it.each([true, false])('is answered on a session that begins and goes on (sandbox: %s)', (sandbox) =>
    withClaude({ client, turns: [answers(yes), says('second'), says('third')] }, async (claude) => {
      const first = await claude.ask(
        { thread: { kind: 'start' }, schema: reviewerAnswerSchema, effort: 'xhigh', model: 'another-model' },
        { sandbox },
      )
      expect({ ...first, text: JSON.parse(first.kind === 'answered' ? first.text : '') }).toEqual({
        kind: 'answered',
        text: yes,
        usage,
        model: 'another-model',
        thread: { id: expect.stringMatching(/^[0-9a-f-]{36}$/), used: null, replaced: null },
        notices: [],
      })
      expect(claude.signs).toEqual(['starting claude', 'claude is answering'])
      const id = first.thread?.id
      const second = await claude.ask({ user: 'All again.', turn: 'Short.', thread: resume(id) }, { sandbox })
      const third = await claude.ask(
        { system: 'Now you review code.', user: 'Without a turn of its own.', thread: resume(id) },
        { sandbox },
      )
      expect([second, third]).toMatchObject([
        { text: 'second', usage, thread: { id, replaced: null } },
        { text: 'third', usage, thread: { id, replaced: null } },
      ])

      const [request, , last] = claude.api.requests
      if (request === undefined || last === undefined) throw new Error('nothing was asked')
      expect(claude.api.headers[0]?.['x-api-key']).toBe(fakeKey)
      expect(request).toMatchObject({ model: 'another-model', output_config: { effort: 'xhigh' } })
      expect(request.tools?.map(({ name }) => name).sort()).toEqual(['Glob', 'Grep', 'Read', 'StructuredOutput'])
      expect(request.tools?.find(({ name }) => name === 'StructuredOutput')).toMatchObject({
        input_schema: { required: reviewerAnswerSchema.required, additionalProperties: false },
      })
      expect(textOf(request.system)).toMatch(/You review plans\.$/)
      expect(textOf(last.system)).toMatch(/Now you review code\.$/)
      expect(askedIn(last)).toEqual(['The plan: do it.', 'Short.', 'Without a turn of its own.'])
      // `claude --continue` of the user's must not find the reviewer.
      expect(sessionFiles(claude)).toEqual([expect.stringMatching(`^${id}\\.[0-9a-f]{32}\\.jsonl$`)])
      expect(filesBelow(claude.home).filter((path) => path.endsWith('.jsonl'))).toEqual([])
      expect(readdirSync(join(claude.folder, 'scratch')).filter((name) => name.startsWith('plan-gate'))).toEqual([])
    }),
  )

  it('without a thread leaves no session behind', () =>
    withClaude({ client, turns: [says('yes')] }, async (claude) => {
      expect(await claude.ask()).toMatchObject({ kind: 'answered', text: 'yes', thread: null })
      expect(
        [...filesBelow(claude.home), ...filesBelow(claude.folder)].filter((name) => name.endsWith('.jsonl')),
      ).toEqual([])
    }))
})

describe('the answer', () => {
  it.each([
    {
      name: 'in prose is passed on as it is',
      turns: [says('It is {"verdict":"APPROVED"}'), says('Well: {"verdict":1}')],
      expected: 'Well: {"verdict":1}',
    },
    { name: 'that is asked for again has the form', turns: [says('Hm.'), answers(yes)], expected: JSON.stringify(yes) },
    {
      name: 'that is put right has the form',
      turns: [answers({ verdict: 'X' }), answers(yes)],
      expected: JSON.stringify(yes),
    },
    { name: 'without a schema is the last message', schema: null, turns: [says('Just so.')], expected: 'Just so.' },
  ] as { name: string; schema?: null; turns: Turn[]; expected: string }[])('$name', ({ turns, expected, schema }) =>
    withClaude({ turns }, async (claude) => {
      expect(await claude.ask({ schema: schema === null ? null : reviewerAnswerSchema })).toMatchObject({
        text: expected,
      })
    }),
  )

  it('is asked for again without the effort, the schema, or both, where they are not taken', () => {
    const refuses = (message: string): Turn => ({
      http: { status: 400, body: { type: 'error', error: { type: 'invalid_request_error', message } } },
    })
    const hasEffort = (request: MessagesRequest) =>
      (request as { output_config?: { effort?: string } }).output_config?.effort === 'high'
    const hasSchema = ({ tools }: MessagesRequest) => tools?.some(({ name }) => name === 'StructuredOutput') === true
    const turns = (request: MessagesRequest): Turn => {
      if (hasEffort(request)) return refuses('output_config.effort: Input should be low')
      return hasSchema(request) ? refuses('tools.3.custom.input_schema: JSON schema is invalid') : says('yes')
    }
    return withClaude({ turns }, async (claude) => {
      const answer = await claude.ask({ effort: 'high', schema: reviewerAnswerSchema, thread: { kind: 'start' } })
      expect(answer).toMatchObject({
        text: 'yes',
        thread: { replaced: null },
        notices: expect.arrayContaining([
          'The form of the answer was asked for in words only: the schema was refused.',
        ]),
      })
      expect(askedIn(claude.api.requests.at(-1) ?? { model: '', messages: [] }).at(-1)).toContain('by this JSON schema')
    })
  })
})

describe('a session that cannot go on', () => {
  const spoiled: { name: string; spoil: (claude: ClaudeFixture) => void }[] = [
    { name: 'is gone', spoil: (claude) => renameSync(sessionFile(claude), join(claude.folder, 'elsewhere')) },
    {
      name: 'was changed',
      spoil: (claude) => writeFileSync(sessionFile(claude), readFileSync(sessionFile(claude), 'utf8').slice(0, -200)),
    },
    {
      name: 'is a link',
      spoil: (claude) => {
        const file = sessionFile(claude)
        renameSync(file, join(claude.folder, 'elsewhere'))
        symlinkSync(join(claude.folder, 'elsewhere'), file)
      },
    },
  ]
  it.each(spoiled)('because it $name is replaced, told everything, and said to be', ({ spoil }) =>
    withClaude({ turns: [says('first'), says('second')] }, async (claude) => {
      const first = await claude.ask({ thread: { kind: 'start' } })
      spoil(claude)
      const id = first.thread?.id
      const second = await claude.ask({ turn: 'Short.', thread: resume(id) })
      expect(second).toMatchObject({
        text: 'second',
        thread: { replaced: { was: id, why: 'Its session is gone, in use or damaged.' } },
      })
      expect(second.thread?.id).not.toBe(id)
      expect(askedIn(claude.api.requests[1] ?? { model: '', messages: [] })).toEqual(['The plan: do it.'])
    }),
  )

  it.each([unknownSession, '--version', '../../etc/passwd', ''])('because it is not known (%s) is replaced', (id) =>
    withClaude({ turns: [says('yes')] }, async (claude) => {
      expect(await claude.ask({ turn: 'Short.', thread: resume(id) })).toMatchObject({
        text: 'yes',
        thread: { replaced: { was: id } },
      })
    }),
  )

  it('because another turn has it is not shared', () =>
    withClaude({ turns: (_, n) => says(`answer ${n}`) }, async (claude) => {
      const { thread } = await claude.ask({ thread: { kind: 'start' } })
      const both = await Promise.all([1, 2].map(() => claude.ask({ turn: 'Short.', thread: resume(thread?.id) })))
      expect(both.map((answer) => answer.thread?.id === thread?.id).sort()).toEqual([false, true])
    }))

  it('because it is too long by now is replaced', () => {
    const message = 'prompt is too long: 250000 tokens > 200000 maximum'
    const tooLong = {
      http: { status: 400, body: { type: 'error', error: { type: 'invalid_request_error', message } } },
    }
    const turns = (request: MessagesRequest) => (askedIn(request).length > 1 ? tooLong : says('yes'))
    return withClaude({ turns }, async (claude) => {
      const { thread } = await claude.ask({ thread: { kind: 'start' } })
      expect(await claude.ask({ turn: 'Short.', thread: resume(thread?.id) })).toMatchObject({
        text: 'yes',
        thread: { replaced: { was: thread?.id, why: expect.stringContaining('too long') } },
      })
    })
  })

  it('is removed when it is old', () =>
    withClaude({ turns: [says('1'), says('2')] }, async (claude) => {
      await claude.ask({ thread: { kind: 'start' } })
      utimesSync(sessionFile(claude), new Date(0), new Date(0))
      const second = await claude.ask({ thread: { kind: 'start' } })
      expect(sessionFiles(claude).map((name) => name.slice(0, 36))).toEqual([second.thread?.id])
    }))

  it('is not kept where others could write', () =>
    withClaude({ turns: [says('1')] }, async (claude) => {
      const answer = await claude.ask({ thread: { kind: 'start' } }, { cacheDir: null })
      expect(answer).toMatchObject({ text: '1', thread: null })
    }))
})
