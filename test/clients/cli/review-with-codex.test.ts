import { once } from 'node:events'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { assigned, fakeSecrets } from '../../support/review/fake-secrets.ts'
import type { ResponsesApi, Turn } from '../../support/servers/responses-api.ts'
import { type ResponsesRequest, saidBy, toolNames, toolOutputs } from '../../support/servers/responses-record.ts'
import { answerOf, codexPlace, fakeKey, finding, processesIn, type ReviewPlace, says } from './review-place.ts'

const simple = { 'src/app.ts': 'export const two = 2\n' }
const larger = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [`src/${name}.ts`, `export const ${name} = 1\n`]))

function firstOf({ api }: { api: ResponsesApi }): ResponsesRequest {
  const [request] = api.requests
  if (request === undefined) throw new Error('No reviewer was asked.')
  return request
}

describe('the real Codex reviews', () => {
  it.each(['plan', 'code', 'prd', 'sdd', 'sprint'])('%s', async (type) => {
    const place = await codexPlace([says()])
    place.write({ 'docs/it.md': `# It is this\n\n## Changes\n\n- \`src/app.ts\`: two.\n` })
    const result = await place.result(['--type', type, '--content', 'docs/it.md'])
    expect(result).toMatchObject({
      verdict: 'APPROVED',
      notices: [],
      pass_metadata: { passes_completed: 1, route: 'codex', reasoning_mode: 'multi-pass', complexity: 'low' },
    })
    const request = firstOf(place)
    expect(saidBy(request, 'user').join()).toContain('# It is this')
    expect(request.body).toMatchObject({
      model: { plan: 'fake-model', code: 'gpt-5.2-codex' }[type] ?? 'gpt-5.2',
      reasoning: { effort: 'high' },
      text: { format: { type: 'json_schema', strict: true } },
    })
  })

  it('a small change in one pass, and a larger one in three', async () => {
    const found = [finding('It is two.')]
    const place = await codexPlace([
      says({ summary: 'It is simple.' }),
      says({ risks: 4 }),
      says({ verdict: 'CHANGES_REQUIRED', findings: found }),
      says({ verdict: 'CHANGES_REQUIRED', findings: found, summary: 'It was verified.' }),
    ])
    place.write(simple)
    expect(await place.result(['--diff'])).toMatchObject({ summary: 'It is simple.', verification: null })
    place.write(larger)
    const { stderr } = await place.review(['--diff', '--output', 'r.json'])
    expect(stderr.match(/(?<=INFO: )pass .*$/gm)).toEqual([
      'pass 1 of 3: understand (codex), up to 600 s',
      'pass 2 of 3: find (codex), up to 600 s',
      expect.stringMatching(/^pass 3 of 3: verify \(codex\), up to 600 s, about \d+ s, \d+ tokens to the end$/),
    ])
    const read = (name: string) =>
      JSON.parse(readFileSync(join(place.repo, name), 'utf8')) as { [key: string]: unknown }
    expect(read('r.json')).toMatchObject({
      verdict: 'CHANGES_REQUIRED',
      summary: 'It was verified.',
      verification: 'passed',
      findings: [{ id: 'F1', problem: 'It is two.' }],
      pass_metadata: { passes_completed: 3, pass1_tokens: 120, pass2_tokens: 120, pass3_tokens: 120 },
    })
    expect([1, 2, 3].map((n) => read(`r-pass-${n}.json`))).toMatchObject([
      { pass: 1, does: 'plan', outcome: 'valid', answer: answerOf({ risks: 4 }) },
      { pass: 2, does: 'review', outcome: 'valid' },
      { pass: 3, does: 'verify', outcome: 'valid' },
    ])
    // Nothing of one pass is in the history of the next but what is handed on.
    expect(place.api.requests.map((request) => saidBy(request, 'assistant'))).toEqual([[], [], [], []])
  })

  it('once, with --fast', async () => {
    const place = await codexPlace([says()])
    place.write({ ...larger, 'src/auth.ts': 'export const door = 1\n' })
    expect(await place.result(['--diff', '--fast'])).toMatchObject({
      verification: null,
      pass_metadata: { passes_completed: 1, reasoning_mode: 'single-pass', complexity: null },
    })
    expect(place.api.requests).toHaveLength(1)
    expect(place.api.requests[0]?.body.reasoning).toMatchObject({ effort: 'high' })
  })

  it('a pass that fails is kept, and so is the one that took its place', async () => {
    const place = await codexPlace([{ kind: 'http', status: 500 }, says({ summary: 'Second try.' })])
    place.write(larger)
    const result = await place.result(['--diff', '--output', 'r.json'])
    expect(result).toMatchObject({ summary: 'Second try.', pass_metadata: { reasoning_mode: 'single-pass' } })
    expect(result.notices.join()).toMatch(/^The first pass failed \(/)
    const kept = [1, 2].map((n) => JSON.parse(readFileSync(join(place.repo, `r-pass-${n}.json`), 'utf8')) as object)
    expect(kept).toMatchObject([
      { pass: 1, does: 'plan', outcome: 'server', answer: null },
      { pass: 1, does: 'combined', outcome: 'valid' },
    ])
  })
})

describe('--tool-access', () => {
  const reads: Turn = {
    kind: 'model',
    calls: [{ name: 'exec_command', arguments: { cmd: 'cat notes.md; touch made' } }],
  }

  it.each([true, false])('%s', async (allowed) => {
    const place = await codexPlace((_, n) => (n === 1 ? reads : says()), { 'notes.md': 'what the repository says\n' })
    place.write(simple)
    await place.review(['--diff', '--fast', ...(allowed ? ['--tool-access'] : [])])
    const first = firstOf(place)
    const outputs = place.api.requests.flatMap(toolOutputs).join('\n')
    expect(JSON.stringify(first.body)).toContain(allowed ? 'You stand in the repository' : 'You have no repository')
    expect(outputs.includes('what the repository says')).toBe(allowed)
    expect(toolNames(first).includes('exec_command')).toBe(allowed)
    expect(readdirSync(place.repo)).not.toContain('made')
  })
})

describe('exit codes', () => {
  const http = (status: number, message: string): Turn => ({ kind: 'http', status, body: { error: { message } } })

  it.each<[number, string, Turn, readonly string[], RegExp]>([
    [1, 'the server fails', http(500, 'boom'), ['--fast'], /→ /],
    [3, 'the server never answers', { kind: 'hang', when: 'before-headers' }, ['--fast', '--timeout', '2'], /→ /],
    [3, 'the server falls silent', { kind: 'hang', when: 'after-created' }, ['--fast', '--timeout', '2'], /→ /],
    [4, 'the key is not accepted', http(401, 'Incorrect API key provided.'), [], /→ /],
    [
      5,
      'an answer in prose',
      { kind: 'model', text: 'I like all of it; approved, of course.' },
      [],
      /not with a verdict[\s\S]*→ /,
    ],
  ])('%i: %s', async (exitCode, _, turn, args, said) => {
    const place = await codexPlace([turn])
    place.write(simple)
    const { stdout, stderr } = await place.review(['--diff', ...args], { exitCode })
    expect([stdout, stderr]).toEqual(['', expect.stringMatching(said)])
    expect([processesIn(place.home), readdirSync(join(place.home, 'tmp'))]).toEqual([[], []])
  })
})

describe('Ctrl-C', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s ends Codex first, and then us', async (signal, exitCode) => {
    const place = await codexPlace([{ kind: 'hang', when: 'after-created' }])
    place.write(simple)
    const run = place.start(['--diff', '--output', 'r.json'])
    const [stdout, stderr] = [run.stdout, run.stderr].map((stream) => (stream === null ? '' : text(stream)))
    const exited = once(run, 'exit')
    await place.api.asked(1)
    expect(processesIn(place.home).length).toBeGreaterThan(0)
    run.kill(signal)
    expect(await exited).toEqual([exitCode, null])
    expect([await stdout, await stderr]).toEqual([
      '',
      expect.stringMatching(/plan-gate: The review was cancelled\.\n {2}→ /),
    ])
    expect([processesIn(place.home), readdirSync(join(place.home, 'tmp'))]).toEqual([[], []])
    expect(readdirSync(place.repo)).not.toContain('r.json')
  })
})

