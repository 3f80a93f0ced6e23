import { existsSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { apiError, chatReply, raw, responsesReply } from '../../support/servers/openai-http.ts'
import { commit, type Files, git, statusOf, temporaryFolder, write } from '../../support/temporary-repo.ts'
import { answerOf, finding, httpPlace, replies, reviewPlace } from './review-place.ts'

const chat = (said = {}) => chatReply(answerOf(said))
const diffArgs = ['--diff']
const changed: Files = { 'src/app.ts': 'export const two = 2\n' }

describe('plan-gate review shows', () => {
  it('the result on stdout and how it goes on stderr', async () => {
    const place = await httpPlace([replies({ verdict: 'CHANGES_REQUIRED', findings: [finding('It is two.')] })])
    place.write(changed)
    const { stdout, stderr } = await place.review(diffArgs)
    expect(stdout.replace(/\d+\.\d s$/m, '0.0 s').split('\n')).toEqual([
      'CHANGES_REQUIRED',
      'The reviewer says CHANGES_REQUIRED.',
      '',
      'F1 major  src/app.ts:1',
      '  It is two.',
      '  export const one = 1',
      '  → Fix it.',
      '',
      'curl · without the repository · 1 pass · 0.0 s',
      '',
    ])
    expect(stderr.trimEnd().split('\n')).toEqual([
      '[plan-gate] WARN: The row for curl lacks the capability multi_pass, so there is a single pass.',
      '[plan-gate] INFO: pass 1 of 1: the only pass (curl), up to 600 s',
    ])
  })

  it('traces each attempt with PLAN_GATE_DEBUG=1', async () => {
    const place = await httpPlace([replies()])
    place.write(changed)
    const { stderr } = await place.review(diffArgs, { env: { PLAN_GATE_DEBUG: '1' } })
    const lines = stderr.split('\n')
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^\[plan-gate\] INFO: \[route-table\] sha256 [0-9a-f]{64}$/),
        '[plan-gate] INFO: [route-table] using routes of your own',
        '[plan-gate] INFO: [route-table] trying backend=curl, conditions=[always], result=pending',
        '[plan-gate] INFO: [route-table] trying backend=curl, conditions=[always], result=success',
      ]),
    )
    expect(stderr).not.toContain('\u001b')
  })

  it('with --json one object and nothing else', async () => {
    const place = await httpPlace([replies({ verdict: 'DECISION_NEEDED', question: 'Which of both?' })])
    place.write(changed)
    expect(await place.result(diffArgs)).toMatchObject({
      verdict: 'DECISION_NEEDED',
      is_optimal: false,
      question: 'Which of both?',
      iteration: 1,
      findings: [],
      previous_findings: [],
      verification: null,
      pass_metadata: {
        passes_completed: 1,
        reasoning_mode: 'single-pass',
        route: 'curl',
        model: 'gpt-5.2-codex',
        pass1_tokens: 280,
      },
    })
  })

  it('nothing that a terminal would obey', async () => {
    const summary = 'Fine.\u001b[2J\u001b]0;owned\u0007 \u202eturned'
    const place = await httpPlace([replies({ summary, findings: [finding('\u001b[31mred', { severity: 'minor' })] })])
    place.write(changed)
    const { stdout } = await place.review(diffArgs)
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  })
})

