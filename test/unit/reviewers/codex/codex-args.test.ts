import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  codexArgs,
  codexEnvironment,
  codexSettings,
  mcpServersIn,
  projectFolders,
  projectSkills,
} from '../../../../src/reviewers/codex/program.ts'
import { cacheFolder } from '../../../../src/reviewers/program-cache.ts'
import { temporaryFolder } from '../../../support/temporary-repo.ts'

describe('the command line of Codex', () => {
  const request = {
    cwd: '/repo',
    resume: null,
    keepsThread: true,
    model: null,
    schemaFile: null,
    answerFile: '/s/answer.txt',
    settings: [],
    canIgnoreRules: true,
  }
  const start = ['exec', '--json', '-s', 'read-only', '--skip-git-repo-check', '-C', '/repo', '-o', '/s/answer.txt']

  it.each([
    { name: 'a thread that begins', more: {}, expected: [...start, '--ignore-rules', '-'] },
    {
      name: 'a thread that goes on: everything stands before the word',
      more: { resume: '0a', model: 'm', schemaFile: '/s/schema.json', settings: ['a=1', 'b=2'] },
      expected: [
        ...start,
        '--ignore-rules',
        '--model=m',
        '--output-schema',
        '/s/schema.json',
        ...['-c', 'a=1', '-c', 'b=2'],
        ...['resume', '0a'],
        '-',
      ],
    },
    {
      name: 'no thread',
      more: { keepsThread: false, canIgnoreRules: false },
      expected: [...start, '--ephemeral', '-'],
    },
    {
      name: 'a model that looks like a flag stays a model',
      more: { model: '--sandbox=danger-full-access' },
      expected: [...start, '--ignore-rules', '--model=--sandbox=danger-full-access', '-'],
    },
  ])('$name', ({ more, expected }) => {
    expect(codexArgs({ ...request, ...more })).toEqual(expected)
  })
})

describe('the settings of a review', () => {
  const nothing = {
    effort: null,
    instructionsFile: null,
    features: [],
    mayReadFiles: true,
    projects: [],
    skills: [],
    mcpServers: [],
  }
  const base = codexSettings(nothing)
  const added = (more: object): string[] => codexSettings({ ...nothing, ...more }).slice(base.length)

  it.each([
    [{ effort: 'xhigh' }, ['model_reasoning_effort="xhigh"']],
    [{ instructionsFile: '/a "b"/i.md' }, ['model_instructions_file="/a \\"b\\"/i.md"']],
    [{ features: ['apps', 'unknown', 'shell_tool', 'view_image'] }, ['features.apps=false']],
    [
      { features: ['shell_tool', 'view_image'], mayReadFiles: false },
      ['features.shell_tool=false', 'features.view_image=false'],
    ],
    [{ mcpServers: ['a', 'b'] }, ['mcp_servers.a.enabled=false', 'mcp_servers.b.enabled=false']],
    [{ projects: ['/a "b"\\c'] }, ['projects={"/a \\"b\\"\\\\c"={trust_level="untrusted"}}']],
    [{ skills: ['/a/SKILL.md'] }, ['skills.config=[{path="/a/SKILL.md",enabled=false}]']],
  ])('%j', (more, expected) => {
    expect(added(more)).toEqual(expected)
  })

  it('keep instructions of the repository out and keys in', () => {
    expect(base).toEqual(
      expect.arrayContaining([
        'project_doc_max_bytes=0',
        'skills.include_instructions=false',
        'shell_environment_policy.inherit="core"',
        'allow_login_shell=false',
      ]),
    )
  })
})

describe('what is around a review', () => {
  it.each([
    ['[mcp_servers.files]\ncommand = "x"\n[mcp_servers.files.env]\nKEY = "v"\n', ['files']],
    ['[mcp_servers."a-b"]\n[ mcp_servers . c_d ]\n', ['a-b', 'c_d']],
    ['mcp_servers.one.command = "x"\nmcp_servers.two = { url = "y" }\n', ['one', 'two']],
    ['[mcp_servers]\none = { command = "x" }\n"two" = { url = "y" }\n[other]\nthree = 1\n', ['one', 'two']],
    ['# [mcp_servers.no]\n[profiles.p]\nmcp_servers.no = 1\n[projects."/a]b"]\ntrust_level = "trusted"\n', []],
    ['', []],
  ])('the servers in %j', (config, names) => {
    expect(mcpServersIn(config)).toEqual(names)
  })

  it('a project reaches up to its repository, and brings skills along', () => {
    const folder = temporaryFolder()
    const at = (path: string): string => join(folder, path)
    for (const path of ['repo/.git', 'repo/sub/.agents/skills/one', 'repo/.codex/skills/a/two', 'alone'])
      mkdirSync(at(path), { recursive: true })
    writeFileSync(at('repo/sub/.agents/skills/one/SKILL.md'), '')
    writeFileSync(at('repo/.codex/skills/a/two/SKILL.md'), '')
    const projects = projectFolders(at('repo/sub'))
    expect({ projects, skills: projectSkills(projects), alone: projectFolders(at('alone')) }).toEqual({
      projects: [at('repo/sub'), at('repo')],
      skills: [at('repo/sub/.agents/skills/one/SKILL.md'), at('repo/.codex/skills/a/two/SKILL.md')],
      alone: [at('alone')],
    })
  })

  it.each([
    [{ XDG_CACHE_HOME: '/x', HOME: '/h' }, '/x/plan-gate'],
    [{ XDG_CACHE_HOME: 'x', HOME: '/h' }, '/h/.cache/plan-gate'],
    [{ HOME: '/h' }, '/h/.cache/plan-gate'],
  ])('the cache of %j', (env, folder) => {
    expect(cacheFolder(env)).toBe(folder)
  })
})

describe('the environment of Codex', () => {
  const home = (files: { readonly [name: string]: string }): string => {
    const folder = temporaryFolder()
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    return folder
  }

  it('is the user’s own, without what is about Claude Code', () => {
    const CODEX_HOME = home({})
    const own = { CODEX_HOME, PATH: '/bin', HTTPS_PROXY: 'p', SSL_CERT_FILE: 'c', MY_PROVIDER_KEY: 'k' }
    const foreign = {
      CLAUDECODE: '1',
      CLAUDE_PROJECT_DIR: '/p',
      AI_AGENT: 'x',
      NODE_OPTIONS: '--inspect',
      RUST_LOG: 'debug',
    }
    expect(codexEnvironment({ ...own, ...foreign })).toEqual(own)
  })

  it.each([
    { name: 'where there is no login', files: {}, env: {}, key: 'o' },
    { name: 'not over a login', files: { 'auth.json': '{}' }, env: {}, key: undefined },
    {
      name: 'not over a login in a keyring',
      files: { 'config.toml': 'cli_auth_credentials_store = "keyring"\n' },
      env: {},
      key: undefined,
    },
    { name: 'not over a key of its own', files: {}, env: { CODEX_API_KEY: 'c' }, key: 'c' },
    { name: 'not over a token', files: {}, env: { CODEX_ACCESS_TOKEN: 't' }, key: undefined },
    { name: 'not when it is empty', files: {}, env: { OPENAI_API_KEY: '' }, key: undefined },
  ])('OPENAI_API_KEY is handed over $name', ({ files, env, key }) => {
    expect(codexEnvironment({ CODEX_HOME: home(files), OPENAI_API_KEY: 'o', ...env }).CODEX_API_KEY).toBe(key)
  })
})
