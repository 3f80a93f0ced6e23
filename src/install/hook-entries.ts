import { bundleFile, bundlePath, cachedWith, hooksDir, statusLineFile } from '../state/own-paths.ts'
import { clearedVariables } from '../system/environment.ts'
import { shellWord } from '../text/own-commands.ts'
import { hookLoader, localLoader, pluginLoader } from './hook-loader.ts'

/** A hook as it stands in Claude Code's settings. */
type HookEntry = {
  type: 'command'
  command: string
  args?: string[]
  timeout: number
  statusMessage: string
  onFailure?: 'block'
  async?: true
}

type HookGroup = { matcher?: string; hooks: HookEntry[] }
export type HookEntries = { [event: string]: HookGroup[] }

const severalEvents = 'session-events'

type HookDefinition = {
  event: string
  file: string
  /** The calls that it runs on: all except harmless tools, or these. */
  calls?: 'most' | 'Bash' | 'ExitPlanMode'
  /** In seconds. `plan`: the deadline of a review and a margin. */
  timeout: number | 'plan'
  /** A failure of the hook must block the call. */
  failClosed?: true
  /** Only with reflect: a second reviewer follows the implementation. */
  reflect?: true
  /** Passed to the bundle's `start`; unset: the event, for the bundle of several. */
  word?: string
  /** Claude continues meanwhile and gets the answer later. */
  background?: true
  /** The status message, and the one with reflect. */
  says: string
  saysReflecting?: string
}

const hookDefinitions: readonly HookDefinition[] = [
  {
    event: 'PreToolUse',
    file: 'pre-tool-use',
    calls: 'most',
    timeout: 10,
    failClosed: true,
    says: 'checking the call',
  },
  {
    event: 'PreToolUse',
    file: 'pre-tool-use',
    calls: 'ExitPlanMode',
    timeout: 'plan',
    failClosed: true,
    says: 'the plan is reviewed before you see it; this takes minutes',
  },
  {
    event: 'PostToolUse',
    file: 'post-tool-use',
    calls: 'most',
    timeout: 'plan',
    says: 'a review takes minutes (plan-gate watch)',
    saysReflecting: 'checking the change; a review takes a minute or more',
  },
  {
    event: 'PostToolUseFailure',
    file: 'post-tool-use',
    word: 'failure',
    calls: 'most',
    timeout: 60,
    says: 'checking the plan',
  },
  {
    event: 'PostToolUseFailure',
    file: 'post-tool-use',
    word: 'reflect',
    calls: 'Bash',
    timeout: 'plan',
    reflect: true,
    background: true,
    says: 'reviewing the failure',
  },
  { event: 'SessionStart', file: severalEvents, timeout: 20, says: 'status of the plan' },
  { event: 'SessionEnd', file: severalEvents, timeout: 5, says: 'the session ends' },
  {
    event: 'UserPromptSubmit',
    file: 'post-tool-use',
    word: 'prompt',
    timeout: 10,
    says: 'what you have decided meanwhile',
  },
  { event: 'ConfigChange', file: severalEvents, timeout: 10, failClosed: true, says: 'checking that the gate holds' },
  { event: 'Stop', file: severalEvents, timeout: 'plan', reflect: true, says: 'final review of the work' },
  {
    event: 'PreCompact',
    file: severalEvents,
    timeout: 'plan',
    reflect: true,
    says: 'review before the context is compacted',
  },
]

type EntryOptions = {
  /** The absolute path of the node that runs the hooks; plain `node` if the entries are committed for a team. */
  node: string
  harmlessTools: readonly string[]
  planTimeoutSeconds: number
  reflect: boolean
  /** The worktree, for entries in `settings.local.json`. */
  localIn?: string
  /** The sha256 of an installed file; null if it is not installed. */
  digestOf: (path: string) => string | null
  platform?: NodeJS.Platform
}

/** The entries that install writes, the launcher passes again, and the self-test runs. */
export function hookEntries(options: EntryOptions): HookEntries {
  const definitions = hookDefinitions.filter(({ reflect }) => options.reflect || reflect !== true)
  const entries = entriesOf(definitions, (row) => groupOf(row, options, startOf(row, options)))
  // Windows has no sandbox, and perhaps no such shell.
  if ((options.platform ?? process.platform) === 'win32') return entries
  return { ...entries, SessionStart: [...(entries.SessionStart ?? []), { hooks: [startInShell] }] }
}

function entriesOf(rows: readonly HookDefinition[], group: (row: HookDefinition) => HookGroup): HookEntries {
  const entries: HookEntries = {}
  for (const row of rows) entries[row.event] = [...(entries[row.event] ?? []), group(row)]
  return entries
}

/**
 * The plugin's `hooks/hooks.json`, the same on every machine: what its hooks run is registered (`state/gates.ts`). Where no
 * gate is, a status message would be a flash of words about nothing.
 */
