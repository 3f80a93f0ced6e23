import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa, execaSync } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { packageVersion } from '../../../src/system/package.ts'
import { approvedChange, checkOut, files, openPullRequest } from '../../support/github/checkout.ts'
import { type Registry, startRegistry } from '../../support/github/registry.ts'
import { type Job, runAction, type StepOutcome, tempOf } from '../../support/github/runner.ts'
import { project } from '../../support/project.ts'
import { cleanEnvironment, commit, git, temporaryFolder, write } from '../../support/temporary-repo.ts'
import { readRunLines } from '../readme/read-document.ts'

let around: string
let change: string
let tarball: string
let action: string
let refusing: Registry
beforeAll(async () => {
  around = mkdtempSync(join(tmpdir(), 'action-'))
  change = await approvedChange(around)
  // As GitHub has it: the repository at a tag, where nothing is built.
  action = join(around, 'action')
  mkdirSync(action)
  for (const name of ['action.yml', 'package.json']) cpSync(join(project, name), join(action, name))
  const packed = await execa('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', around], {
    cwd: project,
  })
  tarball = join(around, packed.stdout.trim())
  refusing = await startRegistry()
}, 120_000)
afterAll(() => {
  refusing.close()
  rmSync(around, { recursive: true, force: true, maxRetries: 3 })
})

type Run = {
  /** What the author of the pull request pushes. */
  push?: (author: string) => void
  /** Before the action. */
  prepare?: (place: { workspace: string; server: string; temp: string; home: string }) => void
  with?: { [input: string]: string }
  event?: Job['event']
  ref?: string
  depth?: number
  registry?: Registry
  env?: { [name: string]: string }
  action?: string
}
type Ran = StepOutcome & { folder: string; workspace: string }

const pullRequest = { name: 'pull_request', baseRef: 'main', payload: { pull_request: { number: 1 } } }

async function run(row: Run): Promise<Ran> {
  const folder = temporaryFolder()
  const workspace = join(folder, 'work/shop')
  const server = openPullRequest(change, folder, row.push ?? (() => {}))
  const home = join(folder, 'home')
  mkdirSync(home)
  const { url } = row.registry ?? refusing
  // Where a .npmrc of the checkout would come first.
  write(home, { '.npmrc': `registry=${url}\nfetch-retries=0\nupdate-notifier=false\n` })
  const env = { ...cleanEnvironment(), HOME: home, ...row.env }
  const job = { folder, workspace, env, event: row.event ?? pullRequest }
  const temp = tempOf(job)
  mkdirSync(temp)
  cpSync(tarball, join(temp, 'plan-gate.tgz'))
  checkOut(server, workspace, row.ref ?? 'refs/pull/1/merge', row.depth ?? 0)
  row.prepare?.({ workspace, server, temp, home })
  const asked = refusing.requests.length
  const ran = await runAction(row.action ?? action, { package: join(temp, 'plan-gate.tgz'), ...row.with }, job)
  expect(refusing.requests.slice(asked)).toEqual([])
  // Whatever was asked for, nobody has got in.
  expect(readdirSync(folder, { recursive: true }).filter((name) => String(name).includes('pwned'))).toEqual([])
  return { ...ran, folder, workspace }
}

const edit = (repo: string, path: string, change: (text: string) => string): void =>
  write(repo, { [path]: change(readFileSync(join(repo, path), 'utf8')) })

const editJson = (repo: string, path: string, more: object): void =>
  edit(repo, path, (text) => JSON.stringify({ ...(JSON.parse(text) as object), ...more }))

const headingOf = ({ summary }: Ran): string | undefined => /<h3>(.*?)<\/h3>|### (.*)/.exec(summary)?.slice(1).join('')
const texts = ({ annotations }: Ran): string[] =>
  annotations.map(({ level, file, text }) => [level, ...(file === undefined ? [] : [file]), text].join(' | '))

