import { describe, expect, it } from 'vitest'
import { type HookEntries, hookEntries, statusLineEntry } from '../../../src/install/hook-entries.ts'
import { hookLoader } from '../../../src/install/hook-loader.ts'
import {
  formatSettings,
  hasOtherStatusLine,
  hasOwnEntries,
  keepsOwnHooks,
  ownHooksOf,
  parseSettings,
  type Settings,
  settingsThreats,
  shapeProblem,
  withOwnEntries,
  withoutOwnEntries,
} from '../../../src/install/settings.ts'
import { hookFiles } from '../../../src/state/own-paths.ts'
import { clearedVariables } from '../../../src/system/environment.ts'

const options = {
  node: '/usr/bin/node',
  harmlessTools: ['Read', 'Grep'],
  planTimeoutSeconds: 600,
  reflect: false,
  digestOf: (path: string) => `sha256 of ${path.slice(path.lastIndexOf('/') + 1)}`,
}
const entries: HookEntries = hookEntries(options)
const caches = ['pre-tool-use', 'check-commands', 'parse-command'].map((name) => `${name}.mjs.cache`)
const denied = ['Edit(/.claude/review/**)']

const theirs: Settings = {
  model: 'opus',
  hooks: {
    PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: './lint.sh' }] }],
    Notification: [{ hooks: [{ type: 'command', command: 'beep' }] }],
  },
  permissions: { allow: ['Bash(ls)'], deny: ['Read(.env)'] },
}

