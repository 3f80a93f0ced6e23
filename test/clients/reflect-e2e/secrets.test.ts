import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fakeSecrets } from '../../support/review/fake-secrets.ts'
import type { Turn } from '../../support/servers/responses-api.ts'
import { type HookResult, pass, type ReflectWorktree, reflectWorktree, says } from './reflect-worktree.ts'

const { github, openai, aws } = fakeSecrets
/** Known by its name alone, so half of it is only a word. */
const password = ['kX9v', 'Q2mZ', '7rTb', '4LwP'].join('')
/** Known by a pattern of the configuration alone. */
const ticket = ['ACME', '20417', 'internal'].join('-')
const config = "review:\n  redaction:\n    patterns: ['ACME-\\d+-\\w+']\n"

const secrets = [github, openai, aws, password, ticket]

/** Secrets as they stand in a text, with others behind them that a cut would leave half of. */
const text = `token = "${github}"\npassword: ${password}\nsee ${ticket}, ${openai}\nAWS_ACCESS_KEY_ID=${aws}\n`

/** So that a cut after so many characters leaves a part of a secret that nothing gives away. */
const atCut = (limit: number): string[] =>
  [
    ['', github],
    ['mysql://root:', `${password}@db/x`],
    ['see ', ticket],
  ].map(([before = '', secret = '']) => {
    const padding = limit - before.length - 15
    return `${'word '.repeat(limit).slice(0, padding - 1)} ${before}${secret} and more`
  })

type Row = { name: string; turns?: readonly Turn[]; act: (worktree: ReflectWorktree) => Promise<HookResult[]> }

const inOrder = async (acts: readonly (() => Promise<HookResult>)[]): Promise<HookResult[]> => {
  const results: HookResult[] = []
  for (const act of acts) results.push(await act())
  return results
}

const assistant = (content: readonly object[]): string =>
  JSON.stringify({ type: 'assistant', message: { role: 'assistant', content } })
const failed = (content: string): string =>
  JSON.stringify({
    type: 'user',
    message: { role: 'user', content: [{ type: 'tool_result', is_error: true, content }] },
  })

const rows: readonly Row[] = [
  {
    name: 'in an edit',
    act: ({ edit, use, at }) =>
      inOrder([
        () => edit('src/app.ts', text),
        () => edit('src/app.ts', text),
        () => use('Edit', { file_path: at('src/app.ts'), old_string: text, new_string: `x${text}` }),
        () => use('mcp__files__write_file', { path: 'src/app.ts', text }),
      ]),
  },
  {
    name: 'in a long edit',
    turns: [says(`In the middle: ${text}`), pass],
    act: ({ edit }) => inOrder([() => edit('src/app.ts', `${'x\n'.repeat(300_000)}${text}${'y\n'.repeat(300_000)}`)]),
  },
  {
    name: 'in a command line that failed, and in what it printed',
    act: ({ fail, use }) =>
      inOrder([
        () => fail(`deploy --token ${github} --ticket ${ticket} --password ${password}`, `Exit code 1\n${text}`),
        () => fail(`curl https://me:${password}@localhost/`, 'Exit code 7'),
        ...atCut(200).map((command) => () => fail(command, 'Exit code 1')),
        () => use('Bash', { command: `deploy --token ${github} --ticket ${ticket} --password ${password}` }),
      ]),
  },
  {
    name: 'in a thought, a task and an answer',
    act: ({ use }) =>
      inOrder([
        () => use('mcp__mind__think', { thought: text }),
        () =>
          use('Agent', { prompt: text, subagent_type: 'x' }, { tool_response: { content: [{ type: 'text', text }] } }),
      ]),
  },
  {
    name: 'in what was said last',
    act: ({ stop }) =>
      inOrder([
        () => stop({ last_assistant_message: text }),
        () => stop({ session_id: 's2', last_assistant_message: text }),
      ]),
  },
  {
    name: 'in the transcript',
    act: async ({ home, stop, compact }) => {
      const said = [text, ...atCut(4000)].map((each) => assistant([{ type: 'text', text: each }]))
      const used = [text, ...atCut(600 - 12)].map((command) =>
        assistant([{ type: 'tool_use', name: 'Bash', input: { command } }]),
      )
      const printed = [text, ...atCut(600)].map(failed)
      writeFileSync(join(home, 'transcript.jsonl'), `${[...said, ...used, ...printed].join('\n')}\n`)
      return inOrder([() => stop({ last_assistant_message: '' }), () => compact()])
    },
  },
  {
    name: 'in what the reviewer answers',
    turns: [says(`FAIL\n- src/app.ts:1: ${text.replaceAll('\n', ' ')}`), says(`FAIL\n${text.repeat(50)}`), says(text)],
    act: ({ edit, stop }) =>
      inOrder([
        () => edit('src/app.ts', 'one\n'),
        () => edit('src/b.ts', 'one\n'),
        () => stop(),
        () => stop({ session_id: 's2' }),
      ]),
  },
  {
    name: 'in the words of the service that fails',
    turns: [{ kind: 'http', status: 400, body: { error: { message: text, type: 'invalid_request_error' } } }],
    act: ({ edit, stop }) => inOrder([() => edit('src/app.ts', 'one\n'), () => stop()]),
  },
  {
    name: 'in a file that is made to hold them',
    act: ({ edit, write, stop }) =>
      inOrder([
        () => edit('.env', `NAME=${password}\n`),
        () => edit('config/prod.env', `NAME=${password}\n`),
        () => {
          write('certs/server.key', `${password}\n`)
          return stop()
        },
      ]),
  },
  {
    name: 'in the worktree',
    act: ({ write, stop }) => {
      write('src/app.ts', text)
      write('notes.txt', text)
      return inOrder([() => stop()])
    },
  },
]

