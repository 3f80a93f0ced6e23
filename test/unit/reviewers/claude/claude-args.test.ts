import { describe, expect, it } from 'vitest'
import { missingFlags } from '../../../../src/reviewers/claude/claude.ts'
import { claudeArgs, formatInput } from '../../../../src/reviewers/claude/program.ts'
import { familyAdvice } from '../../../../src/reviewers/routes.ts'
import { reviewerAnswerSchema } from '../../../../src/schemas/review.ts'

const plain = {
  resume: null,
  keepsSession: false,
  model: null,
  effort: null,
  schema: null,
  mayReadFiles: true,
  systemFile: '/t/system.md',
  settingsFile: '/t/settings.json',
}
const always = [
  ...['--print', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'],
  ...['--include-partial-messages', '--restricted', '--safe-mode', '--disable-slash-commands'],
  ...['--setting-sources', '', '--strict-mcp-config', '--permission-mode', 'dontAsk'],
  ...['--system-prompt-snapshot', 'off'],
]
const files = ['--system-prompt-file', '/t/system.md', '--settings', '/t/settings.json']

describe('the command line', () => {
  it.each([
    {
      name: 'of a question',
      request: plain,
      expected: [...always, '--tools', 'Read,Grep,Glob', ...files, '--no-session-persistence'],
    },
    {
      name: 'without tools',
      request: { ...plain, mayReadFiles: false },
      expected: [...always, '--tools', '', ...files, '--no-session-persistence'],
    },
    {
      name: 'with all there is',
      request: { ...plain, keepsSession: true, resume: '/s/x.jsonl', model: 'm', effort: 'xhigh' as const },
      expected: [
        ...always,
        '--tools',
        'Read,Grep,Glob',
        ...files,
        '--model',
        'm',
        '--effort',
        'xhigh',
        '--resume',
        '/s/x.jsonl',
      ],
    },
  ])('$name', ({ request, expected }) => expect(claudeArgs(request)).toEqual(expected))

  it('has the schema without what a service does not know', () => {
    const args = claudeArgs({ ...plain, schema: reviewerAnswerSchema })
    const schema = JSON.parse(args[args.indexOf('--json-schema') + 1] ?? '') as object
    expect(schema).toMatchObject({ type: 'object', required: reviewerAnswerSchema.required })
    expect(JSON.stringify(schema)).not.toContain('$id')
    // Linux takes 128 kB in one argument.
    expect(JSON.stringify(schema).length).toBeLessThan(20_000)
  })
})

it('what is under review is never the last block of the message', () => {
  const { message } = JSON.parse(formatInput('/exit @x')) as { message: { content: { text: string }[] } }
  expect(message.content[0]?.text).toBe('/exit @x')
  expect(message.content.at(-1)?.text).not.toMatch(/[/@!#]/)
})

describe('what a help text lacks', () => {
  const help = (without: string[]): string =>
    [
      ...always,
      ...files,
      '--tools',
      '--system-prompt',
      '--no-session-persistence',
      '--model',
      '--effort',
      '--json-schema',
      '--resume',
    ]
      .filter((word) => word.startsWith('--') && !without.includes(word))
      .map((flag) => `  ${flag === '--print' ? '-p, ' : ''}${flag} <x>  text`)
      .join('\n')
  it.each([[], ['--restricted'], ['--safe-mode', '--json-schema']])('%s', (...lacking: string[]) =>
    expect(missingFlags(help(lacking))).toEqual(lacking),
  )
})

describe('advice about the family', () => {
  it.each([
    { backend: 'claude', model: null, isGiven: true },
    { backend: 'curl', model: 'anthropic/claude-x', isGiven: true },
    { backend: 'curl', model: 'gpt-x', isGiven: false },
    { backend: 'codex', model: null, isGiven: false },
  ])('$backend $model: $isGiven', ({ isGiven, ...row }) => expect(familyAdvice(row) !== null).toBe(isGiven))
})
