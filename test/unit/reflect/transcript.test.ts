import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tailOfTranscript as tailWith } from '../../../src/reflect/at-stop.ts'

const tailOfTranscript = (jsonl: string, maxChars: number): string => tailWith(jsonl, maxChars, (text) => text)

const line = (entry: object): string => JSON.stringify(entry)
const assistant = (content: unknown, rest: object = {}): string =>
  line({ isSidechain: false, message: { role: 'assistant', content }, type: 'assistant', ...rest })
const user = (content: unknown): string =>
  line({ isSidechain: false, type: 'user', message: { role: 'user', content } })
const text = (words: string) => [{ type: 'text', text: words }]
const tool = (name: string, input: object) => [{ type: 'tool_use', id: 't', name, input }]
const result = (content: unknown, is_error = true) => [{ type: 'tool_result', tool_use_id: 't', is_error, content }]

const rows = [
  { what: 'nothing', lines: [], expected: '' },
  { what: 'a last word', lines: [assistant(text('All done.'))], expected: 'All done.' },
  {
    what: 'tools, failures and words in their order',
    lines: [
      line({ type: 'queue-operation', content: 'Go on.' }),
      user('Go on.'),
      assistant(text('I write it.')),
      assistant(tool('Write', { file_path: '/a', content: 'x' })),
      user(result('File created', false)),
      assistant(tool('Bash', { command: 'npm test' })),
      user(result('Exit code 1\nbad')),
      assistant(text('Done.')),
      line({ type: 'last-prompt', lastPrompt: 'x' }),
    ],
    expected:
      'I write it.\n[used Write] {"file_path":"/a","content":"x"}\n[used Bash] {"command":"npm test"}\n[it failed] Exit code 1\nbad\nDone.',
  },
  {
    what: 'several blocks in one message',
    lines: [assistant([...text('First.'), ...tool('Read', {}), { type: 'thinking', thinking: 'hm' }])],
    expected: 'First.\n[used Read] {}',
  },
  {
    what: 'a result in blocks',
    lines: [user(result([{ type: 'text', text: 'bad' }, 7]))],
    expected: '[it failed] bad',
  },
  { what: 'plain text as content', lines: [assistant('Hello.')], expected: 'Hello.' },
  {
    what: 'what a subagent said',
    lines: [assistant(text('sub'), { isSidechain: true }), assistant(text('main'))],
    expected: 'main',
  },
  {
    what: 'garbage',
    lines: [
      '"role":"assistant" half a line"}]}',
      assistant(text('Here.')),
      '',
      'not json "role":"assistant"',
      'null',
      '[1]',
      '{"type":"assistant"}',
      '{"type":"assistant","message":{"role":"assistant","content":7}}',
      '{"type":"assistant","message":{"role":"assistant","content":[null,7,"x",{"type":"text"},{"type":"tool_use"}]}}',
    ],
    expected: 'Here.\n[used a tool] {}',
  },
]

describe('tailOfTranscript', () => {
  it.each(rows)('$what', ({ lines, expected }) => {
    for (const end of ['', '\n', '\n\n']) expect(tailOfTranscript(lines.join('\n') + end, 10_000)).toBe(expected)
    expect(tailOfTranscript(lines.join('\r\n'), 10_000)).toBe(expected)
  })

  it('has the end where not all fits', () => {
    const jsonl = Array.from({ length: 1000 }, (_, n) => assistant(text(`Sentence ${n}.`))).join('\n')
    const tail = tailOfTranscript(jsonl, 200)
    expect(tail.length).toBeLessThanOrEqual(200)
    expect(tail).toContain('Sentence 998.\nSentence 999.')
    expect(tail).not.toContain('Sentence 900.')
  })

  it('clips what is long by itself', () => {
    const tail = tailOfTranscript(
      [assistant(text('x'.repeat(50_000))), assistant(tool('Write', { content: 'y'.repeat(50_000) }))].join('\n'),
      100_000,
    )
    expect(tail.length).toBeLessThan(5000)
  })

  it('takes anything, and stays within its bounds', () => {
    const part = fc.oneof(
      fc.string(),
      fc.constantFrom(assistant(text('Word.')), user(result('bad')), '\n', '\r\n', '{', '"role":"user"'),
    )
    fc.assert(
      fc.property(fc.array(part), fc.nat(500), (parts, max) => {
        expect(tailOfTranscript(parts.join('\n'), max).length).toBeLessThanOrEqual(max)
      }),
    )
  })

  it('looks at the end of 30 MB only', () => {
    const jsonl = `${'{"type":"attachment","x":"'}${'y'.repeat(1_000_000)}"}\n`.repeat(30) + assistant(text('End.'))
    expect(tailOfTranscript(jsonl, 4)).toBe('End.')
    expect(tailOfTranscript(jsonl, 1000)).toBe('End.')
  })

  it.each([
    { what: 'words', line: (secret: string) => assistant(text(`${'x'.repeat(3980)} ${secret}`)) },
    {
      what: 'an input',
      line: (secret: string) => assistant(tool('Bash', { command: `${'x'.repeat(570)} ${secret}` })),
    },
    { what: 'a failure', line: (secret: string) => user(result(`${'x'.repeat(580)} ${secret}`)) },
  ])('blanks what would be cut in two: $what', ({ line: lineOf }) => {
    const secret = 'SECRET-'.repeat(20)
    const tail = tailWith(lineOf(secret), 10_000, (text) => text.replaceAll(secret, '[blanked]'))
    expect(tail).not.toContain('SECRET')
    expect(tail).toMatch(/\[bla/)
  })

  it('hands on whole what cannot be blanked', () => {
    const jsonl = [assistant(text('Before.')), assistant(text('y'.repeat(9000))), assistant(text('After.'))].join('\n')
    const tail = tailWith(jsonl, 10_000, (text) => (text.startsWith('y') ? null : text))
    expect(tail).toBe(`${'y'.repeat(9000)}\nAfter.`)
  })
})