/** All that is kept in .claude/review. */
function keptIn({ at }: ReflectWorktree): string {
  const folder = at('.claude/review')
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n')
}

/** As JSON writes it, too; and the half of it that a cut would leave. */
const leaks = (where: string): string[] => {
  const plain = where.replaceAll('\\n', '\n')
  return secrets.flatMap((secret) =>
    [secret, secret.slice(0, -3), secret.slice(0, 12)].filter((part) => plain.includes(part)),
  )
}

describe('no secret leaves, is kept or is said', () => {
  it.each(rows)('$name', async ({ turns, act }) => {
    const worktree = await reflectWorktree(turns ?? [says('FAIL\n- it is wrong.')], { config })
    const results = await act(worktree)
    expect(results.every(({ exitCode }) => exitCode === 0 || exitCode === 2)).toBe(true)
    const sent = worktree.api.requests.map(({ body }) => JSON.stringify(body)).join('\n')
    const said = results.map(({ stdout, stderr }) => `${stdout}\n${stderr}`).join('\n')
    expect({ sent: leaks(sent), kept: leaks(keptIn(worktree)), said: leaks(said) }).toEqual({
      sent: [],
      kept: [],
      said: [],
    })
    // It is not clean because nothing was reviewed.
    expect(worktree.api.requests.length).toBeGreaterThan(0)
  })

  it('and where debugging is asked for, neither there', async () => {
    const worktree = await reflectWorktree([says(`FAIL\n- ${text}`)], { config })
    const env = { PLAN_GATE_DEBUG: '1' }
    const results = [
      await worktree.edit('src/app.ts', text, {}, env),
      await worktree.fail(`deploy --token ${github} --ticket ${ticket}`, text, {}, env),
      await worktree.stop({ session_id: 's2', last_assistant_message: text }, env),
    ]
    expect(results.map(({ stderr }) => leaks(stderr))).toEqual([[], [], []])
  })

  it('nor does a secret file leave by way of the reviewer quoting it', async () => {
    const quote = `FAIL\n- .env:1: it holds \`NAME=${password}\`, take it out:\n\`\`\`\nNAME=${password}\n\`\`\`\n`
    const worktree = await reflectWorktree([says(quote)], { config })
    const { model } = await worktree.edit('src/app.ts', 'one\n')
    expect(model).toMatch(/\.env:1: it holds/)
    expect([leaks(model ?? ''), leaks(keptIn(worktree))]).toEqual([[], []])
  })
})
