import { hookEntries } from '../../../../src/install/hook-entries.ts'
import {
  formatSettings,
  keepsDenials,
  keepsOwnHooks,
  ownHooksOf,
  parseSettings,
  settingsThreats,
  shapeProblem,
  withOwnEntries,
  withoutOwnEntries,
} from '../../../../src/install/settings.ts'
import { demand, same, type Target } from '../target.ts'

const entries = hookEntries({
  node: '/usr/bin/node',
  harmlessTools: ['Read'],
  planTimeoutSeconds: 600,
  reflect: true,
  digestOf: () => 'a',
})
const denied = ['Edit(/.claude/review/**)', 'Edit(/.claude/settings.json)']
const ours = entries.PreToolUse?.[0]?.hooks[0]
const theirs = {
  model: 'opus',
  env: { A: '1' },
  hooks: {
    PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: './lint.sh', timeout: 5 }] }],
    Notification: [{ hooks: [{ type: 'prompt', prompt: 'beep' }] }],
  },
  permissions: { allow: ['Bash(ls)'], deny: ['Read(.env)', denied[0]], ask: [] },
}
const installed = withOwnEntries({}, entries, denied)

/** A settings file: ours are put in and taken out again, and what was there stays to the byte. */
export const settings: Target = {
  name: 'settings',
  seeds: [
    ...['', '{}', ' \n', '[]', 'null', '"x"', '{"hooks":{}}', '{"hooks":{"PreToolUse":[]},"permissions":{"deny":[]}}'],
    JSON.stringify(theirs),
    JSON.stringify(theirs, null, 4),
    JSON.stringify(installed, null, 2),
    JSON.stringify(withOwnEntries(theirs, entries, denied), null, '\t'),
    JSON.stringify({ disableAllHooks: true, hooks: { PreToolUse: 'x', Stop: [{ hooks: [1] }] }, permissions: [] }),
    JSON.stringify({ env: { LD_PRELOAD: 'x', GIT_DIR: 'y', GIT_CONFIG_COUNT: '1' }, plansDirectory: 'p' }),
    JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ ...ours, async: true, timeout: 0.001 }] }] } }),
  ],
  pieces: [
    ...['hooks', 'permissions', 'deny', 'allow', 'ask', 'env', 'disableAllHooks', 'PreToolUse', 'PostToolUse', 'Stop'],
    ...[
      'type',
      'command',
      'timeout',
      'onFailure',
      'block',
      'matcher',
      'async',
      'statusMessage',
      'LD_PRELOAD',
      'BASH_ENV',
    ],
    ...[
      'RIPGREP_CONFIG_PATH',
      'GIT_DIR',
      'CLAUDE_CODE_SAFE_MODE',
      ours?.args?.join(' ') ?? '',
      denied[0] ?? '',
      '/.claude/hooks/plan-gate/',
    ],
    ...[
      '{}',
      '[]',
      '{"hooks":[]}',
      '[{"hooks":[{"type":"command"}]}]',
      'true',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\ufeff',
    ],
  ],
  parses: 6,
  open: () => ({ look }),
}

function look(text: string): string {
  const carries = settingsThreats(text, { kind: 'carries', installed }, false)
  const other = settingsThreats(text, { kind: 'others', installed }, false)
  for (const { what, remedy } of [...carries, ...other]) demand(what !== '' && remedy !== '', 'a threat without words')
  const parsed = parseSettings(text)
  if (parsed.kind === 'invalid') {
    demand(carries.length > 0 && other.length > 0, 'a file that Claude Code skips is no threat')
    return 'invalid'
  }
  const before = parsed.settings
  demand(formatSettings(before, text).trim() !== '', 'nothing is left of it')
  if (text === formatSettings(before, text))
    demand(JSON.stringify(JSON.parse(text)) === JSON.stringify(before), 'it is read as something else')
  if (shapeProblem(before, Object.keys(entries)) !== null) return 'misshapen'
  const own = ownHooksOf(before).length
  const added = withOwnEntries(before, entries, denied)
  same(withOwnEntries(added, entries, denied), added, 'ours are put in twice')
  demand(keepsOwnHooks(added, installed) && keepsDenials(added, installed), 'ours are missing in what was made')
  demand(ownHooksOf(added).length === ownHooksOf(installed).length, 'other hooks of ours are left in it')
  const again = parseSettings(formatSettings(added, text))
  same(again.kind === 'settings' ? again.settings : null, added, 'what is written is read as something else')
  const removed = withoutOwnEntries(added, denied, before)
  demand(ownHooksOf(removed).length === 0, 'ours are left in it')
  if (own === 0) same(removed, before, 'it is not as before')
  if (own === 0)
    demand(formatSettings(removed, text) === formatSettings(before, text), 'it is not as before, to the byte')
  const isWhole = carries.length === 0
  demand(!isWhole || keepsOwnHooks(before, installed), 'our hooks are missing, and nobody says so')
  demand(!isWhole || before.disableAllHooks !== true, 'hooks are switched off, and nobody says so')
  return `own ${own} ${carries.length} ${other.length}`
}
