import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type HounfourSetup, hounfourReviewer } from '../../../src/reviewers/hounfour.ts'
import type { Answer, Question } from '../../../src/schemas/review.ts'
import { cleanEnvironment, temporaryFolder } from '../../support/temporary-repo.ts'

const key = ['sk', 'test', 'a1b2c3d4e5f6'].join('-')

const question: Question = {
  system: 'You review plans. äöü',
  user: 'The plan to review.',
  model: 'openai:gpt-5.2',
  effort: null,
  schema: null,
  thread: { kind: 'none' },
  root: null,
  timeoutMs: 20_000,
  subject: { type: 'plan', content: '# Plan' },
}

type Installed = { setup: HounfourSetup; scratch: string; folder: string }

/** A `model-invoke` on a PATH of its own; `script` is shell, with what it may look at in $RECORD. */
function install(script: string, interpreter = '/bin/sh'): Installed {
  const folder = temporaryFolder()
  for (const name of ['bin', 'scratch', 'record', 'project']) mkdirSync(join(folder, name))
  const program = join(folder, 'bin', 'model-invoke')
  writeFileSync(program, `#!${interpreter}\n${script}\n`)
  chmodSync(program, 0o755)
  const clean = cleanEnvironment()
  const env = {
    ...clean,
    PATH: `${join(folder, 'bin')}:${clean.PATH}`,
    RECORD: join(folder, 'record'),
    OPENAI_API_KEY: key,
  }
  const scratch = join(folder, 'scratch')
  const setup = { program: 'model-invoke', agent: 'gpt-reviewer', env, cwd: join(folder, 'project'), scratch }
  return { setup, scratch, folder }
}

async function ask(
  { setup, scratch }: Installed,
  changes: Partial<Question> = {},
  signal = new AbortController().signal,
): Promise<{ answer: Answer; signs: string[]; left: string[] }> {
  const signs: string[] = []
  const onProgress = (sign: string): void => {
    signs.push(sign)
  }
  const answer = await hounfourReviewer(setup)({ ...question, ...changes }, { signal, onProgress })
  return { answer, signs, left: readdirSync(scratch) }
}

const failureIn = (answer: Answer): unknown =>
  answer.kind === 'failed' ? [answer.failure, answer.why, answer.retryAfterMs] : answer

const recorder = `
const { readFileSync, statSync, writeFileSync } = require('node:fs')
const { dirname, join } = require('node:path')
const argv = process.argv.slice(2)
const valueOf = (flag) => argv[argv.indexOf(flag) + 1]
const [input, system] = ['--input', '--system'].map(valueOf)
writeFileSync(join(process.env.RECORD, 'seen.json'), JSON.stringify({
  argv, cwd: process.cwd(), stdin: readFileSync(0, 'utf8'),
  input: readFileSync(input, 'utf8'), system: readFileSync(system, 'utf8'),
  modes: [input, system, dirname(input)].map((path) => (statSync(path).mode & 0o777).toString(8)),
  paths: [input, system],
}))
console.error('[cheval] WARNING: something of no importance')
console.log('{"verdict":"APPROVED"}')
`