const target = { ...pullRequest, name: 'pull_request_target' }
/** The approved change is in `main`, and the pull request is another one. */
const merged = (author: string): void => {
  git(author, 'push', '--quiet', 'origin', 'HEAD:main')
  more(author)
}
const more = (author: string): void => write(author, { 'src/more.ts': 'export {}\n', 'docs/more.md': '' })
const exportAgain = `In the worktree where it was approved: plan-gate verify --export ${files.approval} --ledger ${files.ledger}; then commit what it wrote with the plan.`

describe('the action', () => {
  it('passes for an approved plan', async () => {
    const ran = await run({ with: { scope: 'strict', manual: 'reject' } })
    expect(ran).toMatchObject({ exitCode: 0, annotations: [] })
    expect(ran.outputs).toEqual({
      holds: 'true',
      approver: 'checklist',
      'plan-hash': expect.stringMatching(/^[0-9a-f]{64}$/),
      unplanned: '0',
    })
    expect(ran.log.split('\n').filter((line) => line.startsWith('✓'))).toHaveLength(4)
    expect(headingOf(ran)).toBe('✓ The plan is approved')
    expect(ran.summary).toMatch(/<p>Approved .*by checklist.*; revision 1; \d{4}-/)
    expect(ran.summary).toContain('<summary><b><bdi>Greet</bdi></b> <code><bdi>docs/plan.md</bdi></code>')
  })

  it.each<[string, Run, { exitCode?: number; heading: string; says: string[]; outputs?: object }]>([
    [
      'a plan that was changed since',
      { push: (author) => edit(author, files.plan, (text) => `${text}\nMore.\n`) },
      {
        heading: '✗ The plan is not approved',
        says: [
          expect.stringMatching(
            /^error \| it is \w{12}, but \w{12} was approved\n→ Have this text reviewed, or/,
          ) as never,
          `error | it has no approval of this text\n→ ${exportAgain}`,
        ],
        outputs: { approver: '', unplanned: '0' },
      },
    ],
    [
      'no approval',
      { push: (author) => rmSync(join(author, files.approval)) },
      {
        heading: '✗ The plan is not approved',
        says: [`error | there is none: ${files.approval} does not exist\n→ ${exportAgain}`],
        outputs: { unplanned: '' },
      },
    ],
    [
      'no ledger',
      { push: (author) => rmSync(join(author, files.ledger)) },
      {
        heading: '✗ The plan is not approved',
        says: [`error | there is none: ${files.ledger} does not exist\n→ ${exportAgain}`],
      },
    ],
    [
      'no plan',
      { push: (author) => rmSync(join(author, files.plan)) },
      {
        exitCode: 2,
        heading: '✗ The plan could not be checked',
        says: [`error | --plan ${files.plan} cannot be used: it does not exist.\n→ Give the file itself with --plan.`],
      },
    ],
    [
      'an approval by hand that is rejected',
      {
        push: (author) => {
          editJson(author, files.approval, { route: 'manual' })
          rmSync(join(author, files.ledger))
        },
        with: { manual: 'reject', ledger: '' },
      },
      {
        heading: '✗ The plan is not approved',
        says: [
          expect.stringMatching(/^error \| by hand, .*; --no-manual rejects that\n→ Have the plan reviewed/) as never,
        ],
      },
    ],
    [
      'files that the plan does not name, with scope: strict',
      { push: more, with: { scope: 'strict' } },
      {
        heading: '✗ The change is not what was planned',
        says: [
          'error | the plan does not name docs/more.md, src/more.ts\n→ Name them under ## Changes and have the plan approved again, or take them out of the change.',
          'error | docs/more.md | The plan does not name this file.',
          'error | src/more.ts | The plan does not name this file.',
        ],
        outputs: { unplanned: '2', holds: 'false' },
      },
    ],
    [
      'a clone without its history',
      { depth: 1 },
      {
        exitCode: 2,
        heading: '✗ The plan could not be checked',
        says: [
          'error | --base refs/remotes/origin/main is not a commit that this clone knows.\n→ Fetch it; in GitHub Actions: actions/checkout with fetch-depth: 0.',
        ],
      },
    ],
    [
      'a pull_request_target whose base was checked out',
      { event: target, ref: 'refs/heads/main', push: merged },
      {
        exitCode: 2,
        heading: '✗ The plan could not be checked',
        says: [
          'error | HEAD has no commit that is not in refs/remotes/origin/main: there is no change to check.\n→ Check the change out; on pull_request_target, actions/checkout needs its ref.',
        ],
      },
    ],
    [
      'a pull_request_target where that cannot be known',
      { event: target, ref: 'refs/heads/main', push: merged, with: { scope: 'off' } },
      {
        heading: '✗ The plan could not be checked',
        says: [
          'error | With scope off it is not known whether the pull request or its base was checked out.\n→ Set scope to report or strict, or use the event pull_request.',
        ],
      },
    ],
    [
      'scope: strict on a push',
      { event: { name: 'push' }, with: { scope: 'strict' } },
      {
        heading: '✗ The plan could not be checked',
        says: [
          'error | scope is strict, but this event is no pull request and has no base to compare with.\n→ Set the input base, or scope to off.',
        ],
      },
    ],
    [
      'an unknown scope',
      { with: { scope: 'Strict' } },
      {
        heading: '✗ The plan could not be checked',
        says: ['error | The input scope is neither strict, report nor off.\n→ Correct it in the workflow.'],
      },
    ],
    [
      'an unknown answer to manual approvals',
      { with: { manual: 'false' } },
      {
        heading: '✗ The plan could not be checked',
        says: ['error | The input manual is neither allow nor reject.\n→ Correct it in the workflow.'],
      },
    ],
    [
      'a folder that is not there',
      { with: { 'working-directory': 'app' } },
      {
        heading: '✗ The plan could not be checked',
        says: [
          'error | The folder of the input working-directory does not exist.\n→ Correct it in the workflow, or check the repository out before this step.',
        ],
      },
    ],
  ])('fails for %s', async (_, row, { exitCode = 1, heading, says, outputs = {} }) => {
    const ran = await run(row)
    expect([ran.exitCode, headingOf(ran), texts(ran)]).toEqual([exitCode, heading, says])
    expect(ran.outputs).toMatchObject({ holds: 'false', approver: '', ...outputs })
  })

  it.each<[string, Run, string[], object]>([
    [
      'with scope: report, and lists other files',
      { push: more },
      [
        'warning | docs/more.md | The plan does not name this file.',
        'warning | src/more.ts | The plan does not name this file.',
      ],
      { unplanned: '2' },
    ],
    ['with scope: off, and does not look', { push: more, depth: 1, with: { scope: 'off' } }, [], { unplanned: '' }],
    [
      'on a push, and says that it did not compare',
      { event: { name: 'push' }, push: more },
      [
        'notice | This event is no pull request: changed files were not compared with the plan. Set the input base for that.',
      ],
      { unplanned: '' },
    ],
    [
      'on a push with a base',
      { event: { name: 'push' }, with: { base: 'origin/main', scope: 'strict' } },
      [],
      { unplanned: '0' },
    ],
    [
      'in a merge queue',
      {
        event: { name: 'merge_group', payload: { merge_group: { base_sha: 'origin/main' } } },
        with: { scope: 'strict' },
      },
      [],
      { unplanned: '0' },
    ],
    [
      'on pull_request_target, with the change checked out',
      { event: { ...pullRequest, name: 'pull_request_target' }, ref: 'refs/pull/1/head', with: { scope: 'strict' } },
      [],
      { unplanned: '0' },
    ],
    [
      'without a ledger, where that is wanted',
      { push: (author) => rmSync(join(author, files.ledger)), with: { ledger: '' } },
      [],
      { unplanned: '0' },
    ],
  ])('passes %s', async (_, row, says, outputs) => {
    const ran = await run(row)
    expect([ran.exitCode, texts(ran)]).toEqual([0, says])
    expect(ran.outputs).toMatchObject({ holds: 'true', approver: 'checklist', ...outputs })
  })
})

