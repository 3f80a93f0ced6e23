import { appendFileSync, chmodSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type InventoryItem, readInventory } from '../../../src/install/inventory.ts'
import { readGitDirs } from '../../../src/system/git-dirs.ts'
import { committedThings, harmlessThings } from '../../support/committed-things.ts'
import { gatedWorktree } from '../../support/gated-worktree.ts'
import { commit, type Files, git, temporaryFolder, write } from '../../support/temporary-repo.ts'

afterEach(() => vi.unstubAllEnvs())

type Repository = { files: Files; links?: Files }

function repositoryWith({ files, links = {} }: Repository): string {
  const root = join(temporaryFolder(), 'shop')
  mkdirSync(root)
  git(root, 'init', '--quiet')
  write(root, { 'README.md': '# Shop\n', ...files })
  for (const [path, target] of Object.entries(links)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    symlinkSync(target, join(root, path))
  }
  git(root, 'add', '--all')
  return root
}

function inventory(root: string): readonly InventoryItem[] {
  const gitDirs = readGitDirs(root)
  if (gitDirs === null) throw new Error('no git directory')
  return readInventory(root, gitDirs)
}

const ids = (root: string): string[] => inventory(root).map(({ id }) => id)

describe('what a repository brings', () => {
  it.each(committedThings.map((thing) => [thing.name, thing] as const))('%s', (_, thing) => {
    const items = inventory(repositoryWith(thing))
    expect(items.map(({ id }) => id)).toEqual(thing.items)
    for (const { what, runs, digest, from } of items) {
      expect({ digest, from }).toEqual({ digest: expect.stringMatching(/^[0-9a-f]{64}$/), from: 'repository' })
      expect([what, ...runs].join('')).toMatch(/^[^\p{Cc}]+$/u)
    }
  })

  it('has many rows, each with a name of its own', () => {
    expect(committedThings.length).toBeGreaterThan(100)
    expect(new Set(committedThings.map(({ name }) => name)).size).toBe(committedThings.length)
  })
})

describe('what is harmless', () => {
  it.each(harmlessThings.map((thing) => [thing.name, thing] as const))('%s', (_, thing) => {
    expect(ids(repositoryWith(thing))).toEqual([])
  })
})

const command = (text: string): string =>
  JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command: text }] }] } })
const agentHook = (text: string): string => `---\nhooks: {Stop: [${JSON.stringify(text)}]}\n---\n`
const inline = 'Now: !`touch ran`\n'
const plugin = {
  '.claude-plugin/plugin.json': '{"name":"inner"}',
  'hooks/hooks.json': '{"hooks":{}}',
  'bin/x.sh': 'x\n',
}
const below = (folder: string, files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]))

