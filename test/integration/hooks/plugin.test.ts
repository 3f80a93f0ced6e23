import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  existsSync,
  lchownSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ownHooksOf } from '../../../src/install/settings.ts'
import { launchesDir } from '../../../src/state/own-paths.ts'
import { recordLaunch } from '../../../src/state/sessions.ts'
import { sha256 } from '../../../src/system/sha256.ts'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { project } from '../../support/project.ts'
import { type Files, git, temporaryFolder, temporaryRepo, write } from '../../support/temporary-repo.ts'

type Entry = { command: string; args: string[]; onFailure?: string }
type Hooks = { [event: string]: { hooks: Entry[] }[] }
type Ran = { exitCode: number | null; stdout: string; stderr: string }

const { hooks } = JSON.parse(readFileSync(join(project, 'hooks/hooks.json'), 'utf8')) as { hooks: Hooks }
const entries = Object.entries(hooks).flatMap(([event, groups]) =>
  groups.flatMap((group) => group.hooks.map((hook): [string, Entry] => [event, hook])),
)
/** The user's own folder of Claude Code, where the gates are registered. */
const config = realpathSync(mkdtempSync(join(tmpdir(), 'claude-')))
process.env.CLAUDE_CONFIG_DIR = config
afterAll(() => rmSync(config, { recursive: true, force: true }))

const entryOf = (root: string): string => join(config, 'plan-gate/gates', root, '#gate')

/** As bootstrap and install leave it. */
async function provenGate(files: Files = {}): Promise<GatedWorktree> {
  const worktree = await gatedWorktree(files)
  await worktree.installed.prove()
  return worktree
}

const silent: Ran = { exitCode: 0, stdout: '', stderr: '' }

/** As Claude Code starts a hook: no shell, the event on stdin. */
function run({ command, args }: Entry, folder: string, event: object, env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(
      command,
      args.map((arg) => arg.replaceAll('${CLAUDE_PROJECT_DIR}', () => folder)),
      {
        cwd: existsSync(folder) ? folder : config,
        env: {
          PATH: process.env.PATH,
          HOME: process.env.HOME,
          CLAUDE_CONFIG_DIR: config,
          CLAUDE_PROJECT_DIR: folder,
          ...env,
        },
      },
    )
    const late = setTimeout(() => child.kill('SIGKILL'), 30_000)
    const ran = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (text) => (ran[name] += text))
    child.once('error', reject)
    child.once('close', (exitCode) => {
      clearTimeout(late)
      resolve({ exitCode, ...ran })
    })
    child.stdin.on('error', () => {}).end(`${JSON.stringify(event)}\n`)
  })
}

const writing = (folder: string, path = join(folder, 'new.txt')): object => ({
  hook_event_name: 'PreToolUse',
  session_id: 'session-1',
  tool_use_id: randomUUID(),
  tool_name: 'Write',
  tool_input: { file_path: path, content: 'x' },
  cwd: folder,
})
const [gate] = hooks.PreToolUse?.flatMap((group) => group.hooks) ?? []
const ask = (folder: string, env: NodeJS.ProcessEnv = {}, event = writing(folder)): Promise<Ran> =>
  run(gate as Entry, folder, event, env)

const denies = /"permissionDecision":"deny"/
/** As it is, `toMatchObject` takes a regular expression for an object without keys. */
const denial = expect.stringMatching(denies)
let gated: GatedWorktree
beforeAll(async () => {
  gated = await provenGate({ 'src/deep/a.ts': 'a\n' })
})
afterAll(() => gated.remove())