describe('what the documents show', () => {
  type Step = { uses: string; with: { [name: string]: unknown } }
  const text = readFileSync(join(project, 'templates/github-workflow.yml'), 'utf8')
  const workflow = parse(text) as { on: object; jobs: { approved: { steps: Step[] } } }
  const version = packageVersion()

  it('is a workflow whose steps pass, and fail where the change is not what was planned', async () => {
    expect(Object.keys(workflow.on)).toEqual(['pull_request', 'merge_group'])
    const [first, second, ...others] = workflow.jobs.approved.steps
    expect([first?.uses, second?.uses, others]).toEqual(['actions/checkout@v4', `<owner>/plan-gate@v${version}`, []])
    const row = { depth: Number(first?.with['fetch-depth']), with: second?.with as { [input: string]: string } }
    expect(await run(row)).toMatchObject({ exitCode: 0, outputs: { holds: 'true', unplanned: '0' } })
    expect(await run({ ...row, push: more })).toMatchObject({ exitCode: 1, outputs: { unplanned: '2' } })
  })

  it('is a step that takes a tarball from the base, whatever the pull request makes of it', async () => {
    const [line = ''] = readRunLines(readFileSync(join(project, 'docs/ci.md'), 'utf8'))
    const path = `tools/plan-gate-${version}.tgz`
    const file = 'plan-gate.tgz'
    const ran = await run({
      push: (author) => {
        git(author, 'switch', '--quiet', '--create', 'main', 'origin/main')
        mkdirSync(join(author, 'tools'))
        cpSync(tarball, join(author, path))
        commit(author, {})
        git(author, 'push', '--quiet', 'origin', 'main')
        git(author, 'switch', '--quiet', 'change')
        git(author, 'merge', '--quiet', '--no-edit', 'main')
        write(author, { [path]: 'evil' })
      },
      prepare: ({ workspace, temp }) => {
        rmSync(join(temp, file))
        const env = { ...cleanEnvironment(), RUNNER_TEMP: temp, GITHUB_BASE_REF: 'main' }
        execaSync('bash', ['-e', '-c', line], { cwd: workspace, env, extendEnv: false })
        renameSync(join(temp, `plan-gate-${version}.tgz`), join(temp, file))
      },
    })
    expect([ran.exitCode, ran.outputs.unplanned]).toEqual([0, '1'])
  })
})

