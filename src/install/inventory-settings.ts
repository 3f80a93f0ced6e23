import { parseDocument } from 'yaml'
import { shownJson, textsIn, withoutGaps } from '../gate/loaded-text.ts'
import { printable } from '../text/clean.ts'
import { isRecord } from '../text/json.ts'
import { isOwnHook, ownEntriesOf, parseSettings, prefixVariable, type Settings, wrapperIn } from './settings.ts'

/** One thing in a file of settings or servers. */
export type Finding = {
  readonly id: string
  readonly what: string
  readonly runs: readonly string[]
  /** What it consists of; undefined: the whole file. */
  readonly value: unknown
  /** Texts that may name programs of the repository. */
  readonly words: readonly string[]
}

/** Only entries equal to those of our install (`installed`) are ours: a name like ours can stand in any command. */
export function inSettings(text: string, installed: Settings): Finding[] {
  const parsed = parseObject(text, '.claude/settings.json')
  if ('id' in parsed) return [parsed]
  const own = new Set(
    Object.entries(ownEntriesOf(installed)).flatMap(([event, groups]) => hooksOf(event, groups).map(textOf)),
  )
  const isOwnStatusLine = (value: unknown): boolean =>
    isOwnHook(installed.statusLine) && JSON.stringify(value) === JSON.stringify(installed.statusLine)
  return Object.entries(parsed.settings).flatMap(([key, value]): Finding[] => {
    if (harmlessKeys.has(key) || (key === 'statusLine' && isOwnStatusLine(value))) return []
    if (key === 'hooks' && isRecord(value))
      return Object.entries(value).flatMap(([event, groups]) =>
        numbered(hooksOf(event, groups).filter((hook) => !own.has(textOf(hook)))),
      )
    if (key === 'env' && isRecord(value))
      return Object.entries(value).flatMap(([name, set]) =>
        name === prefixVariable && set === wrapperIn(installed) ? [] : variable(name, set),
      )
    if (key === 'permissions' && isRecord(value))
      return Object.entries(value).flatMap(([name, set]) => permission(name, set))
    return [finding(`setting:${key}`, `the setting ${printable(key)}`, value)]
  })
}

const textOf = ({ value }: Finding): string => JSON.stringify(value)

const numbered = (findings: readonly Finding[]): Finding[] =>
  findings.map((one, at) => ({ ...one, id: `${one.id}:${at + 1}` }))

/** Also where a key stands twice: one reader takes the first, another the last. */
function parseObject(text: string, path: string): { settings: Settings } | Finding {
  const parsed = parseSettings(text)
  const why =
    parsed.kind === 'invalid'
      ? `is not valid: ${parsed.why}`
      : text.length > maxLength || text.split('":').length > maxKeys
        ? 'is too large'
        : hasKeyTwice(text)
          ? 'has a key twice'
          : null
  if (parsed.kind === 'settings' && why === null) return { settings: parsed.settings }
  return { id: `file:${path}`, what: `${path} ${printable(why ?? '')}`, runs: [], value: undefined, words: [] }
}

const maxLength = 200_000
/** Each is compared with each. */
const maxKeys = 2_000

/** JSON is YAML; only this one complaint of its parser is asked for. */
const hasKeyTwice = (text: string): boolean =>
  parseDocument(text.replace(/^\ufeff/, ''), { uniqueKeys: true }).errors.some(({ code }) => code === 'DUPLICATE_KEY')

const finding = (id: string, what: string, value: unknown): Finding => ({
  id,
  what,
  runs: [shown(shownJson(value))],
  value: [id, value],
  words: textsIn(value),
})

/** One line for a person to look at. Its end is always there: what is meant to be overlooked likes to stand there. */
export function shown(text: string): string {
  const clean = printable(withoutGaps(text), Number.POSITIVE_INFINITY)
  const left = clean.length - 2 * shownHalf
  return left <= 0 ? clean : `${clean.slice(0, shownHalf)} … (${left} characters left out) … ${clean.slice(-shownHalf)}`
}

const shownHalf = 200

function hooksOf(event: string, groups: unknown): Finding[] {
  const list = Array.isArray(groups) ? groups : [groups]
  const hooks = list.flatMap((group: unknown): { group: unknown; hook: unknown }[] =>
    isRecord(group) && Array.isArray(group.hooks)
      ? group.hooks.map((hook: unknown) => ({ group, hook }))
      : [{ group, hook: group }],
  )
  return hooks.map(({ group, hook }) => {
    const { matcher } = isRecord(group) ? group : {}
    return {
      ...finding(`hook:${event}`, `a hook that runs at ${printable(event)}`, hook),
      value: [event, matcher ?? null, hook],
    }
  })
}