describe('what is reviewed', () => {
  it.each<[string, readonly string[], string, string]>([
    ['code', ['--type', 'code', '--content', 'src/app.ts'], '/v1/responses', 'gpt-5.2-codex'],
    ['prd', ['--type', 'prd', '--content', 'docs/it.md'], '/v1/chat/completions', 'gpt-5.2'],
    ['sdd', ['--type', 'sdd', '--content', 'docs/it.md'], '/v1/chat/completions', 'gpt-5.2'],
    ['sprint', ['--type', 'sprint', '--content', 'docs/it.md'], '/v1/chat/completions', 'gpt-5.2'],
    ['plan', ['--type', 'plan'], '/v1/chat/completions', 'gpt-5.2'],
    ['plan', ['--type', 'plan', '--content', 'docs/it.md'], '/v1/chat/completions', 'gpt-5.2'],
  ])('%s: %j', async (type, args, path, model) => {
    const place = await httpPlace([type === 'code' ? replies() : chat()], {
      'docs/it.md': '# It is this\n',
      'docs/plan.md': '# It is this\n',
    })
    expect(await place.result(args)).toMatchObject({ verdict: 'APPROVED', pass_metadata: { model } })
    expect(place.http.received).toMatchObject([{ path, body: { model } }])
    expect(place.prompts()[0]).toContain(type === 'code' ? 'export const one' : '# It is this')
  })

  it('what comes on standard input, also a lot of it', async () => {
    const place = await httpPlace([replies()])
    const stdin = `# First line\n${'More and more of it.\n'.repeat(20_000)}# Last line\n`
    const result = await place.result(['--type', 'code', '--content', '-'], { stdin })
    expect(place.prompts()[0]).toMatch(/# First line[\s\S]*# Last line/)
    expect(result.notices.join()).toContain('The content is longer than its budget of 30000 tokens')
  })

  it('with background document, and whose eyes', async () => {
    const place = await httpPlace([replies()])
    write(place.folder, { 'eyes.md': 'You know queues.', 'shop.md': 'It is for the shop.' })
    const args = ['--type', 'code', '--content', 'src/app.ts']
    await place.review([...args, '--expertise', join(place.folder, 'eyes.md'), '--context', '../shop.md'])
    expect(place.prompts()[0]).toMatch(/You know queues[\s\S]*It is for the shop/)
  })

  it('outside of a repository, by the defaults', async () => {
    const place = await httpPlace([chat()])
    const cwd = temporaryFolder()
    write(cwd, { 'it.md': '# It\n' })
    expect(await place.result(['--type', 'prd', '--content', 'it.md'], { cwd })).toMatchObject({
      verdict: 'APPROVED',
      pass_metadata: { route: 'curl' },
    })
  })
})

/** What the reviewer was asked, as one text. */
const textOf = (body: { input: string | readonly { content: string }[] }): string =>
  typeof body.input === 'string' ? body.input : body.input.map(({ content }) => content).join('\n')

describe('--diff', () => {
  const diffOf = async (act: (repo: string) => void, args: readonly string[] = diffArgs, cwd = ''): Promise<string> => {
    const place = await httpPlace([replies()], {
      'old.md': `${'A line that stays.\n'.repeat(20)}`,
      'gone.ts': 'export {}\n',
      '.gitignore': 'ignored/\n',
    })
    act(place.repo)
    const index = join(place.repo, '.git', 'index')
    const before = [statusOf(place.repo), readFileSync(index, 'hex'), statSync(index).mtimeMs]
    await place.review([...args], { cwd: join(place.repo, cwd) })
    const after = [readFileSync(index, 'hex'), statSync(index).mtimeMs]
    expect([statusOf(place.repo), ...after]).toEqual(before)
    return textOf(place.http.received[0]?.body)
  }

  it.each<[string, (repo: string) => void, RegExp, (readonly string[])?, string?]>([
    ['a change', (repo) => write(repo, changed), /-export const one = 1\n\+export const two = 2/],
    [
      'a change that is staged',
      (repo) => {
        write(repo, changed)
        git(repo, 'add', '-A')
      },
      /\+export const two = 2/,
    ],
    [
      'a new file',
      (repo) => write(repo, { 'src/new.ts': 'export const n = 0\n' }),
      /b\/src\/new\.ts\n@@ -0,0 \+1 @@\n\+export/,
    ],
    ['a file that is deleted', (repo) => git(repo, 'rm', '--quiet', 'gone.ts'), /deleted file[\s\S]*-export \{\}/],
    ['a file that is renamed', (repo) => git(repo, 'mv', 'old.md', 'new.md'), /rename from old\.md\nrename to new\.md/],
    [
      'a name with a space and an umlaut',
      (repo) => write(repo, { 'src/the ä.ts': 'export {}\n' }),
      /\+\+\+ "?b\/src\/the /,
    ],
    [
      'a binary file',
      (repo) => writeFileSync(join(repo, 'i.bin'), Buffer.from([0, 1, 2, 0])),
      /Binary files \/dev\/null and b\/i\.bin/,
    ],
    [
      'everything, from a subfolder',
      (repo) => write(repo, { ...changed, 'top.md': 'new\n' }),
      /src\/app\.ts[\s\S]*b\/top\.md/,
      diffArgs,
      'src',
    ],
    [
      'what differs from another commit',
      (repo) => {
        git(repo, 'branch', 'start')
        commit(repo, changed)
        write(repo, { 'more.ts': 'export const more = 1\n' })
      },
      /\+export const more = 1[\s\S]*\+export const two = 2/,
      ['--diff', 'start'],
    ],
    [
      'before the settings of a user change its form',
      (repo) => {
        for (const setting of ['diff.noprefix', 'diff.mnemonicPrefix', 'color.diff', 'diff.external'])
          git(
            repo,
            'config',
            setting,
            setting.endsWith('external') ? 'false' : setting.startsWith('color') ? 'always' : 'true',
          )
        write(repo, changed)
      },
      /diff --git a\/src\/app\.ts b\/src\/app\.ts\nindex/,
    ],
    [
      'a change within the second in which the file was added',
      (repo) => {
        commit(repo, { 'src/quick.ts': 'export const aaa = 1\n' })
        const { atimeMs, mtimeMs } = statSync(join(repo, 'src/quick.ts'))
        write(repo, { 'src/quick.ts': 'export const bbb = 2\n' })
        utimesSync(join(repo, 'src/quick.ts'), atimeMs / 1000, mtimeMs / 1000)
      },
      /\+export const bbb = 2/,
    ],
  ])('%s', async (_, act, expected, args, cwd) => {
    expect(await diffOf(act, args, cwd)).toMatch(expected)
  })

  it('not what git ignores', async () => {
    const diff = await diffOf((repo) => write(repo, { ...changed, 'ignored/secret.txt': 'hidden words\n' }))
    expect(diff).not.toContain('hidden words')
  })

  it('a security path takes the larger budgets, and is seen for what it is', async () => {
    const place = await httpPlace([replies()])
    place.write({ '.env': 'DOOR=open-sesame-4711\n', 'src/app.ts': 'export const two = 2\n' })
    const result = await place.result(diffArgs)
    expect(place.prompts().join()).not.toContain('open-sesame-4711')
    expect(result.notices.join()).toContain('.env')
  })

  it.each<[string, (repo: string) => void, readonly string[], string]>([
    ['nothing differs', () => {}, ['--diff'], 'There are no changes to review.\n  → Name another base: --diff main.\n'],
    ['no such commit', () => {}, ['--diff', 'nowhere'], 'nowhere is not a commit here.\n  → Give a branch'],
    [
      'a plan that is too long to be seen whole',
      (repo) => write(repo, { 'docs/plan.md': `# Long\n\n${'Each word of this plan counts. '.repeat(9_000)}\n` }),
      ['--type', 'plan'],
      'The plan has ',
    ],
    ['an option in its place', () => {}, ['--diff=--git-dir'], '--git-dir is not a commit here.'],
  ])('%s → 2, and the next step', async (_, act, args, said) => {
    const place = await httpPlace([replies()])
    act(place.repo)
    const { stdout, stderr } = await place.review(args, { exitCode: 2 })
    expect([stdout, stderr, place.http.received.length]).toEqual(['', expect.stringContaining(`plan-gate: ${said}`), 0])
  })

  it('outside of a repository → 2', async () => {
    const { stderr } = await reviewPlace().review(diffArgs, { exitCode: 2, cwd: temporaryFolder() })
    expect(stderr).toMatch(/is not in a git repository\.\n {2}→ /)
  })
})

describe('--output', () => {
  it('is the result, and beside it stands what each pass answered', async () => {
    const place = await httpPlace([replies({ summary: 'It is all there.' })])
    place.write({ ...changed, 'r-pass-2.json': '{"of": "an earlier review"}', 'r-pass-4.json': 'not ours' })
    const shown = await place.result(['--diff', '--output', 'r.json'])
    const read = (name: string): unknown => JSON.parse(readFileSync(join(place.repo, name), 'utf8'))
    expect(read('r.json')).toEqual(shown)
    expect(read('r-pass-1.json')).toEqual({
      pass: 1,
      does: 'combined',
      backend: 'curl',
      outcome: 'valid',
      why: null,
      duration_ms: expect.any(Number),
      effort: 'high',
      tokens: 280,
      answer: answerOf({ summary: 'It is all there.' }),
    })
    expect([existsSync(join(place.repo, 'r-pass-2.json')), existsSync(join(place.repo, 'r-pass-4.json'))]).toEqual([
      false,
      true,
    ])
  })

  it('without a verdict an older one does not stay in its place; nothing is lost', async () => {
    const place = await httpPlace([responsesReply('I like it, all of it, very much.')])
    place.write({ ...changed, 'r.json': '{"verdict": "CHANGES_REQUIRED"}' })
    const { stdout, stderr } = await place.review(['--diff', '--output', 'r.json'], { exitCode: 5 })
    expect([stdout, existsSync(join(place.repo, 'r.json'))]).toEqual(['', false])
    expect(stderr).toContain('The former result is in r.json.old.')
    expect(readFileSync(join(place.repo, 'r.json.old'), 'utf8')).toBe('{"verdict": "CHANGES_REQUIRED"}')
    expect(readFileSync(join(place.repo, 'r-pass-1.json'), 'utf8')).toContain('I like it, all of it')
  })

  it.each<[string, string, string]>([
    ['a folder that is not there', 'nowhere/r.json', 'is not a writable folder.'],
    ['a folder', 'src', 'is a directory, not a regular file'],
    ['a link', 'link.json', 'is a symbolic link, not a regular file'],
    ['what is reviewed', 'src/app.ts', '--output would overwrite what --content names.'],
  ])('%s → 2 before a reviewer is asked', async (_, output, said) => {
    const place = await httpPlace([replies()])
    symlinkSync('src/app.ts', join(place.repo, 'link.json'))
    const args = ['--type', 'code', '--content', 'src/app.ts', '--output', output]
    const { stderr } = await place.review(args, { exitCode: 2 })
    expect([stderr, place.http.received]).toEqual([expect.stringContaining(said), []])
    expect(stderr).toContain('\n  → Give another file with --output.\n')
  })
})

describe('one review after another', () => {
  const first = {
    verdict: 'CHANGES_REQUIRED',
    findings: [finding('It is two.'), finding('It has no test.', { section: 'src/b.ts:1' })],
  }

  it('each finding of the one before gets a status, and keeps its id', async () => {
    const place = await httpPlace([
      replies(first),
      replies({
        verdict: 'CHANGES_REQUIRED',
        findings: [finding('Another thing altogether.', { section: 'src/c.ts:9' })],
        previous: [{ id: 'F1', status: 'fixed', reason: 'It is one again.' }],
      }),
      // Asked for the status of F2 alone, it says nothing again.
      replies(),
      replies({ previous: [{ id: 'F2', status: 'rejected', reason: 'It is generated code.' }] }),
      replies({ previous: [{ id: 'F3', status: 'fixed', reason: 'That file is gone now.' }] }),
    ])
    place.write(changed)
    const one = await place.result(['--diff', '--output', '1.json'])
    expect(one.findings.map(({ id }) => id)).toEqual(['F1', 'F2'])
    const two = await place.result(['--diff', '--previous', '1.json', '--output', '2.json'])
    expect(two).toMatchObject({
      verdict: 'CHANGES_REQUIRED',
      iteration: 2,
      findings: [{ id: 'F3' }, { id: 'F2', problem: 'It has no test.' }],
      previous_findings: [
        { id: 'F1', status: 'fixed', reason: 'It is one again.' },
        { id: 'F2', status: 'not_fixed' },
      ],
    })
    expect(place.prompts()[1]).toContain(' earlier findings\\n')
    const three = await place.result(['--diff', '--previous', '2.json', '--output', '2.json'])
    expect(three).toMatchObject({ verdict: 'APPROVED', iteration: 3, findings: [] })
    expect(three.previous_findings.map(({ id, status }) => `${id} ${status}`)).toEqual(['F3 fixed', 'F2 rejected'])
    const four = await place.result(['--diff', '--previous', '2.json'])
    expect(four).toMatchObject({
      verdict: 'DECISION_NEEDED',
      iteration: 4,
      question: expect.stringContaining('--previous'),
    })
    expect(place.http.received).toHaveLength(5)
  })

  it('past the last one the user decides, and no reviewer is asked', async () => {
    const place = await httpPlace([replies(first)])
    place.write(changed)
    await place.review(['--diff', '--output', 'r.json'])
    const last = await place.result(['--diff', '--previous', 'r.json', '--iteration', '4', '--output', 'r.json'])
    expect(last).toMatchObject({
      verdict: 'DECISION_NEEDED',
      is_optimal: false,
      findings: [{ id: 'F1' }, { id: 'F2' }],
      question: expect.stringMatching(/F1 \(major, src\/app\.ts:1\): It is two\.[\s\S]*F2/),
    })
    expect([place.http.received.length, last.pass_metadata]).toEqual([1, undefined])
    const { stdout } = await place.review(['--diff', '--previous', 'r.json'])
    expect(stdout).toMatch(/^DECISION_NEEDED\nIteration 5 is past review\.max_iterations \(3\)/)
  })

  it('a review that was switched off may be the one before', async () => {
    const place = await httpPlace([replies()])
    place.write({
      ...changed,
      'before.json': '{"verdict":"SKIPPED","is_optimal":false,"summary":"Off.","findings":[],"iteration":1}',
    })
    expect(await place.result(['--diff', '--previous', 'before.json'])).toMatchObject({
      verdict: 'APPROVED',
      iteration: 2,
    })
  })

  it('findings of another tool get ids of ours', async () => {
    const place = await httpPlace([replies({ verdict: 'CHANGES_REQUIRED' })])
    const findings = [finding('a'), finding('b', { id: 'F1' }), finding('c', { id: 'F1' }), finding('d', { id: 'X-7' })]
    place.write({ ...changed, 'before.json': JSON.stringify({ verdict: 'CHANGES_REQUIRED', summary: 's', findings }) })
    const { previous_findings } = await place.result(['--diff', '--previous', 'before.json'])
    expect(previous_findings.map(({ id }) => id)).toEqual(['F2', 'F1', 'F3', 'F4'])
  })
})

describe('exit codes', () => {
  const bearer = (status: number, message: string) => apiError(status, { message })

  it.each<[number, string, Parameters<typeof httpPlace>[0][0], RegExp]>([
    [0, 'a verdict', replies(), /^$/],
    [1, 'the server fails', bearer(500, 'boom'), /500[\s\S]*→ /],
    [1, 'the account is empty', apiError(429, { code: 'insufficient_quota' }), /quota[\s\S]*→ /],
    [1, 'the request is not accepted', bearer(400, 'no such thing'), /400[\s\S]*→ /],
    [
      4,
      'the key is not accepted',
      bearer(401, 'wrong key'),
      /does not accept the key \(401\)[\s\S]*→ Check OPENAI_API_KEY/,
    ],
    [5, 'an answer in prose', responsesReply('It is good as it is, I approve.'), /not with a verdict[\s\S]*→ /],
    [5, 'an answer that is cut off', responsesReply('{"verdict": "APPROVED", "summary": "All'), /→ /],
    [1, 'a page in its place', raw(200, '<html>hello</html>', { 'content-type': 'text/html' }), /→ /],
  ])('%i: %s', async (exitCode, _, act, said) => {
    const place = await httpPlace([act])
    place.write(changed)
    const { stdout, stderr } = await place.review(diffArgs, { exitCode })
    if (exitCode === 0) return
    expect([stdout, stderr]).toEqual(['', expect.stringMatching(said)])
    expect(stderr).not.toContain('    at ')
    const json = await place.review(['--diff', '--json'], { exitCode })
    expect(JSON.parse(json.stdout)).toMatchObject({
      event: 'error',
      exit_code: exitCode,
      next_step: expect.any(String),
    })
  })

  it('3: no answer in time', async () => {
    const place = await httpPlace([() => {}])
    place.write(changed)
    const { stderr } = await place.review(['--diff', '--timeout', '1'], { exitCode: 3 })
    expect(stderr).toMatch(/up to 1 s[\s\S]*plan-gate: [^\n]* 1 s[^\n]*\n {2}→ /)
    // Once.
    expect(stderr.match(/ 1 s\b.*$/gm)).toHaveLength(2)
  })

  it('4: no key', async () => {
    const place = await httpPlace([replies()])
    place.write(changed)
    const { stderr } = await place.review(diffArgs, { exitCode: 4, env: { OPENAI_API_KEY: '' } })
    expect(stderr).toMatch(/OPENAI_API_KEY/)
  })

  it('2: no reviewer', async () => {
    const routes = 'review:\n  routes:\n    - {backend: codex, when: [codex_available], fail_mode: hard_fail}\n'
    const place = reviewPlace({ 'plan-gate.yaml': routes })
    place.write(changed)
    const { stderr } = await place.review(diffArgs, { exitCode: 2 })
    expect(stderr).toMatch(/No reviewer is available: codex \(`codex` is not on PATH\)[\s\S]*→ Install one of them/)
  })
})

describe('bad input', () => {
  const file = '--type code --content src/app.ts'

  it.each<[string, RegExp, (string | Buffer)?]>([
    ['', /--type is missing\.\n {2}→ Choose one: --type plan, code, prd, sdd, sprint\./],
    ['--type poem', /"poem" is not a type of review\.\n {2}→ Choose one/],
    ['--type code', /There is nothing to review\.\n {2}→ Give --content <file>/],
    ['--type plan', /docs\/plan\.md cannot be read \(ENOENT\)\.\n {2}→ /],
    ['--type code --content nix', /nix cannot be read \(ENOENT\)\.\n {2}→ Give a readable file with --content\./],
    ['--type code --content src', /src cannot be read \(not a file\)\.\n {2}→ /],
    ['--type code --content empty', /The content to review is empty\.\n {2}→ Give a file that is not empty\./],
    ['--type code --content -', /The content to review is empty\.\n {2}→ /, ' \n'],
    ['--type code --content latin1', /latin1 is not UTF-8 text\.\n {2}→ Convert it/],
    ['--type code --content -', /stdin is not UTF-8 text\.\n {2}→ /, Buffer.from([0xff, 0xfe, 0x41])],
    [`${file} --diff`, /--diff and --content cannot be combined\.\n {2}→ /],
    ['--type code --content - --context -', /--content and --context cannot both be stdin\.\n {2}→ /],
    [`${file} --expertise nix`, /nix cannot be read \(ENOENT\)\.\n {2}→ [^\n]*--expertise/],
    [`${file} --context nix`, /nix cannot be read \(ENOENT\)\.\n {2}→ [^\n]*--context/],
    [`${file} --previous nix`, /nix cannot be read \(ENOENT\)\.\n {2}→ [^\n]*--previous/],
    [`${file} --previous src/app.ts`, /src\/app\.ts is not the result of a review: [^\n]+\n {2}→ /],
    [`${file} --iteration 0`, /--iteration 0 is not a whole number from 1 to 1000\.\n {2}→ /],
    [`${file} --iteration two`, /--iteration two is not a whole number/],
    [`${file} --timeout 1.5`, /--timeout 1\.5 is not a whole number from 1 to 3600\.\n {2}→ /],
    [`${file} --timeout 3601`, /--timeout 3601 is not a whole number/],
    ['--typo', /unknown option '--typo'[\s\S]*→ [\s\S]*See `plan-gate review --help`/],
    ['surplus --type code', /too many arguments[\s\S]*→ /],
  ])('%s', async (line, said, stdin = '') => {
    const place = await httpPlace([replies()], { empty: '' })
    writeFileSync(join(place.repo, 'latin1'), Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x0a]))
    const args = line === '' ? [] : line.split(' ')
    const { stdout, stderr } = await place.review(args, { exitCode: 2, stdin })
    expect([stdout, stderr, place.http.received]).toEqual(['', expect.stringMatching(said), []])
    expect(stderr).not.toContain('    at ')
  })

  it('a configuration that is not valid', async () => {
    const place = reviewPlace({ 'plan-gate.yaml': 'review:\n  timeout_seconds: soon\n' })
    place.write(changed)
    const { stderr } = await place.review(diffArgs, { exitCode: 2 })
    expect(stderr).toMatch(
      /plan-gate\.yaml is not valid:\n {2}plan-gate\.yaml:2:\d+ {2}review\.timeout_seconds[\s\S]*→ Fix these lines/,
    )
  })

  it('a pattern for secrets that takes for ever', async () => {
    const place = await httpPlace([replies()])
    const yaml = readFileSync(join(place.repo, 'plan-gate.yaml'), 'utf8')
    place.write({ 'plan-gate.yaml': `${yaml}  redaction: {patterns: ['(a+)+$']}\n`, 'long.ts': `${'a'.repeat(60)}!\n` })
    const { stderr } = await place.review(diffArgs, { exitCode: 2 })
    expect([stderr, place.http.received]).toEqual([
      expect.stringMatching(/Secrets could not be blanked: [\s\S]*→ Fix review\.redaction/),
      [],
    ])
  })
})