describe('what it would run', () => {
  it.each<{ name: string; files: Files; expected: readonly string[] }>([
    {
      name: 'of a hook',
      files: { '.claude/settings.json': command('sh tools/constructor'), 'tools/constructor': 'x' },
      expected: ['{"type":"command","command":"sh tools/constructor"}', '(runs tools/constructor of the repository)'],
    },
    {
      name: 'of a skill',
      files: { '.claude/skills/x/SKILL.md': '```!\nls\ntouch x\n```\n' },
      expected: ['ls', 'touch x'],
    },
    {
      name: 'of a head',
      files: { '.claude/agents/x.md': '---\nhooks: {Stop: [x]}\n---\n!`ls`' },
      expected: ['(its head sets hooks)', 'hooks: {"Stop":["x"]}'],
    },
    {
      name: 'of a head that is not understood',
      files: { '.claude/agents/x.md': '---\n*a : x\n---\n' },
      expected: ['(its head is not a plain list of keys)', '---', '*a : x', '---', ''],
    },
    {
      name: 'of a plugin',
      files: { '.claude/skills/x/hooks/hooks.json': '{"hooks":[{"command":"touch \\u001b"}]}' },
      expected: ['hooks/hooks.json', '  command: "touch \\u001b"'],
    },
    { name: 'of a variable', files: { '.claude/settings.json': '{"env":{"A":"./x"}}' }, expected: ['"./x"'] },
    {
      name: 'of a head that runs a script',
      files: { '.claude/agents/x.md': agentHook('sh s/x.sh'), 's/x.sh': 'x' },
      expected: ['(its head sets hooks)', 'hooks: {"Stop":["sh s/x.sh"]}', '(runs s/x.sh of the repository)'],
    },
    {
      name: 'of a plugin that runs a script',
      files: { '.claude/skills/x/hooks/hooks.json': '{"hooks":[{"command":"sh s/x.sh"}]}', 's/x.sh': 'x' },
      expected: ['hooks/hooks.json', '  command: "sh s/x.sh"', '(runs s/x.sh of the repository)'],
    },
    {
      name: 'behind many spaces, in settings',
      files: { '.claude/settings.json': `{"env":{"A":"a${' '.repeat(400)}\\n\\n⠀; evil"}}` },
      expected: ['"a\\n; evil"'],
    },
    {
      name: 'behind many spaces, in a skill',
      files: { '.claude/skills/x/SKILL.md': `!\`a${' '.repeat(400)}${'\n'.repeat(400)}; evil\`` },
      expected: ['a', '; evil'],
    },
    {
      name: 'behind many lines, in a head that is not understood',
      files: { '.claude/agents/x.md': `---\n${'\n \n'.repeat(40)}*a : evil${'\nb'.repeat(40)}` },
      expected: ['(where its head ends is not clear)', '---', '*a : evil', ...'b'.repeat(28), '(12 more lines)'],
    },
    {
      name: 'at the end of a long text',
      files: { '.claude/settings.json': `{"env":{"A":"${'a'.repeat(996)}; evil"}}` },
      expected: [`"${'a'.repeat(199)} … (604 characters left out) … ${'a'.repeat(193)}; evil"`],
    },
  ])('$name', ({ files, expected }) => {
    expect(inventory(repositoryWith({ files })).flatMap(({ runs }) => runs)).toEqual(expected)
  })
})