const variable = (name: string, value: unknown): Finding[] =>
  harmlessVariables.has(name)
    ? []
    : [finding(`env:${name}`, `sets ${printable(name)} for everything in the session`, value)]

/** `allow` takes away the user's prompt, never a denial of the gate, which decides beside it. */
function permission(name: string, value: unknown): Finding[] {
  if (['allow', 'deny', 'ask', 'disableBypassPermissionsMode', 'disableAutoMode'].includes(name)) return []
  if (name === 'defaultMode' && (value === 'default' || value === 'plan')) return []
  return [finding(`setting:permissions.${name}`, `the setting permissions.${printable(name)}`, value)]
}

/** They choose a model, a text or how something is shown, or take rights away. */
const harmlessKeys = new Set(
  (
    '$schema model fallbackModel availableModels deniedModels language cleanupPeriodDays includeCoAuthoredBy ' +
    'includeGitInstructions attribution respectGitignore breakReminder quietHours companyAnnouncements ' +
    'spinnerTipsEnabled spinnerVerbs spinnerTipsOverride syntaxHighlightingDisabled maxProseWidth ' +
    'terminalTitleFromRename promptCacheTtl subagentPromptCacheTtl alwaysThinkingEnabled effortLevel maxEffortLevel ' +
    'autoCompactWindow autoCompactEnabled fastMode fastModePerSessionOptIn promptSuggestionEnabled ' +
    'emojiCompletionEnabled awaySummaryEnabled prefersReducedMotion timeFormat timeZone showThinkingSummaries ' +
    'showTurnDuration showMessageTimestamps terminalProgressBarEnabled verbose theme editorMode viewMode tui ' +
    'skillListingMaxDescChars skillListingBudgetFraction claudeMdExcludes disableSkillShellExecution ' +
    'disabledMcpjsonServers disableBundledSkills disableWorkflows disableArtifact disableRemoteControl ' +
    'disableAgentView disableAutoMode disableClaudeAiConnectors feedbackSurveyRate bashEditDiffEnabled ' +
    'bashOutputMaxChars taskOutputMaxChars minimumVersion autoUpdatesChannel fileCheckpointingEnabled ' +
    'todoFeatureEnabled autoMemoryEnabled prUrlTemplate'
  ).split(' '),
)

const harmlessVariables = new Set(
  (
    'ANTHROPIC_MODEL ANTHROPIC_SMALL_FAST_MODEL ANTHROPIC_DEFAULT_OPUS_MODEL ANTHROPIC_DEFAULT_SONNET_MODEL ' +
    'ANTHROPIC_DEFAULT_HAIKU_MODEL CLAUDE_CODE_SUBAGENT_MODEL CLAUDE_CODE_EFFORT_LEVEL CLAUDE_CODE_MAX_OUTPUT_TOKENS ' +
    'MAX_THINKING_TOKENS MAX_MCP_OUTPUT_TOKENS MCP_TIMEOUT MCP_TOOL_TIMEOUT BASH_DEFAULT_TIMEOUT_MS ' +
    'BASH_MAX_TIMEOUT_MS BASH_MAX_OUTPUT_LENGTH DISABLE_TELEMETRY DISABLE_ERROR_REPORTING DISABLE_AUTOUPDATER ' +
    'DISABLE_BUG_COMMAND DISABLE_COST_WARNINGS DISABLE_NON_ESSENTIAL_MODEL_CALLS DISABLE_PROMPT_CACHING ' +
    'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC CLAUDE_CODE_DISABLE_TERMINAL_TITLE ' +
    'CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR DO_NOT_TRACK NO_COLOR FORCE_COLOR'
  ).split(' '),
)

export function mcpServers(text: string, prefix: string): Finding[] {
  const path = `${prefix}.mcp.json`
  const parsed = parseObject(text, path)
  if ('id' in parsed) return [parsed]
  const { mcpServers: servers, ...others } = parsed.settings
  return [
    ...Object.entries(others).map(([key, value]) =>
      finding(`setting:${path}:${key}`, `${printable(key)} in ${path}`, value),
    ),
    ...(servers === undefined || isRecord(servers)
      ? Object.entries(servers ?? {}).map(([name, server]) =>
          finding(
            `mcp:${prefix}${name}`,
            `an MCP server, started with the session or when one of its tools is used`,
            server,
          ),
        )
      : [finding(`mcp:${prefix}`, 'MCP servers in a form that is not understood', servers)]),
  ]
}