describe('our hook entries', () => {
  it('are built to fail closed where the gate is concerned', () => {
    expect(entries.PreToolUse).toEqual([
      {
        matcher: '^(?!(?:Read|Grep)$).*$',
        hooks: [
          {
            type: 'command',
            command: '/usr/bin/env',
            args: [
              ...clearedVariables().map((name) => `-u${name}`),
              ...['/usr/bin/node', '-e', hookLoader(2)],
              '${CLAUDE_PROJECT_DIR}/.claude/hooks/plan-gate/pre-tool-use.mjs',
              'sha256 of pre-tool-use.mjs',
              JSON.stringify(Object.fromEntries(caches.map((name) => [name, `sha256 of ${name}`]))),
            ],
            timeout: 10,
            statusMessage: 'plan-gate: checking the call',
            onFailure: 'block',
          },
        ],
      },
      { matcher: 'ExitPlanMode', hooks: [expect.objectContaining({ timeout: 600, onFailure: 'block' })] },
    ])
  })

  it('start node itself on Windows, which has no env, and run nothing in a shell', () => {
    const node = 'C:\\Program Files\\nodejs\\node.exe'
    const onWindows = hookEntries({ ...options, node, platform: 'win32', reflect: true })
    const hooks = Object.values(onWindows).flatMap((groups) => groups.flatMap((group) => group.hooks))
    expect(hooks.map(({ command, args }) => [command, args?.[0]])).toEqual(hooks.map(() => [node, '-e']))
    expect(onWindows.PreToolUse?.[0]?.hooks[0]?.args?.slice(1)).toEqual(
      entries.PreToolUse?.[0]?.hooks[0]?.args?.slice(clearedVariables().length + 2),
    )
  })

  it('ask for the reviewer of the implementation only where it is wanted', () => {
    const reflecting = hookEntries({ ...options, reflect: true })
    expect([Object.keys(entries), Object.keys(reflecting)]).toEqual([
      [
        'PreToolUse',
        'PostToolUse',
        'PostToolUseFailure',
        'SessionStart',
        'SessionEnd',
        'UserPromptSubmit',
        'ConfigChange',
      ],
      [
        'PreToolUse',
        'PostToolUse',
        'PostToolUseFailure',
        'SessionStart',
        'SessionEnd',
        'UserPromptSubmit',
        'ConfigChange',
        'Stop',
        'PreCompact',
      ],
    ])
    const started = JSON.stringify(reflecting).match(/(?<=plan-gate\/)[a-z-]+(?=\.mjs(?:\.br)?")/g)
    expect([...new Set(started)]).toEqual(hookFiles)
  })
})

describe('settings with and without us', () => {
  it.each<[string, Settings]>([
    ['nothing', {}],
    ['hooks of their own', theirs],
    ['empty blocks', { hooks: {}, permissions: { deny: [] } }],
    ['an empty list for one of our events', { hooks: { PreToolUse: [] } }],
    ['a rule that is also ours', { permissions: { deny: ['Edit(/.claude/review/**)'] } }],
    ['hooks in a form that nobody knows', { hooks: { PreToolUse: 'none' } as unknown as Settings }],
    ['rules in an order of their own', { permissions: { allow: ['a'], deny: ['b'], ask: ['c'] } }],
    ['a name that means something to JavaScript', JSON.parse('{"hooks":{"__proto__":[{"hooks":[]}]}}')],
  ])('come back the same: %s', (_, before) => {
    const during = withOwnEntries(before, entries, denied)
    expect(ownHooksOf(during).map(({ event }) => event)).toEqual([
      'PreToolUse',
      'PreToolUse',
      'PostToolUse',
      'PostToolUseFailure',
      'SessionStart',
      'SessionStart',
      'SessionEnd',
      'UserPromptSubmit',
      'ConfigChange',
    ])
    expect(keepsOwnHooks(during, withOwnEntries({}, entries, denied))).toBe(true)
    if (typeof (before.hooks as Settings | undefined)?.PreToolUse !== 'string')
      expect(JSON.stringify(withoutOwnEntries(during, denied, before))).toBe(JSON.stringify(before))
  })

  it.each<[Settings, string | null]>([
    [theirs, null],
    [{}, null],
    [{ hooks: {}, permissions: {} }, null],
    [{ hooks: { Stop: 'x' } }, null],
    [{ hooks: -1 }, 'hooks is not an object'],
    [{ hooks: [] }, 'hooks is not an object'],
    [{ hooks: { PreToolUse: 'x' } }, 'hooks.PreToolUse is not a list'],
    [{ permissions: [] }, 'permissions is not an object'],
    [{ permissions: { deny: 'all' } }, 'permissions.deny is not a list'],
  ])('have room for us, or it is said why not: %j', (settings, expected) => {
    expect(shapeProblem(settings, Object.keys(entries))).toBe(expected)
  })

  it('tell our hooks also where somebody wrote nonsense beside them', () => {
    const hook = { type: 'command', command: '/.claude/hooks/plan-gate/x.mjs', timeout: { toString: 1 } }
    expect(ownHooksOf({ hooks: { Stop: [{ hooks: [hook] }] } })).toEqual([
      { event: 'Stop', command: hook.command, args: [], timeout: 600 },
    ])
  })

  it('keep what others added in between', () => {
    const during = withOwnEntries(theirs, entries, denied)
    const later = {
      ...during,
      theme: 'dark',
      permissions: { ...(during.permissions as Settings), ask: ['Bash(git push)'] },
    }
    expect(withoutOwnEntries(later, denied, theirs)).toEqual({
      ...theirs,
      theme: 'dark',
      permissions: { ...(theirs.permissions as Settings), ask: ['Bash(git push)'] },
    })
  })

  it('are the same after a second install', () => {
    const once = withOwnEntries(theirs, entries, denied)
    expect(withOwnEntries(once, entries, denied)).toEqual(once)
  })

  it('replace the hooks of an older version of ours, and leave those beside them', () => {
    const older = {
      hooks: {
        PreToolUse: [
          {
            matcher: '*',
            hooks: [
              { type: 'command', command: 'node "$X/.claude/hooks/plan-gate/pre-tool-use.mjs"' },
              { type: 'command', command: 'mine' },
            ],
          },
        ],
      },
    }
    expect(withOwnEntries(older, entries, []).hooks).toMatchObject({
      PreToolUse: [{ matcher: '*', hooks: [{ type: 'command', command: 'mine' }] }, ...(entries.PreToolUse ?? [])],
    })
  })

  it.each([
    ['{\n\t"a": 1\n}', '{\n\t"b": 2\n}'],
    ['{\n    "a": 1\n}\n', '{\n    "b": 2\n}\n'],
    ['', '{\n  "b": 2\n}\n'],
    ['{"a":1}', '{\n  "b": 2\n}'],
  ])('are written in the style of the file: %j', (like, expected) => {
    expect(formatSettings({ b: 2 }, like)).toBe(expected)
  })

  it.each([
    ['', 'settings'],
    ['\ufeff{}', 'settings'],
    ['{', 'invalid'],
    ['[]', 'invalid'],
    ['null', 'invalid'],
    ['{} // comment', 'invalid'],
    [`{"a":${'['.repeat(99)}${']'.repeat(99)}}`, 'settings'],
    [`{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`, 'invalid'],
  ])('are read as Claude Code reads them: %j is %s', (text, kind) => {
    expect(parseSettings(text).kind).toBe(kind)
  })
})

describe('the status line', () => {
  const line = statusLineEntry('/opt/my node/node')
  const own = { type: 'command', command: './line.sh' }

  it('is run by our node, without what others load into it, and now and then by itself', () => {
    expect(line).toEqual({
      type: 'command',
      command: `NODE_OPTIONS= '/opt/my node/node' "\${CLAUDE_PROJECT_DIR}/.claude/hooks/plan-gate/status-line.mjs"`,
      refreshInterval: 5,
    })
  })

  it.each<[string, Settings]>([
    ['nothing', {}],
    ['other settings', theirs],
    [
      'an older one of ours',
      { model: 'opus', statusLine: { ...line, command: 'node /x/.claude/hooks/plan-gate/old.mjs' } },
    ],
  ])('is added to %s, replaced, and taken out again', (_, before) => {
    const { statusLine: _older, ...without } = before
    const during = withOwnEntries(before, entries, denied, line)
    expect([during.statusLine, hasOtherStatusLine(during), hasOwnEntries(during)]).toEqual([line, false, true])
    expect(withOwnEntries(during, entries, denied, line)).toEqual(during)
    expect(withOwnEntries(during, entries, denied).statusLine).toBeUndefined()
    expect(withoutOwnEntries(during, denied, without)).toEqual(without)
  })

  it('of somebody else stays', () => {
    const during = withOwnEntries({ statusLine: own }, entries, denied)
    expect([during.statusLine, hasOtherStatusLine(during)]).toEqual([own, true])
    expect(withoutOwnEntries(during, denied)).toEqual({ statusLine: own })
    expect([hasOwnEntries({ statusLine: own }), hasOwnEntries({ statusLine: line }), hasOwnEntries({})]).toEqual([
      false,
      true,
      false,
    ])
  })
})

describe('settingsThreats', () => {
  const installed = withOwnEntries({}, entries, denied)
  const ours = { kind: 'carries', installed } as const
  const other = { kind: 'others', installed } as const
  const whats = (text: string | null, expected: typeof ours | typeof other, isUsers = true): string[] =>
    settingsThreats(text, expected, isUsers).map(({ what }) => what)

  /** Our own gate once more, in another form. */
  function withAnother(form: object): string {
    const settings = structuredClone(installed) as { hooks: { PreToolUse: { matcher: string; hooks: object[] }[] } }
    const [group] = settings.hooks.PreToolUse
    settings.hooks.PreToolUse.push({ matcher: '*', hooks: [{ ...group?.hooks[0], ...form }] })
    return JSON.stringify(settings)
  }

  it('finds nothing wrong with what we install, nor with settings of the user', () => {
    expect(whats(JSON.stringify(withOwnEntries(theirs, entries, denied)), ours)).toEqual([])
    expect(whats(JSON.stringify(theirs), other)).toEqual([])
    expect(whats(JSON.stringify(installed), other)).toEqual([])
    expect(whats('{"env":{"PATH":"/opt/bin","NODE_OPTIONS":"--max-old-space-size=4096"}}', other)).toEqual([])
    expect(whats('{"statusLine":{"type":"command","command":"./mine.sh","refreshInterval":0}}', other)).toEqual([])
    expect(whats(null, other)).toEqual([])
  })

  it.each<[string, string | null, typeof ours | typeof other, RegExp]>([
    ['switched off', '{"disableAllHooks":true}', other, /disableAllHooks/],
    ['gone', null, ours, /missing/],
    ['emptied', '{}', ours, /missing or changed/],
    ['altered', JSON.stringify(installed).replace('sha256 of pre-tool-use.mjs', 'another'), ours, /missing or changed/],
    ['another matcher', JSON.stringify(installed).replace('^(?!', '^(?!Write|'), ours, /missing or changed/],
    ['ours beside one of ours that does not wait', withAnother({ async: true }), ours, /missing or changed/],
    ['broken', '{"hooks":', other, /skip the whole file/],
    [
      'an unknown hook type',
      '{"hooks":{"Stop":[{"hooks":[{"type":"shell","command":"x"}]}]}}',
      other,
      /skip the whole file.*type "shell"/,
    ],
    [
      'a hook type that only looks like one',
      '{"hooks":{"Stop":[{"hooks":[{"type":["command"],"command":"x"}]}]}}',
      other,
      /skip the whole file.*type \["command"\]/,
    ],
    [
      'a bad onFailure',
      '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x","onFailure":"open"}]}]}}',
      other,
      /onFailure "open"/,
    ],
    [
      'a negative timeout',
      '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x","timeout":-1}]}]}}',
      other,
      /timeout -1/,
    ],
    ['bad permissions', '{"permissions":{"deny":"all"}}', other, /permissions.deny/],
    [
      'our hook, told not to wait',
      JSON.stringify(installed).replace('"onFailure":"block"', '"async":true'),
      other,
      /in another form/,
    ],
    ['a status line in words', '{"statusLine":"line.sh"}', other, /skip the whole file: statusLine is not an object/],
    ['no status line', '{"statusLine":null}', ours, /skip the whole file: statusLine is not an object/],
    ['a fixed line', '{"statusLine":{"type":"static","command":"x"}}', other, /statusLine has the type "static"/],
    ['a line without a command', '{"statusLine":{"type":"command"}}', other, /statusLine has no command/],
    ['odd padding', '{"statusLine":{"type":"command","command":"x","padding":"0"}}', other, /padding is not a number/],
    [
      'an odd indicator',
      '{"statusLine":{"type":"command","command":"x","hideVimModeIndicator":1}}',
      other,
      /hideVimModeIndicator is not true or false/,
    ],
    ['a preloaded library', '{"env":{"LD_PRELOAD":"x.so"}}', other, /LD_PRELOAD/],
    ['no hooks by environment', '{"env":{"CLAUDE_CODE_SAFE_MODE":"1"}}', other, /CLAUDE_CODE_SAFE_MODE/],
  ])('finds a file that is %s', (_, text, expected, what) => {
    expect(whats(text, expected).join('\n')).toMatch(what)
  })

  it.each([
    { name: 'PATH', value: '/opt/bin:/usr/bin' },
    { name: 'SHELL', value: '/tmp/bash' },
    { name: 'HOME', value: '/tmp' },
    { name: 'XDG_CONFIG_HOME', value: '/tmp' },
    { name: 'CLAUDE_CONFIG_DIR', value: '/tmp' },
    { name: 'CLAUDE_ENV_FILE', value: '/tmp/env.sh' },
    { name: 'CLAUDE_CODE_SHELL', value: '/tmp/bash' },
    { name: 'CLAUDE_CODE_SHELL_PREFIX', value: '/tmp/run' },
    { name: 'GIT_TRACE', value: '/tmp/trace' },
    { name: 'GIT_TRACE2_EVENT', value: '/tmp/trace' },
    { name: 'OPENAI_BASE_URL', value: 'https://example.com/v1' },
    { name: 'CODEX_HOME', value: './codex' },
    { name: 'NODE_TLS_REJECT_UNAUTHORIZED', value: '0' },
    { name: 'NODE_EXTRA_CA_CERTS', value: 'certificates/ca.pem' },
    { name: 'SSL_CERT_FILE', value: './ca.pem' },
    ...[
      ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'CURL_CA_BUNDLE', 'REQUESTS_CA_BUNDLE'],
      ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'https_proxy', 'Http_Proxy'],
      ...['NODE_OPTIONS', 'NODE_V8_COVERAGE', 'NODE_CHANNEL_FD', 'OPENSSL_CONF', 'OPENSSL_MODULES', 'SSLKEYLOGFILE'],
      ...['SHELLOPTS', 'BASHOPTS', 'PS4', 'ZDOTDIR', 'PROMPT_COMMAND', 'TMPDIR', 'XDG_CACHE_HOME', 'XDG_DATA_HOME'],
      ...['GIT_COMMON_DIR', 'GIT_EDITOR', 'GIT_SSH_COMMAND', 'GIT_AUTHOR_NAME', 'GCONV_PATH', 'LOCPATH'],
      ...['PYTHONSTARTUP', 'PYTHONPATH', 'PERL5OPT', 'PERL5LIB', 'RUBYOPT', 'JAVA_TOOL_OPTIONS', 'PAGER'],
    ].map((name) => ({ name, value: '/etc/company' })),
  ])('the user may set $name for all projects, and a worktree may not', ({ name, value }) => {
    const text = JSON.stringify({ env: { [name]: value } })
    expect(whats(text, other)).toEqual([])
    expect(whats(text, other, false)).toEqual([`its env sets ${name}, which changes what commands run, or who reviews`])
  })

  it.each([
    { OPENAI_API_KEY: 'k', CODEX_API_KEY: 'k' },
    { NODE_ENV: 'test', PYTHONUNBUFFERED: '1', BASH_DEFAULT_TIMEOUT_MS: '60000', TZ: 'UTC', DATABASE_URL: 'x' },
  ])('a worktree may set what redirects nothing: %j', (env) => {
    expect(whats(JSON.stringify({ env }), other, false)).toEqual([])
  })
})