describe('the digest', () => {
  it.each<{ name: string; files: Files; links?: Files; changed: string }>([
    { name: 'of a setting', files: { '.claude/settings.json': '{"outputStyle":"a"}' }, changed: '' },
    {
      name: 'of a script that a hook runs',
      files: { '.claude/settings.json': command('sh tools/x.sh'), 'tools/x.sh': 'x' },
      changed: 'tools/x.sh',
    },
    {
      name: 'of a script in the folder of the project',
      files: {
        '.claude/settings.json': command('"$CLAUDE_PROJECT_DIR"/.claude/hooks/x.sh'),
        '.claude/hooks/x.sh': 'x',
      },
      changed: '.claude/hooks/x.sh',
    },
    {
      name: 'of a script that is named from its folder',
      files: { '.claude/settings.json': command('cd tools && ./x.sh'), 'tools/x.sh': 'x' },
      changed: 'tools/x.sh',
    },
    {
      name: 'of a package script',
      files: { '.claude/settings.json': command('npm run lint'), 'package.json': '{}' },
      changed: 'package.json',
    },
    {
      name: 'of a server that is a script',
      files: { '.mcp.json': '{"mcpServers":{"a":{"command":"node","args":["tools/x.js"]}}}', 'tools/x.js': '1' },
      changed: 'tools/x.js',
    },
    {
      name: 'of a file beside a skill',
      files: { '.claude/skills/x/SKILL.md': inline, '.claude/skills/x/scripts/x.py': '1' },
      changed: '.claude/skills/x/scripts/x.py',
    },
    { name: 'of a file of a plugin', files: below('.claude/skills/x', plugin), changed: '.claude/skills/x/bin/x.sh' },
    {
      name: 'of a plugin behind a link',
      files: below('tools', plugin),
      links: { '.claude/skills/x': '../../tools' },
      changed: 'tools/bin/x.sh',
    },
    { name: 'of an agent', files: { '.claude/agents/x.md': '---\nhooks: {}\n---\n' }, changed: '.claude/agents/x.md' },
    { name: 'of a file that is not known', files: { '.claude/x.json': '{}' }, changed: '.claude/x.json' },
    {
      name: 'of a script that a hook of an agent runs',
      files: { '.claude/agents/x.md': agentHook('sh s/x.sh'), 's/x.sh': 'x' },
      changed: 's/x.sh',
    },
    {
      name: 'of a script that a server of an agent is',
      files: { '.claude/agents/x.md': '---\nmcpServers: {a: {command: sh, args: [s/x.sh]}}\n---\n', 's/x.sh': 'x' },
      changed: 's/x.sh',
    },
    {
      name: 'of a script in a head that is not understood',
      files: { '.claude/agents/x.md': '---\nhooks: &a [sh s/x.sh]\n---\n', 's/x.sh': 'x' },
      changed: 's/x.sh',
    },
    {
      name: 'of a script that a skill runs',
      files: { '.claude/skills/x/SKILL.md': '!`sh s/x.sh`\n', 's/x.sh': 'x' },
      changed: 's/x.sh',
    },
    {
      name: 'of a script that a command of an output style runs',
      files: { '.claude/output-styles/x.md': agentHook('sh s/x.sh'), 's/x.sh': 'x' },
      changed: 's/x.sh',
    },
    {
      name: 'of a script that a hook of a plugin runs',
      files: { '.claude/skills/x/hooks/hooks.json': '{"hooks":[{"command":"sh s/x.sh"}]}', 's/x.sh': 'x' },
      changed: 's/x.sh',
    },
    {
      name: 'of a script that a server of a plugin is',
      files: { '.claude/skills/x/.mcp.json': '{"a":{"command":"sh","args":["s/x.sh"]}}', 's/x.sh': 'x' },
      changed: 's/x.sh',
    },
    ...['../../../../s/x.js', '../../../s/x', '${CLAUDE_PLUGIN_ROOT}/../../../s/x.js'].map((module) => ({
      name: `of the module ${module} of a plugin`,
      files: { '.claude/skills/x/hooks/hooks.json': JSON.stringify({ modules: [module] }), 's/x.js': '1' },
      changed: 's/x.js',
    })),
    ...[
      ['node .', 'package.json'],
      ['node .', 'index.js'],
      ['node lib/a', 'lib/a.js'],
      ['node lib/a', 'lib/a.mjs'],
      ['node lib/a', 'lib/a.cjs'],
      ['tsx lib/a', 'lib/a.ts'],
      ['node lib/a', 'lib/a/index.js'],
      ['node lib/a', 'lib/a/package.json'],
      ['python3 -m srv', 'srv.py'],
      ['python3 -m a.srv', 'a/srv.py'],
      ['python3 -m srv', 'srv/__main__.py'],
      ['python3 -m srv', 'srv/__init__.py'],
      ['D=s; sh "$D"/x.sh', 's/x.sh'],
      ['F=x; sh s/$F', 's/x'],
      ['sh $(echo s)/x.sh', 'deep/s/x.sh'],
      ['sh ..s/x.sh', '..s/x.sh'],
      ['D=s; node $D/x', 's/x.mjs'],
    ].map(([line = '', changed = '']) => ({
      name: `of ${changed} for ${line}`,
      files: { '.claude/settings.json': command(line), [changed]: '{}' },
      changed,
    })),
    {
      name: 'of a script in JSON that is not understood',
      files: { '.claude/skills/x/hooks/hooks.json': `${'['.repeat(9_000)}"s/x.sh"${']'.repeat(9_000)}`, 's/x.sh': 'x' },
      changed: 's/x.sh',
    },
    {
      name: 'of the program that a package.json names',
      files: { '.claude/settings.json': command('node lib'), 'lib/package.json': '{"main":"a/b"}', 'lib/a/b.js': '1' },
      changed: 'lib/a/b.js',
    },
    {
      name: 'of a program behind a link',
      files: { '.claude/settings.json': command('sh link/x'), 's/x': '1' },
      links: { link: 's' },
      changed: 's/x',
    },
    { name: 'of a large file', files: { '.claude/x.bin': 'x'.repeat(9_000_000) }, changed: '.claude/x.bin' },
  ])('$name changes with it, and with nothing else', ({ changed, ...repository }) => {
    const root = repositoryWith(repository)
    const digest = (): string[] => inventory(root).map((item) => item.digest)
    const before = digest()
    write(root, { 'src/other.ts': '1\n' })
    expect(digest()).toEqual(before)
    if (changed === '') write(root, { '.claude/settings.json': '{"outputStyle":"b"}' })
    else appendFileSync(join(root, changed), ' ')
    expect(before).toHaveLength(1)
    expect(digest()).toHaveLength(1)
    expect(digest()).not.toEqual(before)
  })

  it('of a command with a variable has the first 50 files of a name by their bytes, the others as git knows them', () => {
    const names = Array.from({ length: 60 }, (_, at) => `s${at + 10}/x.sh`)
    const files = Object.fromEntries(names.map((name) => [name, 'x']))
    const root = repositoryWith({ files: { ...files, '.claude/settings.json': command('sh $D/x.sh') } })
    const [before] = inventory(root)
    expect(before?.runs.filter((line) => line.startsWith('(runs '))).toHaveLength(60)
    write(root, { 's69/x.sh': 'y' })
    git(root, 'add', '--all')
    expect(inventory(root)[0]?.digest).not.toBe(before?.digest)
  })

  it('does not change with a file that is neither a script nor tracked', () => {
    const root = repositoryWith({ files: { '.claude/agents/x.md': agentHook('date >> s/log') } })
    const [before] = inventory(root)
    write(root, { 's/log': 'x' })
    expect(inventory(root)).toEqual([before])
  })

  it('does not change with files that a plain command could complete', () => {
    const files = { '.claude/agents/x.md': agentHook('eslint src'), 'src/index.js': '1', 'src/package.json': '{}' }
    expect(inventory(repositoryWith({ files })).flatMap(({ runs }) => runs)).toHaveLength(2)
  })

  it('of one hook does not change with another one', () => {
    const root = repositoryWith({ files: { '.claude/settings.json': command('a') } })
    const [before] = inventory(root)
    write(root, {
      '.claude/settings.json': command('a').replace(
        '{"hooks":{',
        '{"model":"x","hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"b"}]}],',
      ),
    })
    expect(inventory(root).find(({ id }) => id === before?.id)?.digest).toBe(before?.digest)
  })
})