describe('which plan-gate the action runs', () => {
  const version = packageVersion()

  it('is the version of the action, not the latest one', async () => {
    const registry = await startRegistry({ [version]: tarball, '9.9.9': join(around, 'none.tgz') })
    const ran = await run({ registry, with: { package: '' } })
    registry.close()
    expect([ran.exitCode, registry.requests]).toEqual([0, ['/plan-gate', `/plan-gate-${version}.tgz`]])
  })

  it('is said to be missing where the registry has none', async () => {
    const registry = await startRegistry()
    const ran = await run({ registry, with: { package: '' } })
    registry.close()
    expect([ran.exitCode, texts(ran)]).toEqual([
      1,
      [
        'error | npm could not install plan-gate; its reason is in the log.\n→ If that version is not in your registry, name a tarball with the input package.',
      ],
    ])
    expect(ran.log).toContain(`plan-gate@${version}`)
  })

  it.each([
    ['latest', 'plan-gate@latest'],
    ['a range', 'plan-gate@^0.1.0'],
    ['another package', 'left-pad@1.0.0'],
    ['an alias', 'plan-gate@npm:left-pad@1.0.0'],
    ['a folder', './tools'],
    ['an option', '--registry=http://127.0.0.1:9/x.tgz'],
    ['a command', 'plan-gate@0.1.0"; touch pwned; "'],
  ])('is never %s', async (_, spec) => {
    const ran = await run({ with: { package: spec } })
    expect([ran.exitCode, texts(ran)[0]]).toEqual([1, expect.stringMatching(/The input package is neither/)])
  })

  it('is no file that the pull request can replace', async () => {
    const inside = await run({
      push: (author) => cpSync(tarball, join(author, 'plan-gate.tgz')),
      prepare: ({ workspace, temp }) => {
        rmSync(join(temp, 'plan-gate.tgz'))
        symlinkSync(join(workspace, 'plan-gate.tgz'), join(temp, 'plan-gate.tgz'))
      },
    })
    const absent = await run({ prepare: ({ temp }) => rmSync(join(temp, 'plan-gate.tgz')) })
    for (const ran of [inside, absent])
      expect([ran.exitCode, texts(ran)[0]]).toEqual([
        1,
        expect.stringMatching(/names no file, or one in the workspace/),
      ])
  })

  it('needs a Node that is new enough, by the package.json of the action', async () => {
    const next = join(temporaryFolder(), 'next')
    cpSync(action, next, { recursive: true })
    edit(next, 'package.json', (text) => text.replace('>=20.19', '>=99.1'))
    const ran = await run({ action: next })
    expect([ran.exitCode, texts(ran)]).toEqual([
      1,
      [
        `error | Node.js ${process.version} is too old.\n→ Add actions/setup-node with node-version 22 before this step.`,
      ],
    ])
  })

  it('needs a Node at all', async () => {
    const programs = temporaryFolder()
    for (const name of ['bash', 'mktemp']) symlinkSync(`/usr/bin/${name}`, join(programs, name))
    const ran = await run({ env: { PATH: programs } })
    expect([ran.exitCode, texts(ran)[0]]).toEqual([1, expect.stringMatching(/Node\.js is not installed/)])
  })
})