describe('where no gate was opened', () => {
  const places: { [name: string]: () => string } = {
    'no repository': () => temporaryFolder(),
    'a repository': () => temporaryRepo(),
    'a subfolder': () => {
      const repo = temporaryRepo('shop', { 'src/a.ts': '' })
      return join(repo, 'src')
    },
    'a `.git` that is text': () => {
      const folder = temporaryFolder()
      write(folder, { '.git': 'nothing\n' })
      return folder
    },
    'another worktree of a gated repository': () => {
      const folder = join(temporaryFolder(), 'other')
      gated.git('worktree', 'add', '--quiet', '--detach', folder)
      return folder
    },
    'a repository whose files look like a gate that was committed': () =>
      temporaryRepo('shop', { '.claude/hooks/plan-gate/config.json': '{"recorded": true}' }),
    'a worktree that lies inside of a gated one': () => {
      gated.git('worktree', 'add', '--quiet', '--detach', '.claude/worktrees/inner')
      return gated.at('.claude/worktrees/inner')
    },
    'a `.git` that leads in a circle': () => {
      const folder = temporaryFolder()
      symlinkSync('.git', join(folder, '.git'))
      return folder
    },
    'a path that is longer than any name may be': () => temporaryFolder() + `/${'d'.repeat(200)}`.repeat(19),
    'a `.git` that names what no path can': () => {
      const folder = temporaryFolder()
      write(folder, { '.git': `gitdir: a\0${'b'.repeat(4_900)}\n` })
      return folder
    },
  }
  it.each(Object.entries(places))('each hook ends silently: %s', async (_, make) => {
    const folder = make()
    for (const [event, hook] of entries)
      expect([event, await run(hook, folder, { hook_event_name: event })]).toEqual([event, silent])
  })
})

it('warns at the start of a session of commands of the repository that take the place of its own', async () => {
  const [start] = hooks.SessionStart?.flatMap((group) => group.hooks) ?? []
  const repo = temporaryRepo('shop', { '.claude/commands/plan-gate/open.md': 'The gate is open.\n' })
  const { exitCode, stdout } = await run(start as Entry, repo, { hook_event_name: 'SessionStart' })
  expect([exitCode, JSON.parse(stdout)]).toEqual([
    0,
    { systemMessage: expect.stringMatching(/^plan-gate: this repository has commands of its own/) },
  ])
})

