import { hooksDir } from '../state/own-paths.ts'

/** One hook of ours as Claude Code's settings know it. */
type HookEntry = {
  type: 'command'
  command: string
  timeout: number
  statusMessage: string
  onFailure?: 'block'
  async?: true
}

type HookGroup = { matcher?: string; hooks: HookEntry[] }
export type HookEntries = { [event: string]: HookGroup[] }

type HookDefinition = {
  event: string
  file: string
  /** On which calls it starts: all but the harmless tools, or these. */
  calls?: 'all-but-harmless' | 'Bash' | 'ExitPlanMode'
  /** In seconds. `plan` is the review's deadline and a margin. */
  timeout: number | 'plan'
  /** Whether a failure of the hook must refuse what it was asked about. */
  failClosed: boolean
  /** Only where the second reviewer follows the implementation. */
  reflect?: true
  /** What the hook is told beside the event. */
  argument?: string
  /** Claude goes on meanwhile, and hears of it later. */
  background?: true
  statusMessage: string
  /** Where the second reviewer follows the implementation. */
  reflectMessage?: string
}

const hookDefinitions = [
  {
    event: 'PreToolUse',
    file: 'pre-tool-use',
    calls: 'all-but-harmless',
    timeout: 10,
    failClosed: true,
    statusMessage: 'plan-gate: is this allowed yet',
  },
  {
    event: 'PreToolUse',
    file: 'pre-tool-use',
    calls: 'ExitPlanMode',
    timeout: 'plan',
    failClosed: true,
    statusMessage: 'plan-gate: the plan is reviewed before you see it; this takes minutes',
  },
  {
    event: 'PostToolUse',
    file: 'post-tool-use',
    calls: 'all-but-harmless',
    timeout: 'plan',
    failClosed: false,
    statusMessage: 'plan-gate: looking at the plan; a review of it takes minutes',
    reflectMessage: 'plan-gate: looking at the change; a review of it takes a minute or more',
  },
  {
    event: 'PostToolUseFailure',
    file: 'post-tool-use-failure',
    calls: 'Bash',
    timeout: 60,
    failClosed: false,
    statusMessage: 'plan-gate: looking at the plan',
  },
  {
    event: 'PostToolUseFailure',
    file: 'post-tool-use-failure',
    argument: 'reflect',
    calls: 'Bash',
    timeout: 'plan',
    failClosed: false,
    reflect: true,
    background: true,
    statusMessage: 'plan-gate: what the failure means',
  },
  {
    event: 'SessionStart',
    file: 'session-start',
    timeout: 20,
    failClosed: false,
    statusMessage: 'plan-gate: where the plan stands',
  },
  {
    event: 'ConfigChange',
    file: 'config-change',
    timeout: 10,
    failClosed: true,
    statusMessage: 'plan-gate: does the gate still hold',
  },
  {
    event: 'Stop',
    file: 'stop',
    timeout: 'plan',
    failClosed: false,
    reflect: true,
    statusMessage: 'plan-gate: a last look at the work',
  },
  {
    event: 'PreCompact',
    file: 'pre-compact',
    timeout: 'plan',
    failClosed: false,
    reflect: true,
    statusMessage: 'plan-gate: before the context is compacted',
  },
] as const satisfies readonly HookDefinition[]

/** The bundles that an install copies: one per event. */
export const hookFiles: readonly string[] = [...new Set(hookDefinitions.map((row) => row.file))]

/** The ones that run after nearly every call; they are compiled through V8's code cache, which lies beside them. */
export const cachedFiles: readonly string[] = ['pre-tool-use', 'post-tool-use']

/** And those that the hooks load only when they need them. */
const lazyFiles: readonly string[] = ['compile-config', 'judge-command', 'reviews', 'session-events']

export const statusLineFile = 'status-line'

/** Everything that stands in `hooksDir` as `<name>.mjs`. */
export const bundleNames: readonly string[] = [...hookFiles, ...lazyFiles, statusLineFile]

type EntryOptions = {
  /** The node that runs the hooks, absolute; plain `node` where the entries are committed for a team. */
  node: string
  harmlessTools: readonly string[]
  planTimeoutSeconds: number
  reflect: boolean
}

/** The entries that install writes, that the launcher passes again, and that the self-test runs. */
export function hookEntries(options: EntryOptions): HookEntries {
  const wanted: readonly HookDefinition[] = hookDefinitions.filter(
    (row: HookDefinition) => options.reflect || row.reflect !== true,
  )
  const entries: HookEntries = {}
  for (const row of wanted) entries[row.event] = [...(entries[row.event] ?? []), groupOf(row, options)]
  return entries
}

/** The line below Claude Code's prompt, as its settings know it. */
export type StatusLine = { type: 'command'; command: string; refreshInterval: number }

/**
 * While a plan is reviewed nothing happens in the session that would have the line drawn anew; hence the interval, in
 * seconds.
 */
export const statusLineEntry = (node: string): StatusLine => ({
  type: 'command',
  command: commandOf(statusLineFile, node),
  refreshInterval: 5,
})

const groupOf = (row: HookDefinition, options: EntryOptions): HookGroup => ({
  ...(row.calls === undefined ? {} : { matcher: matcherOf(row.calls, options.harmlessTools) }),
  hooks: [
    {
      type: 'command',
      command: `${commandOf(row.file, options.node, row.argument)}${row.failClosed ? ' || exit 2' : ''}`,
      timeout: row.timeout === 'plan' ? options.planTimeoutSeconds : row.timeout,
      statusMessage: (options.reflect ? row.reflectMessage : undefined) ?? row.statusMessage,
      ...(row.failClosed ? { onFailure: 'block' } : {}),
      ...(row.background ? { async: true } : {}),
    },
  ],
})

const matcherOf = (calls: NonNullable<HookDefinition['calls']>, harmless: readonly string[]): string =>
  calls === 'all-but-harmless' ? `^(?!(?:${harmless.join('|')})$).*$` : calls

/**
 * Shell form, because only it can turn a missing node, a crash or a kill into the 2 that blocks, on every version.
 * `NODE_OPTIONS=` keeps settings of others from loading code into the hook or from printing before its answer.
 */
const commandOf = (file: string, node: string, word?: string): string =>
  `NODE_OPTIONS= ${shellWord(node)} "\${CLAUDE_PROJECT_DIR}/${hooksDir}/${file}.mjs"${word === undefined ? '' : ` ${word}`}`

/** Whether a hook, or the status line, of some settings file is ours, whatever version wrote it. */
export const isOwnHook = (hook: unknown): hook is { command: string; timeout?: unknown } => {
  const command = (hook as { command?: unknown } | null)?.command
  return typeof command === 'string' && command.includes(`/${hooksDir}/`)
}

/** A text as one word of a POSIX shell. */
export const shellWord = (text: string): string =>
  /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