describe('other places', () => {
  it('counts skills, commands and agents of the main checkout in a linked worktree, and nothing else of it', () => {
    const main = repositoryWith({ files: {} })
    commit(main, {})
    const root = join(dirname(main), 'linked')
    git(main, 'worktree', 'add', '--quiet', root)
    write(main, {
      '.claude/skills/x/SKILL.md': inline,
      '.claude/commands/x.md': inline,
      '.claude/agents/x.md': '---\nhooks: {}\n---\n',
      '.claude/settings.json': command('x'),
      '.claude/workflows/x.js': '1',
      '.mcp.json': '{"mcpServers":{"a":{}}}',
    })
    expect(inventory(root).map(({ id, from }) => [id, from])).toEqual(
      [`agent:${main}/x`, `command:${main}/x`, `skill:${main}/x`].map((id) => [id, 'main checkout']),
    )
    expect(ids(main)).toEqual(['hook:Stop:1', 'mcp:a', 'agent:x', 'command:x', 'skill:x', 'file:.claude/workflows'])
  })

  it('counts a module beside a plugin of the main checkout', () => {
    const main = repositoryWith({ files: {} })
    commit(main, {})
    const root = join(dirname(main), 'linked')
    git(main, 'worktree', 'add', '--quiet', root)
    write(main, { '.claude/skills/x/hooks/hooks.json': '{"modules":["../../../s/x.js"]}', 's/x.js': '1' })
    const [before] = inventory(root)
    write(main, { 's/x.js': '2' })
    expect(before?.runs.at(-1)).toBe(`(runs ${main}/s/x.js of the repository)`)
    expect(inventory(root)[0]?.digest).not.toBe(before?.digest)
  })

  it('counts the servers of every folder above', () => {
    const root = repositoryWith({ files: {} })
    write(dirname(root), { '.mcp.json': '{"mcpServers":{"a":{}}}' })
    expect(inventory(root).map(({ id, from }) => [id, from])).toEqual([[`mcp:${dirname(root)}/a`, 'user']])
  })

  it.each<{ name: string; files: Files; expected: readonly string[] }>([
    {
      name: 'what git ignores there',
      files: { '.gitignore': '.claude\n', 'a/.claude/skills/x/SKILL.md': inline, 'a/x.txt': '' },
      expected: ['skill:a/x'],
    },
    {
      name: 'what stands alone in a folder',
      files: { '.gitignore': 'a/*\n', 'a/.claude/skills/x/SKILL.md': inline },
      expected: ['skill:a/x'],
    },
    {
      name: 'a folder that git ignores',
      files: { '.gitignore': 'a\n', 'a/.claude/skills/x/SKILL.md': inline },
      expected: [],
    },
    {
      name: 'a repository in it',
      files: {
        ...below('a', { '.git/HEAD': 'ref: refs/heads/main\n', '.git/objects/x': '', '.git/refs/x': '' }),
        'a/b/.claude/skills/x/SKILL.md': inline,
      },
      expected: ['skill:a/b/x'],
    },
    {
      name: 'another worktree',
      files: {
        ...below('.claude/worktrees/a', {
          '.git/HEAD': 'ref: refs/heads/main\n',
          '.git/objects/x': '',
          '.git/refs/x': '',
        }),
        '.claude/worktrees/a/.claude/skills/x/SKILL.md': inline,
      },
      expected: [],
    },
  ])('of an untracked folder: $name', ({ files, expected }) => {
    const root = repositoryWith({ files: {} })
    write(root, files)
    expect(ids(root)).toEqual(expected)
  })

  it('counts a submodule', () => {
    const inner = repositoryWith({ files: { '.claude/skills/x/SKILL.md': inline } })
    commit(inner, {})
    const root = repositoryWith({ files: {} })
    git(root, 'submodule', '--quiet', 'add', inner, 'vendor/inner')
    expect(ids(root)).toEqual(['skill:vendor/inner/x'])
  })

  it.each<{ name: string; files: Files; expected: readonly (string | undefined)[] }>([
    {
      name: 'none',
      files: { 'skills/a/SKILL.md': inline, 'settings.json': command('x'), 'agents/a.md': inline },
      expected: [],
    },
    {
      name: 'one with hooks in the folder of skills',
      files: below('skills/a', plugin),
      expected: ['inner@skills-dir'],
    },
    {
      name: 'one with a module there',
      files: below('skills/a', { '.claude-plugin/plugin.json': '{"hooks":{"modules":["./x.js"]}}' }),
      expected: ['a@skills-dir'],
    },
    {
      name: 'one with neither',
      files: below('skills/a', { '.claude-plugin/plugin.json': '{"name":"a"}', 'SKILL.md': 'X' }),
      expected: [],
    },
    {
      name: 'an installed one with hooks',
      files: {
        ...below('p', plugin),
        'plugins/installed_plugins.json': '{"plugins":{"p@m":[{"installPath":"HOME/p"}]}}',
      },
      expected: [],
    },
    {
      name: 'an installed one with a module',
      files: {
        'p/hooks/hooks.json': '{"modules":["./x.js"]}',
        'plugins/installed_plugins.json': '{"plugins":{"p@m":[{"installPath":"HOME/p"}]}}',
      },
      expected: ['p@m'],
    },
    {
      name: 'such a one that is switched off',
      files: {
        'p/hooks/hooks.json': '{"modules":["./x.js"]}',
        'settings.json': '{"enabledPlugins":{"p@m":false}}',
        'plugins/installed_plugins.json': '{"plugins":{"p@m":[{"installPath":"HOME/p"}]}}',
      },
      expected: [],
    },
    {
      name: 'one that is read from a marketplace in a folder',
      files: {
        'm/p/hooks/hooks.json': '{"modules":["./x.js"]}',
        'plugins/known_marketplaces.json': '{"m":{"source":{"source":"directory","path":"HOME/m"}}}',
        'plugins/installed_plugins.json': '{"plugins":{"p@m":[{"installPath":"HOME/p"}]}}',
      },
      expected: ['p@m'],
    },
  ])('of the user only plugins count: $name', ({ files, expected }) => {
    const home = temporaryFolder()
    vi.stubEnv('CLAUDE_CONFIG_DIR', home)
    write(home, Object.fromEntries(Object.entries(files).map(([path, text]) => [path, text.replaceAll('HOME', home)])))
    const items = inventory(repositoryWith({ files: {} }))
    expect(items.map(({ plugin }) => plugin)).toEqual(expected)
    expect(items.every(({ from }) => from === 'user')).toBe(true)
  })
})