describe('the configuration', () => {
  it.each([
    ['enabled: false', 'review.enabled'],
    ['phases: {implementation: false}', 'review.phases.implementation'],
  ])('%s: nothing is asked, and nothing approved', async (line, key) => {
    const place = reviewPlace({ 'plan-gate.yaml': `review:\n  ${line}\n` })
    place.write(changed)
    expect(await place.result(diffArgs)).toMatchObject({
      verdict: 'SKIPPED',
      is_optimal: false,
      summary: expect.stringContaining(key),
    })
    const { stdout } = await place.review(diffArgs)
    expect(stdout).toMatch(/^SKIPPED\n/)
  })

  it('variables of the environment win over it, and --timeout over them', async () => {
    const place = await httpPlace([replies()])
    place.write(changed)
    const env = { PLAN_GATE_TIMEOUT: '77', PLAN_GATE_PASS2_INPUT_BUDGET: 'much' }
    const { stderr } = await place.review(diffArgs, { env })
    expect(stderr).toContain('up to 77 s')
    expect(stderr).toContain('[plan-gate] WARN: PLAN_GATE_PASS2_INPUT_BUDGET is not a whole number from 100 to 1000000')
    expect((await place.review(['--diff', '--timeout', '55'], { env })).stderr).toContain('up to 55 s')
  })

  it('--timeout also over what a row says', async () => {
    const place = await httpPlace([replies()], {
      'plan-gate.yaml': 'review: {routes: [{backend: curl, when: [always], timeout: 9, fail_mode: hard_fail}]}\n',
    })
    place.write(changed)
    expect((await place.review(diffArgs)).stderr).toContain('up to 9 s')
    expect((await place.review(['--diff', '--timeout', '55'])).stderr).toContain('up to 55 s')
  })

  it('the checklist reviews without a model', async () => {
    const yaml = 'review: {routes: [{backend: checklist, when: [always], fail_mode: hard_fail}]}\n'
    const place = reviewPlace({ 'plan-gate.yaml': yaml })
    place.write({ 'src/app.ts': 'export const two = 2\ndebugger\n' })
    expect(await place.result(diffArgs)).toMatchObject({
      verdict: 'CHANGES_REQUIRED',
      findings: [{ id: 'F1', severity: 'major', problem: expect.stringContaining('debugger') }],
    })
  })
})