describe('what model-invoke is asked', () => {
  it('reads two private files, and neither the prompt nor a key is on its command line', async () => {
    const installed = install(recorder, '/usr/bin/env node')
    const { answer, signs, left } = await ask(installed)
    expect(answer).toEqual({
      kind: 'answered',
      text: '{"verdict":"APPROVED"}\n',
      usage: null,
      model: 'openai:gpt-5.2',
      thread: null,
      notices: [],
    })
    const seen = JSON.parse(readFileSync(join(installed.folder, 'record', 'seen.json'), 'utf8'))
    expect(seen).toEqual({
      argv: [
        ...['--agent', 'gpt-reviewer'],
        ...['--input', seen.paths[0]],
        ...['--system', seen.paths[1]],
        ...['--model', 'openai:gpt-5.2'],
        ...['--output-format', 'text'],
        '--json-errors',
        ...['--timeout', '20'],
      ],
      cwd: join(installed.folder, 'project'),
      stdin: '',
      input: 'The plan to review.',
      system: 'You review plans. äöü',
      modes: ['600', '600', '700'],
      paths: seen.paths,
    })
    expect(JSON.stringify(seen.argv)).not.toMatch(new RegExp(`review plans|plan to review|${key}`))
    expect(seen.paths.every((path: string) => path.startsWith(installed.scratch))).toBe(true)
    expect(left).toEqual([])
    expect(signs.sort()).toEqual(['answering', 'model-invoke is at work', 'waiting for model-invoke'])
  })

  it('names no model where none is asked for, and says which setting it has not', async () => {
    const installed = install('printf "%s " "$@" > "$RECORD/argv"; echo fine')
    const { answer } = await ask(installed, { model: null, effort: 'xhigh', timeoutMs: 1_500 })
    expect(answer).toMatchObject({
      kind: 'answered',
      model: null,
      notices: ['Reasoning effort xhigh was left out: model-invoke has no such setting.'],
    })
    const argv = readFileSync(join(installed.folder, 'record', 'argv'), 'utf8')
    expect(argv).not.toContain('--model')
    expect(argv).toContain('--timeout 1 ')
  })

  const choosy = (known: string): string => `
    while [ $# -gt 0 ]; do [ "$1" = --model ] && model=$2; shift; done
    echo "$model" >> "$RECORD/models"
    [ "$model" = "${known}" ] && echo fine && exit 0
    echo '{"error": true, "code": "INVALID_CONFIG", "message": "Unknown alias: gpt-5.2", "retryable": false}' >&2
    exit 2`

  it.each<[string, string, string, string[], number]>([
    ['an alias of its own', 'gpt-5.2', 'gpt-5.2', ['gpt-5.2'], 0],
    ['a bare name of OpenAI', 'gpt-5.2', 'openai:gpt-5.2', ['gpt-5.2', 'openai:gpt-5.2'], 1],
    ['a full name', 'openai:gpt-5.2', 'openai:gpt-5.2', ['openai:gpt-5.2'], 0],
  ])('knows %s', async (_, model, known, asked, notices) => {
    const installed = install(choosy(known))
    const { answer, left } = await ask(installed, { model })
    expect(answer).toMatchObject({ kind: 'answered', model: known })
    expect(answer.notices).toHaveLength(notices)
    expect(
      readFileSync(join(installed.folder, 'record', 'models'), 'utf8')
        .trim()
        .split('\n'),
    ).toEqual(asked)
    expect(left).toEqual([])
  })

  it('does not know a model under either name', async () => {
    const { answer } = await ask(install(choosy('nothing')), { model: 'gpt-9' })
    expect(answer).toMatchObject({ kind: 'failed', failure: 'rejected' })
  })
})

const printed = (code: string, message = 'No.', more = ''): string =>
  `echo '[cheval] WARNING: noise' >&2; echo '{"error": true, "code": "${code}", "message": "${message}"${more}}' >&2`