describe('our own entries', () => {
  it('are left out as they were installed, and only so', async () => {
    const worktree = await gatedWorktree({ '.claude/settings.json': command('theirs') })
    onTestFinished(() => worktree.remove())
    const { settings } = worktree.installed.record
    const after = Buffer.from(settings.after, 'base64').toString('utf8')
    worktree.write('.claude/settings.json', after)
    const theirs = settings.path === '.claude/settings.json' ? ['hook:Stop:1'] : []
    expect(ids(worktree.root)).toEqual(theirs)
    worktree.write('.claude/settings.json', after.replaceAll('"timeout": ', '"timeout": 1'))
    expect(ids(worktree.root).length).toBeGreaterThan(theirs.length)
  })
})

describe('links out of the repository', () => {
  it.each([
    'CLAUDE.md',
    'CLAUDE.local.md',
    'AGENTS.md',
    '.claude/CLAUDE.md',
    '.claude/rules',
    '.claude/rules/a/x.md',
    'packages/x/CLAUDE.md',
    'packages/x/.claude/rules/x.md',
  ])('%s', (path) => {
    const outside = temporaryFolder()
    const target = join(outside, 'key')
    const root = repositoryWith({ files: {}, links: { [path]: target } })
    const what = `${path} is a link out of the repository, to ${target}`
    const [item, ...others] = inventory(root)
    expect([item, others]).toMatchObject([{ id: `file:${path}`, what, from: 'repository' }, []])
    write(outside, { key: 'x' })
    expect(inventory(root)[0]).toEqual(item)
  })

  it.each<{ name: string; files?: Files; links: Files; expected: readonly string[] }>([
    { name: 'over another link', links: { 'CLAUDE.md': 'docs/x.md', docs: '/etc' }, expected: ['CLAUDE.md', 'docs'] },
    { name: 'of the whole folder', links: { '.claude': '/etc/claude' }, expected: ['.claude'] },
    { name: 'to what git keeps', links: { 'CLAUDE.md': '.git/config' }, expected: ['CLAUDE.md'] },
    { name: 'in circles', links: { 'CLAUDE.md': 'AGENTS.md', 'AGENTS.md': 'CLAUDE.md' }, expected: [] },
    {
      name: 'inside of the worktree',
      files: { 'docs/x.md': 'X.' },
      links: { 'CLAUDE.md': 'docs/x.md', '.claude/rules/x.md': '../../docs/x.md', 'a/CLAUDE.md': '../.env' },
      expected: [],
    },
    { name: 'of a text that is not loaded', links: { 'docs/x.md': '/etc/hostname' }, expected: [] },
  ])('$name', ({ files = {}, links, expected }) => {
    expect(ids(repositoryWith({ files, links }))).toEqual(expected.map((path) => `file:${path}`))
  })

  it('that is not committed is the user’s own', () => {
    const root = repositoryWith({ files: {} })
    symlinkSync('/etc/hostname', join(root, 'CLAUDE.local.md'))
    expect(ids(root)).toEqual([])
  })
})