/** All that a run has left below a folder, but what git keeps. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.split('/').includes('.git') && statSync(join(folder, path)).isFile())
    .map((path) => join(folder, path))
}

describe('a whole run leaks nothing', () => {
  const { github, openai, aws, slack } = fakeSecrets
  const secrets = [github, openai, aws, slack, 'open-sesame-4711']
  const leaking = (text: string): string[] => secrets.filter((secret) => text.includes(secret))

  /** What the test itself has written. */
  const planted: { readonly [path: string]: string } = {
    'src/app.ts': `export const token = '${github}'\n`,
    '.env': `DOOR=open-sesame-4711\nAWS_ACCESS_KEY_ID=${aws}\n`,
    'config/dev.json': JSON.stringify({ deep: { slack } }),
    'eyes.md': `You know this key: ${openai}\n`,
    'context.md': `${assigned}\nAuthorization: Bearer ${github}\n`,
    'before.json': JSON.stringify({
      verdict: 'CHANGES_REQUIRED',
      summary: 'It has keys.',
      findings: [{ ...finding(`It holds ${github}.`), id: 'F1' }],
    }),
  }
  const plant = (place: ReviewPlace): void => place.write(planted)
  const args = [
    '--diff',
    '--expertise',
    'eyes.md',
    '--context',
    'context.md',
    '--previous',
    'before.json',
    '--output',
    'r.json',
  ]

  it.each<[string, readonly Turn[], number]>([
    [
      'with a good answer, after tools were used',
      [
        {
          kind: 'model',
          calls: [{ name: 'exec_command', arguments: { cmd: `echo ${slack}; head -c 20 src/app.ts` } }],
        },
        says({
          verdict: 'CHANGES_REQUIRED',
          summary: `It holds ${openai}.`,
          findings: [
            finding(`The key ${aws} is in it.`, {
              evidence: `token = '${github}'`,
              fix: 'See .env:\n```\nDOOR=open-sesame-4711\n```',
            }),
          ],
          previous: [{ id: 'F1', status: 'not_fixed', reason: `It is still ${github}.` }],
        }),
      ],
      0,
    ],
    ['with an answer in prose', [{ kind: 'model', text: `I have seen ${github}, ${assigned} and ${slack}.` }], 5],
    ['with a failure', [{ kind: 'http', status: 401, body: { error: { message: `The key ${openai} is wrong.` } } }], 4],
  ])('%s', async (_, turns, exitCode) => {
    const place = await codexPlace(turns)
    plant(place)
    const { stdout, stderr } = await place.review([...args, '--tool-access'], { exitCode })
    const own = Object.keys(planted).map((path) => join(place.repo, path))
    const left = [place.folder, place.home].flatMap(filesBelow).filter((path) => !own.includes(path))
    expect({
      prompts: leaking(JSON.stringify(place.api.requests.flatMap((request) => saidBy(request, 'user')))),
      stdout: leaking(stdout),
      stderr: leaking(stderr),
      files: left.filter((path) => leaking(readFileSync(path, 'latin1')).length > 0),
    }).toEqual({ prompts: [], stdout: [], stderr: [], files: [] })
    expect(left.some((path) => path.endsWith('r-pass-1.json'))).toBe(true)
    expect(`${stdout}${stderr}`).not.toContain(fakeKey)
  })
})

it('keeps what it knows of a Codex: two help texts, once', async () => {
  const place = await codexPlace([says()])
  place.write(simple)
  await place.review(['--diff', '--fast'])
  const cache = join(place.folder, 'cache', 'plan-gate')
  const [name = '', times] = readdirSync(cache)
  expect(times).toBe('pass-times.json')
  const before = statSync(join(cache, name)).mtimeMs
  writeFileSync(join(place.repo, 'src/app.ts'), 'export const three = 3\n')
  await place.review(['--diff', '--fast'])
  expect([readdirSync(cache), statSync(join(cache, name)).mtimeMs]).toEqual([[name, times], before])
})