export const pluginHooks = (harmlessTools: readonly string[]) => ({
  description: 'plan-gate: silent wherever no gate was opened.',
  hooks: entriesOf(hookDefinitions, (row) =>
    groupOf(row, { harmlessTools, planTimeoutSeconds: maxHookTimeout }, startOfPlugin(row)),
  ),
})

/** The maximum of `plan.deadline_seconds`, and the margin. */
export const maxHookTimeout = 7_260

/**
 * Does nothing, in shell form: where CLAUDE_CODE_SHELL_PREFIX holds, it leaves its mark, and the first command of the
 * session may run in the sandbox.
 */
const startInShell: HookEntry = {
  type: 'command',
  command: `: "\${CLAUDE_PROJECT_DIR}/${hooksDir}/"`,
  timeout: 10,
  statusMessage: 'plan-gate: checking that commands start in the sandbox',
}

export type StatusLine = { type: 'command'; command: string; refreshInterval: number }

/** During a review nothing else in the session refreshes the line; the interval is in seconds. */
export const statusLineEntry = (node: string): StatusLine => ({
  type: 'command',
  command: `NODE_OPTIONS= ${shellWord(node)} "\${CLAUDE_PROJECT_DIR}/${bundlePath(statusLineFile)}"`,
  refreshInterval: 5,
})

const groupOf = (
  row: HookDefinition,
  options: Pick<EntryOptions, 'harmlessTools' | 'planTimeoutSeconds'> & { reflect?: boolean },
  start: StartedProgram,
): HookGroup => ({
  ...(row.calls === undefined ? {} : { matcher: matcherOf(row.calls, options.harmlessTools) }),
  hooks: [
    {
      type: 'command',
      ...start,
      timeout: row.timeout === 'plan' ? options.planTimeoutSeconds : row.timeout,
      statusMessage: statusMessageOf(row, options.reflect),
      ...(row.failClosed ? { onFailure: 'block' } : {}),
      ...(row.background ? { async: true } : {}),
    },
  ],
})

/** `reflect`: undefined in the plugin, which has no words about nothing. */
const statusMessageOf = ({ says, saysReflecting = says }: HookDefinition, reflect: boolean | undefined): string =>
  reflect === undefined ? 'plan-gate' : `plan-gate: ${reflect ? saysReflecting : says}`

const matcherOf = (calls: NonNullable<HookDefinition['calls']>, harmless: readonly string[]): string =>
  calls === 'most' ? `^(?!(?:${harmless.join('|')})$).*$` : calls

/**
 * Exec form: a shell could be told by its environment to run nothing and end with 0, and CLAUDE_CODE_SHELL_PREFIX would
 * apply. Whatever does not start, crashes or is killed is blocked by `onFailure`.
 */
function startOf(row: HookDefinition, { node, digestOf, localIn, platform }: EntryOptions): StartedProgram {
  const path = bundlePath(row.file)
  return startNode(
    node,
    platform,
    (localIn === undefined ? hookLoader : localLoader)(exitCodeOf(row)),
    `${localIn ?? '${CLAUDE_PROJECT_DIR}'}/${path}`,
    digestOf(path) ?? '',
    cachePinsOf(row, digestOf),
    ...wordOf(row),
  )
}

/** Empty without any: committed entries pin none. */
function cachePinsOf({ file }: HookDefinition, digestOf: EntryOptions['digestOf']): string {
  const pins = (cachedWith[file] ?? []).flatMap((name) => {
    const digest = digestOf(`${bundlePath(name)}.cache`)
    return digest === null ? [] : [[`${name}.mjs.cache`, digest]]
  })
  return pins.length === 0 ? '' : JSON.stringify(Object.fromEntries(pins))
}

/** The plugin's entries are the same on every machine, so it is not for Windows. */
const startOfPlugin = (row: HookDefinition): StartedProgram =>
  startNode('node', 'linux', pluginLoader(exitCodeOf(row)), 'plugin', bundleFile(row.file), ...wordOf(row))

type StartedProgram = { command: string; args: string[] }

/** Windows has no `env`: what would change node is kept from it by the launcher alone there. */
const startNode = (node: string, platform: NodeJS.Platform = process.platform, ...args: string[]): StartedProgram =>
  platform === 'win32'
    ? { command: node, args: ['-e', ...args] }
    : { command: '/usr/bin/env', args: [...clearedVariables().map((name) => `-u${name}`), node, '-e', ...args] }

const exitCodeOf = ({ event }: HookDefinition): number => (blocksForever.includes(event) ? 1 : 2)
const wordOf = ({ word, file, event }: HookDefinition): string[] =>
  word === undefined ? (file === severalEvents ? [event] : []) : [word]

/** Where exit code 2 would keep Claude from ending its turn or from compacting, or the user from typing. */
const blocksForever = ['Stop', 'PreCompact', 'UserPromptSubmit']