describe('how it ends', () => {
  it.each<[string, string, string, RegExp, number | null]>([
    ['1', 'exit 1', 'server', /exit code 1\.$/, null],
    ['2', 'exit 2', 'rejected', /exit code 2\.$/, null],
    ['3', 'exit 3', 'timeout', /exit code 3/, null],
    ['4', 'exit 4', 'auth', /exit code 4/, null],
    ['5', 'exit 5', 'malformed', /exit code 5/, null],
    ['6', 'exit 6', 'quota', /exit code 6/, null],
    ['7', 'exit 7', 'rejected', /exit code 7/, null],
    ['8', 'exit 8', 'malformed', /exit code 8/, null],
    ['11', 'exit 11', 'rejected', /exit code 11/, null],
    ['12', 'exit 12', 'server', /exit code 12/, null],
    ['13', 'exit 13', 'rejected', /exit code 13/, null],
    ['42', 'exit 42', 'crashed', /exit code 42/, null],
    ['127', 'exec no-such-python', 'not-installed', /exit code 127/, null],
    [
      '1 RATE_LIMITED',
      `${printed('RATE_LIMITED', 'Slow down.')}; exit 1`,
      'rate-limited',
      /RATE_LIMITED\. It says: Slow down\.$/,
      null,
    ],
    [
      '1 RATE_LIMITED with a wait',
      `${printed('RATE_LIMITED', 'x', ', "retry_after": 2.5')}; exit 1`,
      'rate-limited',
      /RATE_LIMITED/,
      2_500,
    ],
    ['1 RETRIES_EXHAUSTED', `${printed('RETRIES_EXHAUSTED')}; exit 1`, 'server', /RETRIES_EXHAUSTED/, null],
    ['1 PROVIDER_UNAVAILABLE', `${printed('PROVIDER_UNAVAILABLE')}; exit 1`, 'server', /PROVIDER_UNAVAILABLE/, null],
    ['1 CONNECTION_LOST', `${printed('CONNECTION_LOST')}; exit 1`, 'transport', /CONNECTION_LOST/, null],
    ['1 AUTH_REVOKED', `${printed('AUTH_REVOKED')}; exit 1`, 'auth', /AUTH_REVOKED/, null],
    ['1 EMPTY_CONTENT', `${printed('EMPTY_CONTENT')}; exit 1`, 'malformed', /EMPTY_CONTENT/, null],
    [
      '2 for a key',
      `${printed('INVALID_CONFIG', 'API key is empty for provider openai.')}; exit 2`,
      'auth',
      /API key is empty/,
      null,
    ],
    [
      '2 for a binding',
      `${printed('INVALID_CONFIG', 'Unknown agent: gpt-reviewer')}; exit 2`,
      'rejected',
      /Unknown agent/,
      null,
    ],
    ['6 BUDGET_EXCEEDED', `${printed('BUDGET_EXCEEDED')}; exit 6`, 'quota', /BUDGET_EXCEEDED/, null],
    ['7 CONTEXT_TOO_LARGE', `${printed('CONTEXT_TOO_LARGE')}; exit 7`, 'rejected', /CONTEXT_TOO_LARGE/, null],
    ['1 with an unknown name', `${printed('BRAND_NEW')}; exit 1`, 'server', /BRAND_NEW/, null],
    ['1 with a name of JavaScript', `${printed('constructor')}; exit 1`, 'server', /constructor/, null],
    [
      '1 with a wait for ever',
      `${printed('RATE_LIMITED', 'x', ', "retry_after": 1e999')}; exit 1`,
      'rate-limited',
      /RATE_LIMITED/,
      null,
    ],
    [
      '1 with the message under error',
      `echo '{"error": "Slow down.", "code": "RATE_LIMITED"}' >&2; exit 1`,
      'rate-limited',
      /Slow down/,
      null,
    ],
    ['1 with an error without a name', `echo '{"error": "No luck."}' >&2; exit 1`, 'server', /No luck/, null],
    [
      '1 with the last of two errors',
      `${printed('API_ERROR')}; ${printed('RATE_LIMITED')}; exit 1`,
      'rate-limited',
      /RATE_LIMITED/,
      null,
    ],
    [
      '1 with a traceback',
      'echo "Traceback:" >&2; echo "KeyError: x" >&2; exit 1',
      'server',
      /It says: KeyError: x$/,
      null,
    ],
    ['1 with half a JSON', `echo '{"error": tr' >&2; exit 1`, 'server', /exit code 1/, null],
    ['1 with colours', `printf '\\033[31mred\\033[0m\\n' >&2; exit 1`, 'server', /It says: \[31mred \[0m$/, null],
    ['0 and nothing', 'exit 0', 'malformed', /empty answer/, null],
    ['0 and blanks', 'echo; echo " "', 'malformed', /empty answer/, null],
    [
      '0 and a split text that was not read',
      `echo '{"content": "{}", "chunked": true, "chunks_reviewed": 0}'`,
      'rejected',
      /longer than/,
      null,
    ],
    ['a signal', 'kill -9 $$', 'crashed', /ended from outside \(SIGKILL\)/, null],
  ])('%s', async (_, script, failure, why, retryAfterMs) => {
    const { answer, left } = await ask(install(script))
    expect(failureIn(answer)).toEqual([failure, expect.stringMatching(why), retryAfterMs])
    expect(left).toEqual([])
  })

  it.each<[string, string, string]>([
    ['garbage', 'printf "\\377\\376 not json at all"', '\ufffd\ufffd not json at all'],
    [
      'an answer that speaks of chunks',
      `echo '{"verdict":"APPROVED","summary":"\\"chunked\\" is read"}'`,
      '{"verdict":"APPROVED","summary":"\\"chunked\\" is read"}\n',
    ],
    [
      'an answer after much noise',
      'i=0; while [ $i -lt 2000 ]; do echo "[cheval] noise $i" >&2; i=$((i+1)); done; echo fine',
      'fine\n',
    ],
  ])('hands on %s as it is', async (_, script, text) => {
    const { answer } = await ask(install(script))
    expect(answer).toMatchObject({ kind: 'answered', text })
  })

  it('takes no more of a huge answer than it may, but does not mind a huge log', async () => {
    const flood = 'head -c 3000000 /dev/zero | tr "\\000" x'
    const [answers, logs] = [install(flood), install(`(${flood}) >&2; echo fine`)].map((installed) => ({
      ...installed,
      setup: { ...installed.setup, maxOutputBytes: 1_000_000 },
    }))
    if (answers === undefined || logs === undefined) throw new Error('nothing installed')
    expect(failureIn((await ask(answers)).answer)).toEqual([
      'malformed',
      'The answer of model-invoke is larger than any review.',
      null,
    ])
    expect((await ask(logs)).answer).toMatchObject({ kind: 'answered', text: 'fine\n' })
  })

  it('ends with all that it started at the deadline, and the files go', async () => {
    const installed = install('sleep 300 & echo $! > "$RECORD/pid"; wait')
    const { answer, left } = await ask(installed, { timeoutMs: 1_000 })
    expect(failureIn(answer)).toEqual(['timeout', expect.stringMatching(/did not finish within \d s/), null])
    expect(left).toEqual([])
    const pid = Number(readFileSync(join(installed.folder, 'record', 'pid'), 'utf8'))
    await expect.poll(() => isAlive(pid)).toBe(false)
  })

  it('ends with all that it started when it is cancelled, and the files go', async () => {
    const controller = new AbortController()
    const installed = install('sleep 300 & echo $! > "$RECORD/pid"; echo started >&2; wait')
    const asked = ask(installed, {}, controller.signal)
    const pidFile = join(installed.folder, 'record', 'pid')
    await expect
      .poll(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8').trim(), { timeout: 10_000 })
      .toBeTruthy()
    controller.abort()
    const { answer, left } = await asked
    expect(failureIn(answer)).toEqual(['cancelled', 'The review was cancelled.', null])
    expect(left).toEqual([])
    const pid = Number(readFileSync(pidFile, 'utf8'))
    await expect.poll(() => isAlive(pid)).toBe(false)
  })

  it('does not start when it is cancelled already', async () => {
    const installed = install('touch "$RECORD/started"')
    const { answer, left } = await ask(installed, {}, AbortSignal.abort())
    expect(failureIn(answer)).toEqual(['cancelled', 'The review was cancelled.', null])
    expect([left, readdirSync(join(installed.folder, 'record'))]).toEqual([[], []])
  })

  it.each<[string, (installed: Installed) => HounfourSetup, string, RegExp]>([
    ['is not on PATH', ({ setup }) => ({ ...setup, program: 'no-model-invoke' }), 'not-installed', /no such program/],
    [
      'cannot be run',
      ({ setup, folder }) => ({ ...setup, program: join(folder, 'project') }),
      'not-installed',
      /EACCES/,
    ],
    [
      'has no folder to run in',
      ({ setup }) => ({ ...setup, cwd: '/no/such/folder' }),
      'not-installed',
      /does not exist/,
    ],
    [
      'has no space for its files',
      ({ setup }) => ({ ...setup, scratch: '/no/such/folder' }),
      'crashed',
      /could not be written/,
    ],
  ])('says so when it %s', async (_, change, failure, why) => {
    const installed = install('echo fine')
    const { answer, left } = await ask({ ...installed, setup: change(installed) })
    expect(failureIn(answer)).toEqual([failure, expect.stringMatching(why), null])
    expect(left).toEqual([])
  })

  it.each<[string, string]>([
    ['its log', 'echo "key $OPENAI_API_KEY is bad" >&2; exit 4'],
    ['its error', `echo "{\\"code\\": \\"API_ERROR\\", \\"message\\": \\"$OPENAI_API_KEY\\"}" >&2; exit 1`],
    ['its answer', 'echo "{\\"summary\\": \\"$OPENAI_API_KEY\\"}"'],
  ])('keeps a key out of what comes back when it is in %s', async (_, script) => {
    const run = await ask(install(script))
    expect(JSON.stringify(run)).toContain('[redacted]')
    expect(JSON.stringify(run)).not.toContain(key)
  })
})

/** A process that has ended but was not collected, as containers without an init have them, is not alive. */
const isAlive = (pid: number): boolean => {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z')
}