describe('where a gate was opened', () => {
  it('denies in the root, in a folder below and in a submodule', async () => {
    const library = temporaryRepo('library')
    gated.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'lib')
    for (const folder of ['.', 'src/deep', 'lib'])
      expect([folder, await ask(gated.at(folder))]).toMatchObject([folder, { exitCode: 2, stdout: denial }])
  })

  it('denies in a worktree without .claude/settings.json, and lets the plan be written', async () => {
    renameSync(gated.at('.claude/settings.json'), gated.at('.claude/aside'))
    try {
      const src = gated.at('src')
      expect(await ask(src)).toMatchObject({ exitCode: 2, stdout: denial })
      expect(await ask(src, {}, writing(src, gated.at('docs/plan.md')))).toEqual(silent)
    } finally {
      renameSync(gated.at('.claude/aside'), gated.at('.claude/settings.json'))
    }
  })

  it('names the plan by its absolute path in a session below, at the start and where a call is refused', async () => {
    const [src, plan] = [gated.at('src'), gated.at('docs/plan.md')]
    const start = hooks.SessionStart?.[0]?.hooks[0] as Entry
    const startOf = (cwd: string) => ({ hook_event_name: 'SessionStart', session_id: 'below', source: 'startup', cwd })
    const told = await Promise.all([
      run(start, src, startOf(src)),
      ask(src, {}, writing(src, join(src, 'docs/plan.md'))),
      run(start, gated.root, startOf(gated.root)),
    ])
    const named = ({ stdout, stderr }: Ran) => new Set((stdout + stderr).match(/[^\s`'"(]*docs\/plan\.md/g))
    expect(told.map(named)).toEqual([
      new Set([plan]),
      new Set([join(src, 'docs/plan.md'), plan]),
      new Set(['docs/plan.md']),
    ])
  })

  it('is not led astray by variables that settings can set', async () => {
    const evil = join(temporaryFolder(), 'evil.cjs')
    writeFileSync(evil, 'process.exit(0)')
    const env = { NODE_OPTIONS: `--require ${evil}`, PLAN_GATE_LAUNCH: '0'.repeat(32), CLAUDE_PID: '1' }
    expect(await ask(gated.root, env)).toMatchObject({ exitCode: 2, stdout: denial })
  })
})

describe('what a folder below brings to the session that is started there', () => {
  const start = hooks.SessionStart?.[0]?.hooks[0] as Entry
  const change = hooks.ConfigChange?.[0]?.hooks[0] as Entry
  const server = '{"mcpServers":{"x":{"command":"true"}}}'
  const fork = '{"env":{"GIT_EXTERNAL_DIFF":"x"}}'
  let worktree: GatedWorktree
  let sessions = 0
  beforeAll(async () => {
    worktree = await provenGate({ 'src/deep/a.ts': 'a\n' })
    worktree.write('docs/plan.md', '# Plan\n')
    worktree.approve()
  })
  afterAll(() => worktree.remove())

  /** What the user is told at the start, what the gate says to a Write, and to a change of the settings. */
  async function startIn(folder: string, session_id = `below-${sessions++}`) {
    const cwd = worktree.at(folder)
    const told = await run(start, cwd, { hook_event_name: 'SessionStart', session_id, source: 'startup', cwd })
    const asked = await ask(cwd, {}, { ...writing(cwd), session_id })
    const changed = await run(change, cwd, { hook_event_name: 'ConfigChange', session_id, source: 'project_settings' })
    const named = (text: string) => /nobody is asked about: (.*?) \(/.exec(text)?.[1] ?? null
    return [
      asked.exitCode,
      named(told.stdout),
      named(asked.stderr),
      changed.exitCode,
      /src\/\S*json/.exec(changed.stderr)?.[0] ?? null,
    ]
  }

  it.each([
    ['src', 'src/.claude/settings.json', fork],
    ['src', 'src/.claude/settings.json', '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"true"}]}]}}'],
    ['src', 'src/.claude/settings.local.json', '{"enableAllProjectMcpServers":true}'],
    ['src', 'src/.claude/settings.json', '{'],
    ['src', 'src/.mcp.json', server],
    ['src/deep', 'src/.mcp.json', server],
  ])('in %s, %s keeps the gate closed: %s', async (folder, file, text) => {
    worktree.write(file, text)
    try {
      expect(await startIn(folder, 'again')).toEqual([2, file, file, 2, file])
    } finally {
      rmSync(worktree.at(file))
    }
    expect(await startIn(folder, 'again')).toEqual([0, null, null, 0, null])
  })

  it('in such a session not even a command that reads is run, and in another one it is', async () => {
    const cwd = worktree.at('src')
    const asked = async (session_id: string) => {
      await run(start, cwd, { hook_event_name: 'SessionStart', session_id, source: 'startup', cwd })
      return ask(cwd, {}, { ...writing(cwd), session_id, tool_name: 'Bash', tool_input: { command: 'ls' } })
    }
    worktree.write('src/.claude/settings.json', '{"env":{"BASH_ENV":"x.sh"}}')
    try {
      expect(await asked('turned')).toMatchObject({
        exitCode: 2,
        stderr: expect.stringMatching(/Bash is not allowed yet: .*src\/\.claude\/settings\.json/),
      })
    } finally {
      rmSync(worktree.at('src/.claude/settings.json'))
    }
    worktree.write('src/.claude/agents/x.md', '---\nhooks: {}\n---\n')
    try {
      expect(await asked('agent')).toEqual(silent)
    } finally {
      rmSync(worktree.at('src/.claude/agents/x.md'))
    }
  })

  it('a plugin there, which could take the hooks away, is named to the user', async () => {
    const cwd = worktree.at('src')
    worktree.write('src/.claude/skills/evil/.claude-plugin/plugin.json', '{"name":"evil"}')
    worktree.write('src/.claude/skills/evil/hooks/hooks.json', '{"modules":["./x.js"]}')
    const event = { hook_event_name: 'SessionStart', session_id: 'plugin', source: 'startup', cwd }
    const { stdout } = await run(start, cwd, event)
    rmSync(worktree.at('src/.claude/skills'), { recursive: true })
    expect(JSON.parse(stdout).systemMessage).toMatch(/can take every hook away .*plugin:src\/\.claude\/skills\/evil/)
  })

  it.each<[string, string, object, string]>([
    ['src/.claude/commands/c.md', 'Hi !`touch x`', { skill: 'c' }, 'runs `touch x`'],
    ['src/.claude/skills/s/SKILL.md', 'Hi !`touch x`', { skill: 's' }, 'runs `touch x`'],
    ['src/.claude/agents/a.md', '---\nname: a\nhooks: {}\n---\n', { subagent_type: 'a' }, 'its head sets hooks'],
  ])('%s is judged before it is loaded, there and further below', async (file, text, input, says) => {
    worktree.write(file, text)
    rmSync(worktree.at('.claude/review/approval.json'))
    const tool_name = 'skill' in input ? 'Skill' : 'Agent'
    try {
      for (const folder of ['src', 'src/deep']) {
        const cwd = worktree.at(folder)
        const { stderr } = await ask(cwd, {}, { ...writing(cwd), tool_name, tool_input: { prompt: 'x', ...input } })
        expect([folder, stderr]).toEqual([folder, expect.stringContaining(says)])
      }
    } finally {
      rmSync(worktree.at(file))
      worktree.approve()
    }
  })

  it.each([
    ['.', 'src/.claude/settings.json', fork],
    ['src/deep', 'src/.claude/settings.json', fork],
    ['src', 'src/deep/.mcp.json', server],
    ['src', 'src/.claude/settings.json', '{}'],
    ['src', 'src/.claude/settings.local.json', '{"permissions":{"allow":["Bash(ls)"]},"model":"opus"}'],
  ])('in %s, %s does not: %s', async (folder, file, text) => {
    worktree.write(file, text)
    try {
      expect(await startIn(folder)).toEqual([0, null, null, 0, null])
    } finally {
      rmSync(worktree.at(file))
    }
  })
})

describe('fails closed', () => {
  const damage: { [name: string]: [act: (worktree: GatedWorktree) => void, says: RegExp] } = {
    'the bundle is gone': [
      ({ at }) => rmSync(at('.claude/hooks/plan-gate/pre-tool-use.mjs')),
      /pre-tool-use\.mjs cannot be read \(ENOENT\)/,
    ],
    'the bundle was overwritten': [
      ({ at }) => writeFileSync(at('.claude/hooks/plan-gate/pre-tool-use.mjs'), 'process.exit(0)'),
      /is not the file that was installed/,
    ],
    'the entry of the gate is not JSON': [({ root }) => writeFileSync(entryOf(root), '{'), /JSON/],
    'the entry of the gate has no bundles': [({ root }) => writeFileSync(entryOf(root), '{}'), /undefined/],
    'the entry of the gate is a folder': [
      ({ root }) => {
        rmSync(entryOf(root))
        mkdirSync(entryOf(root))
      },
      /#gate cannot be read \(EISDIR\)/,
    ],
    'nobody has registered it here': [({ root }) => rmSync(entryOf(root)), /a gate in .* that you have not installed/],
    'the record of the launch is not JSON': [
      ({ at, gitDirs }) => {
        recordLaunch(gitDirs.own, true)
        writeFileSync(at(`.git/${launchesDir}/${'0'.repeat(32)}.json`), '{')
      },
      /JSON/,
    ],
  }
  it.each(Object.entries(damage))('%s', async (_, [act, says]) => {
    const worktree = await provenGate()
    try {
      act(worktree)
      const ran = await ask(worktree.root, { PLAN_GATE_LAUNCH: '0'.repeat(32) })
      expect(ran).toEqual({ exitCode: 2, stdout: '', stderr: expect.stringMatching(says) })
      expect(ran.stderr).toMatch(
        /^plan-gate: .*\. Run `plan-gate install` there to restore the gate, or `plan-gate uninstall` to remove it\.\n$/,
      )
    } finally {
      worktree.remove()
    }
  })

  it.each<[string, (worktree: GatedWorktree) => void]>([
    ['the record of the install is gone', ({ at }) => rmSync(at('.git/plan-gate/install.json'))],
    ['all records are gone', ({ at }) => rmSync(at('.git/plan-gate'), { recursive: true })],
    ['the git directory is another one', ({ at }) => renameSync(at('.git'), at('.g'))],
    ['the record is garbage', ({ at }) => writeFileSync(at('.git/plan-gate/install.json'), '{')],
  ])('%s: it denies', async (_, act) => {
    const worktree = await provenGate({ 'src/a.ts': '' })
    try {
      act(worktree)
      expect(await ask(worktree.at('src'))).toMatchObject({ exitCode: 2, stdout: denial })
    } finally {
      worktree.remove()
    }
  })

  it('runs nothing that a record in a folder above names, but what the user has registered', async () => {
    const ran = join(temporaryFolder(), 'ran')
    const bundle = '.claude/hooks/plan-gate/pre-tool-use.mjs'
    const program = `//\n(module => { module.exports.start = () => require('fs').writeFileSync('${ran}', '') })`
    const plant = (folder: string): void =>
      write(folder, {
        [bundle]: program,
        '.git/plan-gate/install.json': JSON.stringify({ files: [{ path: bundle, sha256: sha256(program) }] }),
      })
    plant(gated.at('src/deep'))
    const alone = temporaryFolder()
    plant(alone)
    expect(await ask(gated.at('src/deep'))).toMatchObject({ exitCode: 2, stdout: '' })
    expect(await ask(alone)).toMatchObject({ exitCode: 2, stdout: '' })
    rmSync(gated.at('src/deep/.git'), { recursive: true })
    // A checkout of another repository, as git would make it: what stands inside of the gate is guarded by it.
    const other = temporaryRepo('other')
    git(other, 'worktree', 'add', '--quiet', '--detach', gated.at('src/other'))
    expect(await ask(gated.at('src/other'))).toMatchObject({ exitCode: 2, stdout: denial })
    write(gated.at('src/deep'), { '.git': `gitdir: ${gated.at('.git/worktrees/inner')}\n` })
    expect(await ask(gated.at('src/deep'))).toMatchObject({ exitCode: 2, stdout: denial })
    rmSync(gated.at('src/deep/.git'))
    expect(existsSync(ran)).toBe(false)
  })

  describe.skipIf(process.getuid?.() !== 0)('another user (needs root)', () => {
    const theirs = (path: string): void => lchownSync(path, 65_534, 65_534)
    const record = '.git/plan-gate/install.json'
    it.each<[string, (folder: string) => void]>([
      ['a record', (folder) => theirs(join(folder, record))],
      ['a folder with a record of ours', (folder) => theirs(join(folder, '.git/plan-gate'))],
      [
        'a link to a file of ours',
        (folder) => {
          renameSync(join(folder, record), join(folder, 'sub/ours'))
          symlinkSync('../../sub/ours', join(folder, record))
          theirs(join(folder, record))
        },
      ],
      [
        'a `.git` that names a folder of ours',
        (folder) => {
          renameSync(join(folder, '.git'), join(folder, 'sub/git'))
          writeFileSync(join(folder, '.git'), 'gitdir: sub/git\n')
          theirs(join(folder, '.git'))
        },
      ],
    ])('leaves something above the session, and nothing is refused: %s', async (_, act) => {
      const folder = temporaryFolder()
      write(folder, { [record]: '{}', 'sub/a.ts': '' })
      act(folder)
      expect(await ask(join(folder, 'sub'))).toEqual(silent)
    })

    it('registers a gate: it is not run', async () => {
      const worktree = await provenGate()
      theirs(entryOf(worktree.root))
      expect(await ask(worktree.root)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('is not yours') })
      worktree.remove()
    })
  })

  it('where the folder of the session is replaced by a link that leads elsewhere, or to another gate', async () => {
    const worktree = await provenGate({ 'src/deep/a.ts': '', 'b/a.ts': '' })
    const [src, elsewhere] = [worktree.at('src'), temporaryFolder()]
    write(elsewhere, { 'deep/a.ts': '' })
    renameSync(src, worktree.at('moved'))
    symlinkSync(elsewhere, src)
    const asked = await Promise.all([src, join(src, 'deep'), join(src, 'gone')].map((folder) => ask(folder)))
    expect(asked).toMatchObject(Array(3).fill({ exitCode: 2, stdout: denial }))
    rmSync(src)
    symlinkSync(gated.at('src'), src)
    const both = {
      exitCode: 2,
      stdout: '',
      stderr: expect.stringMatching(/is in .*, and leads to .*, each with a gate/),
    }
    expect(await ask(src)).toEqual(both)
    const link = join(elsewhere, 'link')
    symlinkSync(worktree.root, link)
    expect(await ask(join(link, 'b'))).toMatchObject({ exitCode: 2, stdout: denial })
    renameSync(worktree.root, `${worktree.root}-moved`)
    symlinkSync(elsewhere, worktree.root)
    expect(await ask(worktree.at('b'))).toMatchObject({ exitCode: 2, stdout: '' })
    rmSync(worktree.root)
    rmSync(`${worktree.root}-moved`, { recursive: true })
  })

  it('tells checkouts with odd names apart', async () => {
    const parent = temporaryFolder()
    const names = ['a:b', 'ab', '#gate', 'a%3ab', 'plain']
    for (const name of names) git(parent, 'init', '--quiet', name)
    const cli = {
      command: process.execPath,
      args: [join(project, 'dist/cli.mjs'), 'install', '--reviewer', 'checklist'],
    }
    for (const name of ['a:b', '#gate']) expect(await run(cli, join(parent, name), {})).toMatchObject({ exitCode: 0 })
    const asked = await Promise.all(names.map((name) => ask(join(parent, name))))
    expect(asked.map(({ stdout }) => denies.test(stdout))).toEqual([true, false, true, false, false])
    expect(asked.map(({ exitCode }) => exitCode)).toEqual([2, 0, 2, 0, 0])
  })

  it('but for the events that would hold the user up for ever', async () => {
    const worktree = await provenGate()
    try {
      rmSync(worktree.at('.claude/hooks'), { recursive: true })
      const codes: { [event: string]: (number | null)[] } = {}
      for (const [event, hook] of entries)
        codes[event] = [...(codes[event] ?? []), (await run(hook, worktree.root, {})).exitCode]
      expect(codes).toEqual({
        PreToolUse: [2, 2],
        PostToolUse: [2],
        PostToolUseFailure: [2, 2],
        SessionStart: [2],
        SessionEnd: [2],
        UserPromptSubmit: [1],
        ConfigChange: [2],
        Stop: [1],
        PreCompact: [1],
      })
    } finally {
      worktree.remove()
    }
  })

  it('has every hook that may block block when it cannot be started', () => {
    expect(entries.filter(([, { onFailure }]) => onFailure === 'block').map(([event]) => event)).toEqual([
      'PreToolUse',
      'PreToolUse',
      'ConfigChange',
    ])
  })
})

describe('beside the hooks of the settings', () => {
  const settingsGate = (): Entry => {
    const own = ownHooksOf({ hooks: gated.installed.entries }).find(({ event }) => event === 'PreToolUse')
    return { command: own?.command ?? '', args: [...(own?.args ?? [])] }
  }

  it('in a session that plan-gate launched, it is silent; in one that this session has started, it is not', async () => {
    const launched = { PLAN_GATE_LAUNCH: recordLaunch(gated.gitDirs.own, true), CLAUDE_PID: String(process.pid) }
    expect(await ask(gated.root, launched)).toEqual(silent)
    const [start] = ownHooksOf({ hooks: gated.installed.entries }).filter(({ event }) => event === 'SessionStart')
    const event = { hook_event_name: 'SessionStart', session_id: 'launched', source: 'startup', cwd: gated.root }
    await run({ command: start?.command ?? '', args: [...(start?.args ?? [])] }, gated.root, event, launched)
    expect(await ask(gated.root, launched)).toEqual(silent)
    expect(await ask(gated.root, { ...launched, CLAUDE_PID: '1' })).toMatchObject({ exitCode: 2, stdout: denial })
  })

  it('and it is not silent where plan-gate no longer waits for what it has launched', async () => {
    const nonce = recordLaunch(gated.gitDirs.own, true)
    const file = gated.at(`.git/${launchesDir}/${nonce}.json`)
    const { pid } = spawnSync('true')
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), launcher: pid }))
    expect(await ask(gated.root, { PLAN_GATE_LAUNCH: nonce })).toMatchObject({ exitCode: 2, stdout: denial })
  })

  it('a variable that says so without a launch changes nothing: one of the two answers', async () => {
    const event = writing(gated.root)
    const both = [settingsGate(), gate as Entry].map((hook) => run(hook, gated.root, event, { PLAN_GATE_LAUNCH: 'x' }))
    expect(await Promise.all(both)).toMatchObject([{ exitCode: 2, stdout: denial }, silent])
  })

  it('in a session that was started by hand, the settings answer, and the plugin does not', async () => {
    // As the start of a session does; then the plugin is more patient.
    await run(settingsGate(), gated.root, writing(gated.root))
    const answers = await Promise.all(
      Array.from({ length: 6 }, async (_, turn) => {
        const event = writing(gated.root)
        const both = turn % 2 === 0 ? [settingsGate(), gate as Entry] : [gate as Entry, settingsGate()]
        const ran = await Promise.all(both.map((hook) => run(hook, gated.root, event)))
        const told = ran.map(({ stdout }) => (stdout === '' ? 'silent' : denies.test(stdout) ? 'denies' : stdout))
        return turn % 2 === 0 ? told : told.reverse()
      }),
    )
    expect(answers).toEqual(Array.from({ length: 6 }, () => ['denies', 'silent']))
    const event = writing(gated.root)
    expect(await run(settingsGate(), gated.root, event)).toMatchObject({ exitCode: 2, stdout: denial })
    expect(await run(gate as Entry, gated.root, event)).toEqual(silent)
    expect(await run(settingsGate(), gated.root, event)).toMatchObject({ exitCode: 2, stdout: denial })
  })

  it('answers where the other answered another call, or this one long ago', async () => {
    const event = writing(gated.root)
    await run(settingsGate(), gated.root, event)
    expect(await run(gate as Entry, gated.root, { ...event, tool_use_id: 'toolu_other' })).toMatchObject({
      exitCode: 2,
    })
    expect(await run(gate as Entry, gated.root, event)).toEqual(silent)
    const folder = gated.at('.git/plan-gate/answers')
    const before = new Date(Date.now() - 60_000)
    for (const name of readdirSync(folder, { recursive: true })) lutimesSync(join(folder, String(name)), before, before)
    expect(await run(gate as Entry, gated.root, event)).toMatchObject({ exitCode: 2, stdout: denial })
  })

  it('answers where it cannot claim', async () => {
    const folder = gated.at('.git/plan-gate/answers')
    rmSync(folder, { recursive: true, force: true })
    writeFileSync(folder, '')
    try {
      const event = writing(gated.root)
      const ran = await Promise.all([settingsGate(), gate as Entry].map((hook) => run(hook, gated.root, event)))
      expect(ran).toMatchObject([
        { exitCode: 2, stdout: denial },
        { exitCode: 2, stdout: denial },
      ])
    } finally {
      rmSync(folder)
    }
  })
})