describe('against the author of a pull request', () => {
  const evil = 'a\n::set-output name=holds::true\n##[set-output name=holds;]true'

  it('does not obey names of files, and shows them as they are', async () => {
    const names = [evil, '::error file=x::y', 'a|b`c`<img src=x>@octocat[d](http:e)', 'x,y:z%0A', '\u202etxt.exe']
    const ran = await run({
      push: (author) => write(author, Object.fromEntries(names.map((name) => [name.replaceAll('/', '∕'), '']))),
      with: { scope: 'strict' },
    })
    expect([ran.exitCode, ran.outputs.holds]).toEqual([1, 'false'])
    const listed = ran.annotations.flatMap(({ level, file }) => (file === undefined ? [] : [[level, file]]))
    expect(listed.sort()).toEqual(names.map((name) => ['error', name]).sort())
    expect(ran.log).not.toMatch(/^\s*::/m)
    expect(ran.summary).not.toMatch(/<img|[@`|]|\]\(|\u202e|:\/\//)
  })

  it('does not obey a broken approval either', async () => {
    const ran = await run({ push: (author) => write(author, { [files.approval]: `${evil}\n` }) })
    expect([ran.exitCode, ran.outputs.holds, headingOf(ran)]).toEqual([2, 'false', '✗ The plan could not be checked'])
  })

  it('runs nothing of the checkout', async () => {
    const [other, registry] = [await startRegistry(), await startRegistry({ [packageVersion()]: tarball })]
    const script = '#!/bin/sh\ntouch "$HOME/pwned"\n'
    const ran = await run({
      registry,
      with: { package: '' },
      push: (author) => {
        write(author, {
          '.npmrc': `registry=${other.url}\nscript-shell=./evil\nnode-options=--require ./evil.cjs\n`,
          'docs/.npmrc': `registry=${other.url}\n`,
          'evil.cjs': 'require("fs").writeFileSync(process.env.HOME + "/pwned", "")',
          'package.json':
            '{"scripts":{"preinstall":"touch pwned"},"dependencies":{"plan-gate":"file:./fake"},"workspaces":["*"]}',
          'node_modules/.bin/plan-gate': script,
          'node_modules/plan-gate/dist/cli.mjs': 'process.exit(0)\n',
          'node_modules/plan-gate/package.json': '{"name":"plan-gate","bin":"dist/cli.mjs"}',
          'node_modules/yaml/index.js': 'require("fs").writeFileSync(process.env.HOME + "/pwned", "")',
          'plan-gate.yaml': 'review: {routes: [{backend: checklist, when: [always]}]}\n',
          '.gitattributes': '* diff=evil filter=evil\n',
          '.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = ./x\n\tupdate = !touch pwned\n',
          '.claude/settings.json': '{"env":{"GIT_EXTERNAL_DIFF":"./evil"}}\n',
        })
        edit(author, files.plan, (text) => `${text}\nMore.\n`)
      },
    })
    for (const { close } of [other, registry]) close()
    expect([headingOf(ran), ran.outputs.holds]).toEqual(['✗ The plan is not approved', 'false'])
    expect([other.requests, registry.requests.length]).toEqual([[], 2])
  })

  it('names each file that decides what others run', async () => {
    const settings = ['.claude/hooks/plan-gate/pre-tool-use.mjs', '.claude/settings.json']
    const ran = await run({
      push: (author) => write(author, Object.fromEntries(settings.map((path) => [path, '{}\n']))),
      with: { scope: 'strict' },
    })
    expect([ran.exitCode, ran.annotations.flatMap(({ file }) => file ?? [])]).toEqual([1, settings])
  })

  it('takes origin/main for the branch, whatever tag has that name', async () => {
    const ran = await run({
      push: (author) => {
        more(author)
        git(author, 'add', '--all')
        git(author, 'commit', '--quiet', '--message', 'More')
        git(author, 'push', '--quiet', 'origin', 'HEAD:refs/tags/origin/main')
      },
      with: { scope: 'strict' },
    })
    expect([ran.exitCode, ran.outputs.unplanned]).toEqual([1, '2'])
  })

  it.each<[string, (author: string) => void, RegExp]>([
    [
      'the plan',
      (author) => {
        git(author, 'mv', files.plan, 'docs/real.md')
        symlinkSync('real.md', join(author, files.plan))
      },
      /symbolic link/,
    ],
    [
      'the folder of the plan',
      (author) => {
        git(author, 'mv', 'docs', 'other')
        symlinkSync('other', join(author, 'docs'))
      },
      /symbolic link/,
    ],
    [
      'the ledger',
      (author) => {
        rmSync(join(author, files.ledger))
        symlinkSync('/etc/passwd', join(author, files.ledger))
      },
      /symbolic link/,
    ],
  ])('follows no link at %s', async (_, push, says) => {
    const ran = await run({ push })
    expect([ran.exitCode, ran.outputs.holds, texts(ran)[0]]).toEqual([2, 'false', expect.stringMatching(says)])
  })

  it('compares with no repository that the change brings along', async () => {
    const ran = await run({
      push: (author) => {
        // All that git needs to take a folder for a repository, and a base that has everything.
        git(author, 'clone', '--quiet', '--bare', '.', 'app')
        git(join(author, 'app'), 'config', 'core.bare', 'false')
        git(join(author, 'app'), 'config', 'core.worktree', '..')
        git(join(author, 'app'), 'update-ref', 'refs/remotes/origin/main', 'HEAD')
        write(author, { 'app/refs/heads/x': '', ...readAll(author) })
      },
      with: { scope: 'strict', 'working-directory': 'app' },
    })
    expect([ran.exitCode, texts(ran)[0]]).toEqual([2, expect.stringMatching(/may be committed in another one/)])
  })

  it('and in a submodule neither', async () => {
    const ran = await run({
      prepare: ({ workspace, server }) => {
        git(workspace, 'submodule', '--quiet', 'add', '--branch', 'change', `file://${server}`, 'app')
        git(workspace, 'commit', '--quiet', '--message', 'A submodule')
      },
      with: { scope: 'strict', 'working-directory': 'app' },
    })
    expect([ran.exitCode, texts(ran)[0]]).toEqual([2, expect.stringMatching(/cannot be used in a submodule/)])
  })

  it.each(['plan', 'approval', 'ledger', 'base', 'scope', 'manual', 'working-directory'])(
    'hands no shell the input %s',
    async (input) => {
      const ran = await run({ with: { [input]: 'x; touch pwned; "; touch pwned; "$(touch pwned)`touch pwned`' } })
      expect([ran.exitCode === 0, ran.outputs.holds]).toEqual([false, 'false'])
    },
  )

  it('the name of a branch neither', async () => {
    const ran = await run({ event: { ...pullRequest, baseRef: '$(touch${IFS}pwned)' } })
    expect([ran.exitCode, existsSync(join(ran.workspace, 'pwned'))]).toEqual([2, false])
  })
})

/** The approved files, for a folder of their own. */
const readAll = (author: string): { [path: string]: string } =>
  Object.fromEntries(Object.values(files).map((path) => [`app/${path}`, readFileSync(join(author, path), 'utf8')]))