describe('what cannot be told', () => {
  it('a name that is no text is an item', () => {
    const root = repositoryWith({ files: {} })
    const folder = Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff]), Buffer.from('/.claude/skills')])
    mkdirSync(folder, { recursive: true })
    writeFileSync(Buffer.concat([folder, Buffer.from('/x.md')]), inline)
    expect(ids(root)).toEqual(['file:\ufffd/.claude/skills/x.md'])
  })

  it.skipIf(process.getuid?.() === 0)('what may not be read is an item', () => {
    const root = repositoryWith({ files: { '.claude/settings.json': '{}', '.claude/skills/x/SKILL.md': 'X\n' } })
    for (const path of ['.claude/settings.json', '.claude/skills/x/SKILL.md']) chmodSync(join(root, path), 0)
    expect(ids(root)).toEqual(['file:.claude/settings.json', 'skill:x'])
  })

  it('a folder in the place of a file is an item', () => {
    const files = { '.claude/settings.json/x': '', '.mcp.json/x': '', '.claude/skills/x/SKILL.md/x': '' }
    expect(ids(repositoryWith({ files }))).toEqual(['file:.claude/settings.json', 'file:.mcp.json'])
  })

  it('names that are the same are told apart', () => {
    const files = { '.claude/skills/x\u0001/SKILL.md': inline, '.claude/skills/x\\u{1}/SKILL.md': inline }
    expect(ids(repositoryWith({ files }))).toEqual(['skill:x\\u{1}', 'skill:x\\u{1}#2'])
  })

  it('more than can be read is never the same twice', () => {
    const root = repositoryWith({ files: {}, links: { '.claude/commands': '/usr' } })
    const [first, second] = [inventory(root), inventory(root)].map((items) =>
      items.find(({ id }) => id === 'file:.claude'),
    )
    expect(first?.digest).toMatch(/^[0-9a-f]{64}$/)
    expect(second?.digest).not.toBe(first?.digest)
  })

  it('more names of programs than can be looked up are never the same twice', () => {
    const text = Array.from({ length: 20_000 }, (_, at) => `a/${at}`).join(' ')
    const root = repositoryWith({ files: { '.claude/skills/x/hooks/hooks.json': JSON.stringify({ command: text }) } })
    expect(ids(root)).toContain('file:.claude')
  })

  it('large files of a harmless skill are not read', () => {
    const root = repositoryWith({ files: { '.claude/skills/x/SKILL.md': 'X.\n', '.claude/skills/x/data.bin': '' } })
    truncateSync(join(root, '.claude/skills/x/data.bin'), 4_000_000_000)
    expect(ids(root)).toEqual([])
  })

  it('links that lead to themselves end', () => {
    const links = { '.claude/skills/x': '..', '.claude/agents': '.', '.claude/commands': 'commands' }
    expect(inventory(repositoryWith({ files: {}, links }))).toBeInstanceOf(Array)
  })
})