describe('where the repository has settings of its own, and the entries are in the local file', () => {
  let worktree: GatedWorktree
  let local: Entry
  beforeAll(async () => {
    worktree = await provenGate({ '.claude/settings.json': '{}\n', 'src/deep/a.ts': '' })
    const { path, after } = worktree.installed.record.settings
    expect(path).toBe('.claude/settings.local.json')
    const own = ownHooksOf(JSON.parse(Buffer.from(after, 'base64').toString('utf8')))
    local = own.find(({ event }) => event === 'PreToolUse') as unknown as Entry
  })
  afterAll(() => worktree.remove())

  it.each(['.', 'src', 'src/deep'])(
    'they answer in %s, which loads them too, and the plugin does not',
    async (folder) => {
      const cwd = worktree.at(folder)
      await run(local, cwd, writing(cwd))
      const both = async (path: string) => {
        const event = writing(cwd, worktree.at(path))
        return Promise.all([run(local, cwd, event), run(gate as Entry, cwd, event)])
      }
      expect(await both('src/new.ts')).toMatchObject([{ exitCode: 2, stdout: denial }, silent])
      expect(await both('docs/plan.md')).toEqual([silent, silent])
    },
  )

  it('neither takes a folder for a linked worktree that only says so', async () => {
    const named = worktree.at('src/deep/.git')
    for (const folder of ['.git/objects/zz', '.git/objects/worktrees/zz', 'src/worktrees/zz']) {
      mkdirSync(worktree.at(folder), { recursive: true })
      writeFileSync(join(worktree.at(folder), 'gitdir'), `${named}\n`)
      writeFileSync(named, `gitdir: ${worktree.at(folder)}\n`)
      const cwd = worktree.at('src/deep')
      const ran = await Promise.all([local, gate as Entry].map((hook) => run(hook, cwd, writing(cwd))))
      expect([folder, ran.map(({ exitCode }) => exitCode)]).toEqual([folder, [2, 2]])
    }
    rmSync(named)
  })

  it('they leave a linked worktree alone, and hold where a link takes the place of the folder', async () => {
    for (const path of ['.claude/worktrees/inner', join(temporaryFolder(), 'outer')]) {
      worktree.git('worktree', 'add', '--quiet', '--detach', path)
      const cwd = path.startsWith('/') ? path : worktree.at(path)
      expect([path, await run(local, cwd, writing(cwd))]).toEqual([path, silent])
      rmSync(worktree.at('src/deep'), { recursive: true })
      symlinkSync(cwd, worktree.at('src/deep'))
      for (const hook of [local, gate as Entry])
        expect(await run(hook, worktree.at('src/deep'), writing(cwd))).toMatchObject({ exitCode: 2 })
    }
  })
})

it('leaves nothing behind with an uninstall', async () => {
  const worktree = await provenGate()
  try {
    const own = ownHooksOf({ hooks: worktree.installed.entries }).find(({ event }) => event === 'PreToolUse')
    await run({ command: own?.command ?? '', args: [...(own?.args ?? [])] }, worktree.root, writing(worktree.root))
    expect(existsSync(worktree.at('.git/plan-gate/answers'))).toBe(true)
    const cli = join(project, 'dist/cli.mjs')
    const removed = await run(
      { command: process.execPath, args: [cli, 'uninstall'] },
      worktree.root,
      {},
      { CLAUDE_CONFIG_DIR: config },
    )
    expect([removed.exitCode, existsSync(worktree.at('.git/plan-gate')), existsSync(entryOf(worktree.root))]).toEqual([
      0,
      false,
      false,
    ])
    expect(await ask(worktree.root)).toEqual(silent)
    expect(git(worktree.root, 'status', '--porcelain')).toBe('')
  } finally {
    worktree.remove()
  }
})
