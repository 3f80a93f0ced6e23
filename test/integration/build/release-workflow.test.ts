import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { packageVersion } from '../../../src/system/package.ts'
import { project } from '../../support/project.ts'
import { cleanEnvironment, git, temporaryFolder, write } from '../../support/temporary-repo.ts'

type Step = { name?: string; uses?: string; run?: string; env?: { [name: string]: string } }
type Job = { needs?: string | string[]; uses?: string; permissions?: { [scope: string]: string }; steps?: Step[] }
type Workflow = { on: unknown; permissions?: unknown; jobs: { [name: string]: Job } }

const workflow = parse(readFileSync(join(project, '.github/workflows/release.yml'), 'utf8')) as Workflow

/** Each job with all that it may do. */
const permissions = {
  ci: { contents: 'read' },
  pack: { contents: 'read' },
  publish: { 'id-token': 'write', attestations: 'write' },
  release: { contents: 'write' },
}
const actions = /^actions\/(?:checkout|setup-node|upload-artifact|download-artifact|attest-build-provenance)@v\d+$/

/** What must not be so in a workflow that publishes. */
function problemsOf({ on, permissions: common, jobs }: Workflow): string[] {
  const steps = Object.entries(jobs).flatMap(([job, { steps = [] }]) => steps.map((step) => ({ job, ...step })))
  const runs = steps.flatMap(({ job, run = '' }) => run.split('\n').map((line) => ({ job, line })))
  const linesWith = (pattern: RegExp) =>
    runs.flatMap(({ job, line }) => (pattern.test(line) ? [`${job}: ${line.trim()}`] : []))
  const needed = (job: string): string[] => [jobs[job]?.needs ?? []].flat().flatMap((each) => [each, ...needed(each)])
  const rules: [string, boolean][] = [
    ['it runs for tags only', JSON.stringify(on) === '{"push":{"tags":["v*"]}}'],
    ['no job has permissions by default', JSON.stringify(common) === '{}'],
    [
      'each job has its permissions alone',
      sameJson(Object.fromEntries(Object.entries(jobs).map(([name, job]) => [name, job.permissions])), permissions),
    ],
    ['scripts have no expressions', linesWith(/\$\{\{/).length === 0],
    ['actions are known ones, of a major version', steps.every(({ uses }) => uses === undefined || actions.test(uses))],
    ['the tests are those of ci', jobs.ci?.uses === './.github/workflows/ci.yml'],
    ['publish waits for ci and pack', ['ci', 'pack'].every((job) => needed('publish').includes(job))],
    ['release waits for publish', needed('release').includes('publish')],
    [
      'one tarball is packed',
      sameJson(
        linesWith(/npm pack\b/).map((line) => line.split(':')[0]),
        ['pack'],
      ),
    ],
    [
      'one tarball is published, with provenance',
      sameJson(linesWith(/npm publish\b/), [
        'publish: npm publish --provenance --access public --tag "$tag" ./release/plan-gate-*.tgz',
      ]),
    ],
    [
      'where something may be written, nothing of the repository runs',
      steps.every(
        ({ job, uses = '', run = '' }) =>
          !['publish', 'release'].includes(job) || !/checkout|npm (?:ci|install|run|exec)|npx|node /.test(uses + run),
      ),
    ],
    [
      'secrets are for publish',
      steps.every(({ job, ...step }) => job === 'publish' || !JSON.stringify(step).includes('secrets.')),
    ],
  ]
  return rules.flatMap(([rule, holds]) => (holds ? [] : [rule]))
}

const sameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

const stepOf = ({ jobs }: Workflow, job: string, name: string): Step =>
  jobs[job]?.steps?.find((step) => step.name === name || step.uses?.startsWith(name)) ?? expect.unreachable(name)
const jobOf = ({ jobs }: Workflow, name: string): Job => jobs[name] ?? expect.unreachable(name)

it('the workflow that publishes', () => {
  expect(problemsOf(workflow)).toEqual([])
})

it.each<[string, (workflow: Workflow) => void]>([
  ['it runs for tags only', (it) => Object.assign(it, { on: { push: { tags: ['v*'], branches: ['main'] } } })],
  ['no job has permissions by default', (it) => Object.assign(it, { permissions: 'write-all' })],
  [
    'each job has its permissions alone',
    (it) => Object.assign(jobOf(it, 'pack').permissions ?? {}, { 'id-token': 'write' }),
  ],
  [
    'scripts have no expressions',
    (it) => Object.assign(stepOf(it, 'release', 'Release'), { run: 'echo ${{ github.ref_name }}' }),
  ],
  [
    'actions are known ones, of a major version',
    (it) => Object.assign(stepOf(it, 'pack', 'actions/setup-node'), { uses: 'actions/setup-node@main' }),
  ],
  ['the tests are those of ci', (it) => Object.assign(jobOf(it, 'ci'), { uses: './.github/workflows/quick.yml' })],
  ['publish waits for ci and pack', (it) => Object.assign(jobOf(it, 'publish'), { needs: 'pack' })],
  ['release waits for publish', (it) => Object.assign(jobOf(it, 'release'), { needs: 'pack' })],
  ['one tarball is packed', (it) => Object.assign(stepOf(it, 'pack', 'Install'), { run: 'npm pack' })],
  [
    'one tarball is published, with provenance',
    (it) => Object.assign(stepOf(it, 'publish', 'Publish'), { run: 'npm publish ./release/plan-gate-*.tgz' }),
  ],
  [
    'where something may be written, nothing of the repository runs',
    (it) => jobOf(it, 'publish').steps?.unshift({ uses: 'actions/checkout@v4' }),
  ],
  ['secrets are for publish', (it) => Object.assign(stepOf(it, 'pack', 'Install'), { env: { A: '${{ secrets.A }}' } })],
])('a workflow in which this does not hold is found: %s', (rule, change) => {
  const changed = structuredClone(workflow)
  change(changed)
  expect(problemsOf(changed)).toEqual([rule])
})

/** As the runner does it with `shell: bash`; what an expression gives comes from the test. */
function runStep(step: Step, cwd: string, env: { readonly [name: string]: string }) {
  const { status, stdout, stderr } = spawnSync(
    'bash',
    ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step.run ?? ''],
    { cwd, env: { ...cleanEnvironment(), ...env }, encoding: 'utf8', timeout: 120_000 },
  )
  return { status, output: stdout + stderr }
}

const version = packageVersion()
const address = { GITHUB_SERVER_URL: 'https://github.example', GITHUB_REPOSITORY: 'ada/plan-gate' }

/** What is committed here; `npm ci` is left out, since the packages are those of this folder. */
function cleanClone(folder: string): string {
  const clone = join(folder, 'clone')
  git(project, 'clone', '--quiet', project, clone)
  symlinkSync(join(project, 'node_modules'), join(clone, 'node_modules'))
  return clone
}

describe('the steps as written', () => {
  const step = (job: string, name: string) => stepOf(workflow, job, name)

  it('a tag: checked, its section, one tarball with the address, tried in an empty folder', () => {
    const folder = temporaryFolder()
    const clone = cleanClone(folder)
    const changelog = readFileSync(join(clone, 'CHANGELOG.md'), 'utf8')
    // Until it is released there is no section of that version.
    if (!changelog.includes(`## ${version} `))
      write(clone, { 'CHANGELOG.md': changelog.replace('## Unreleased', `$&\n\n## ${version} - 2026-01-01`) })
    const env = { ...address, GITHUB_REF_NAME: `v${version}`, HOME: folder, npm_config_offline: 'true' }
    const names = jobOf(workflow, 'pack').steps?.flatMap(({ run, name = '' }) =>
      run === undefined || run === 'npm ci' ? [] : [name],
    )
    expect(names).toEqual([
      'The tag is the version of package.json',
      'The section of CHANGELOG.md',
      'Pack',
      'Try the tarball',
    ])
    const outputs = names?.map((name) => ({ name, ...runStep(step('pack', name), clone, env) })) ?? []
    expect(outputs.filter(({ status, output }) => status !== 0 || /npm warn|::error::/i.test(output))).toEqual([])
    expect(outputs.at(-1)?.output).toMatch(/✗ denied[\s\S]*✓ allowed/)

    expect(readdirSync(join(clone, 'release')).sort()).toEqual(['notes.md', `plan-gate-${version}.tgz`])
    expect(readFileSync(join(clone, 'release/notes.md'), 'utf8')).toMatch(/^### \w/m)
    const unpacked = spawnSync('tar', ['xOf', `release/plan-gate-${version}.tgz`, 'package/package.json'], {
      cwd: clone,
      encoding: 'utf8',
    })
    expect(JSON.parse(unpacked.stdout)).toMatchObject({
      version,
      repository: { type: 'git', url: 'git+https://github.example/ada/plan-gate.git' },
    })
  }, 180_000)

  it.each(['v99.0.0', 'v', `v${version}-rc.1`, `v$(touch$IFS''owned)`])(
    'the tag %s is not that of the package',
    (tag) => {
      const { status, output } = runStep(step('pack', 'The tag is the version of package.json'), project, {
        GITHUB_REF_NAME: tag,
      })
      expect([status, output]).toEqual([
        1,
        expect.stringContaining(`::error::The tag is ${tag}, but package.json has version ${version}.`),
      ])
      expect(existsSync(join(project, 'owned'))).toBe(false)
    },
  )

  it('a version without a section is not released', () => {
    const clone = cleanClone(temporaryFolder())
    const { status, output } = runStep(step('pack', 'The section of CHANGELOG.md'), clone, {
      GITHUB_REF_NAME: 'v99.0.0',
    })
    expect([status, output]).toEqual([1, expect.stringContaining('CHANGELOG.md has no section 99.0.0')])
  })

  it.each([
    ['v1.2.3', '', ['--tag latest'], []],
    ['v1.2.3-rc.1', 'a token', ['--tag next'], ['--prerelease']],
  ])('%s with the token %j: what npm and gh are asked for', (tag, token, npmFlags, ghFlags) => {
    const folder = temporaryFolder()
    const program =
      '#!/bin/sh\n[ "$1" = config ] && echo http://127.0.0.1:9/ || echo "$(basename "$0") $*" >> "$HOME/asked"\n'
    write(folder, { 'bin/npm': program, 'bin/gh': program, 'release/plan-gate-1.2.3.tgz': '', 'release/notes.md': '' })
    for (const name of ['npm', 'gh']) chmodSync(join(folder, 'bin', name), 0o755)
    const env = { HOME: folder, PATH: `${folder}/bin:${process.env.PATH}`, GITHUB_REF_NAME: tag }
    expect(runStep(step('publish', 'Publish'), folder, { ...env, NPM_TOKEN: token }).status).toBe(0)
    expect(runStep(step('release', 'Release'), folder, env).status).toBe(0)
    expect(readFileSync(join(folder, 'asked'), 'utf8').trimEnd().split('\n')).toEqual([
      ['npm publish --provenance --access public', ...npmFlags, './release/plan-gate-1.2.3.tgz'].join(' '),
      [
        `gh release create ${tag} --verify-tag --title ${tag} --notes-file release/notes.md`,
        ...ghFlags,
        'release/plan-gate-1.2.3.tgz',
      ].join(' '),
    ])
    const npmrc = join(folder, '.npmrc')
    expect(existsSync(npmrc) ? readFileSync(npmrc, 'utf8') : '').toBe(
      token === '' ? '' : '//127.0.0.1:9/:_authToken=${NPM_TOKEN}\n',
    )
  })
})
