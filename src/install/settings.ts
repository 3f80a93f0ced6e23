import { join, resolve } from 'node:path'
import { type Refused, readRegular } from '../state/files.ts'
import { readThroughLinks } from '../state/linked-files.ts'
import { hooksDir, installRecordPath, localSettings, sandboxDir, sharedSettings } from '../state/own-paths.ts'
import { readInstallRecord } from '../state/records.ts'
import { sessionDirVariable } from '../system/environment.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { claudeDir } from '../system/paths.ts'
import { asList, asRecord, isRecord, type JsonRecord } from '../text/json.ts'
import type { HookEntries, StatusLine } from './hook-entries.ts'

/** Also in the main checkout's local file, and below the root in the files there. */
export function readThreats(root: string): FileThreat[] {
  const gitDirs = readGitDirs(root)
  const record = gitDirs === null ? null : readInstallRecord(gitDirs.own)
  return [
    ...(gitDirs !== null && record?.kind === 'refused' ? [unreadableRecord(gitDirs.own, record)] : []),
    ...findThreats(root, gitDirs?.mainRoot ?? null, record?.kind === 'read' ? record.value.settings : null),
    ...sessionThreats(root),
  ]
}

function sessionThreats(root: string): FileThreat[] {
  const dir = process.env[sessionDirVariable] ?? root
  const role: Role = { kind: 'others', installed: {} }
  return resolve(dir) === resolve(root)
    ? []
    : [...threatsIn(dir, sharedSettings, 'project', role), ...threatsIn(dir, localSettings, 'local', role)]
}

/** Without the record, missing hooks would not be noticed. */
const unreadableRecord = (gitDir: string, refused: Refused): FileThreat => ({
  ...{ file: join(gitDir, installRecordPath), dir: gitDir, path: installRecordPath, whose: 'install record', refused },
  what: refused.why,
  remedy: 'Run `plan-gate install`; `plan-gate doctor` shows details.',
})

/** `file` is `path` below `dir`. */
export type FileThreat = Threat & {
  file: string
  dir: string
  path: string
  whose: 'project' | 'local' | 'main checkout' | 'user' | 'install record'
  /** Set if the threat is that the file cannot be read. */
  refused?: Refused
}

/** The file that our entries were written to, its content then, in base64, and the `env` that the repository brought. */
export type InstalledSettings = { readonly path: string; readonly after: string; readonly brought_env?: string }

/** `readThreats` if the install record has been read already. */
export function findThreats(root: string, mainRoot: string | null, ours: InstalledSettings | null): FileThreat[] {
  const installed = settingsFrom(ours?.after ?? '')
  const others: Role = { kind: 'others', installed }
  const roleOf = (path: string): Role => (ours?.path === path ? { kind: 'carries', installed } : others)
  const broughtEnv = settingsOrEmpty(ours?.brought_env ?? '')
  return [
    ...threatsIn(root, sharedSettings, 'project', { ...roleOf(sharedSettings), broughtEnv }),
    ...threatsIn(root, localSettings, 'local', roleOf(localSettings)),
    ...(mainRoot === null || mainRoot === root ? [] : threatsIn(mainRoot, localSettings, 'main checkout', others)),
    ...threatsIn(claudeDir(), 'settings.json', 'user', others),
  ]
}

function threatsIn(dir: string, path: string, whose: FileThreat['whose'], role: Role): FileThreat[] {
  const file = join(dir, path)
  // Users may have links to their own settings; in a worktree a link may be an attack.
  const isOurs = whose === 'project' || whose === 'local'
  const read = isOurs ? readRegular(dir, path) : readThroughLinks(file)
  if (read.kind === 'refused')
    return [{ file, dir, path, whose, what: read.why, remedy: 'Replace it by a regular file.', refused: read }]
  const text = read.kind === 'read' ? read.bytes.toString('utf8') : null
  return settingsThreats(text, role, whose === 'user').map((threat) => ({ ...threat, file, dir, path, whose }))
}

/** Something in a settings file that would leave the gate open. */
type Threat = {
  what: string
  remedy: string
  /** Claude Code then reads nothing of the file. */
  skipsFile?: true
}

/**
 * `carries`: the file that our hooks were installed in. `others` must not have a hook of ours in another form: Claude Code
 * runs hooks with the same command once, with the attributes of the nearer file, and `"async": true` or a tiny timeout
 * there would open the gate.
 */
type Role = {
  kind: 'carries' | 'others'
  installed: Settings
  /** Variables that the repository has committed: the user is asked about them (`inventory.ts`), with all it brings. */
  broughtEnv?: Settings
}

/** They act on the process of a hook before it can clear them, or there is no hook. */
const unaskedVariables = /^(LD_.*|DYLD_.*|CLAUDE_CODE_SIMPLE|CLAUDE_CODE_SAFE_MODE)$/

/** They reach the hook process in spite of all, disable hooks, or make a read-only command run a program. */
const dangerousVariables =
  /^(LD_.*|DYLD_.*|CLAUDE_CODE_SIMPLE|CLAUDE_CODE_SAFE_MODE|BASH_ENV|ENV|BASH_FUNC_.*|RIPGREP_CONFIG_PATH|GIT_EXTERNAL_DIFF|GIT_CONFIG.*|GIT_DIR|GIT_WORK_TREE|GIT_EXEC_PATH)$/

/** Users may set them, a worktree must not. No list of harmless ones: an application reads variables of any name. */
const redirectingVariables = [
  /^(PATH|SHELL|HOME|TE?MP(DIR)?|XDG_.*|SHELLOPTS|BASHOPTS|PS4|ZDOTDIR|FPATH|CDPATH|IFS|PROMPT_COMMAND)$/,
  /^(GIT_.*|EDITOR|VISUAL|(MAN)?PAGER|LESS(OPEN|CLOSE)|CLAUDE_(CONFIG_DIR|ENV_FILE|CODE_SHELL(_PREFIX)?))$/,
  /^(CODEX_(?!API_KEY$|ACCESS_TOKEN$).*|OPENAI_(?!API_KEY$).*|(https?|ftp|all|no)_proxy|npm_config_.*)$/i,
  /^(NODE_(?!ENV$).*|ICU_.*|OPENSSL_.*|SSLKEYLOGFILE|SSL_CERT_.*|.*_CA_BUNDLE|GCONV_PATH|LOCPATH|NLSPATH|TZDIR)$/,
  /^(GLIBC_.*|MALLOC_.*|PYTHON(?!UNBUFFERED|DONTWRITE).*|PERL.*|RUBY(OPT|LIB)|.*JAVA_.*OPTIONS|DOTNET_.*HOOKS|PHP.*)$/,
]

/** An absent file (null) is only a threat if it had our hooks. `isUsers`: for all projects, which may redirect. */
export function settingsThreats(text: string | null, role: Role, isUsers: boolean): Threat[] {
  if (text === null)
    return role.kind === 'carries'
      ? [{ what: 'it is missing, and the gate’s hooks with it', remedy: 'Run `plan-gate install` to restore it.' }]
      : []
  const parsed = parseSettings(text)
  if (parsed.kind === 'invalid')
    return [
      {
        what: `Claude Code would skip the whole file: ${parsed.why}`,
        remedy: 'Fix the JSON; then run `plan-gate doctor` again.',
        skipsFile: true,
      },
    ]
  const { settings } = parsed
  const threats: Threat[] = []
  if (settings.disableAllHooks === true)
    threats.push({ what: 'disableAllHooks is true', remedy: 'Remove disableAllHooks, or set it to false.' })
  threats.push(...hookThreats(settings, role))
  threats.push(...skippedFileThreats(settings))
  const own = role.kind === 'carries' ? wrapperIn(role.installed) : undefined
  threats.push(...environmentThreats(asRecord(settings.env), isUsers, own, role.broughtEnv))
  return threats
}

function environmentThreats(env: Settings, isUsers: boolean, wrapper: unknown, brought: Settings = {}): Threat[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (name === prefixVariable && value === wrapper) return []
    if (Object.hasOwn(brought, name) && brought[name] === value && !unaskedVariables.test(name)) return []
    const isDangerous = dangerousVariables.test(name)
    if (!isDangerous && (isUsers || !redirectingVariables.some((pattern) => pattern.test(name)))) return []
    const changes = isDangerous ? 'what hooks or commands run' : 'what commands run, or who reviews'
    const instead = isDangerous ? '' : '; set it in your shell or in your own settings (~/.claude/settings.json)'
    return [
      {
        what: `its env sets ${name}, which changes ${changes}`,
        remedy: `Remove ${name} from its env block${instead}.`,
      },
    ]
  })
}

function hookThreats(settings: Settings, { kind, installed }: Role): Threat[] {
  if (!keepsOwnHooks(installed, settings) && kind === 'others') {
    const what = 'it has a hook of the gate in another form, which would take precedence'
    return [{ what, remedy: `Remove the hooks that refer to ${hooksDir}.` }]
  }
  const holds =
    kind === 'others' ||
    (keepsOwnHooks(settings, installed) &&
      keepsOwnHooks(installed, settings) &&
      keepsDenials(settings, installed) &&
      wrapperIn(settings) === wrapperIn(installed))
  const what = 'the gate’s hooks are missing or changed'
  return holds ? [] : [{ what, remedy: 'Run `plan-gate install` to restore them.' }]
}

const hookTypes: readonly unknown[] = ['command', 'prompt', 'agent', 'http', 'mcp_tool']

/** Claude Code skips a whole settings file for one invalid value, silently with `-p`. These values are known to do that. */
function skippedFileThreats({ hooks = {}, permissions = {}, statusLine }: Settings): Threat[] {
  const bad: string[] = []
  const demand = (holds: boolean, why: string): void => void (holds || bad.push(why))
  if (statusLine !== undefined) demandStatusLine(statusLine, demand)
  demand(isRecord(hooks), 'hooks is not an object')
  for (const [event, groups] of Object.entries(asRecord(hooks))) {
    demand(Array.isArray(groups), `hooks.${event} is not a list`)
    for (const group of asList(groups)) demandHooks(event, group, demand)
  }
  demand(isRecord(permissions), 'permissions is not an object')
  for (const list of ['allow', 'deny', 'ask']) {
    const { [list]: rules = [] } = asRecord(permissions)
    const areTexts = Array.isArray(rules) && rules.every((rule) => typeof rule === 'string')
    demand(areTexts, `permissions.${list} is not a list of texts`)
  }
  const remedy = 'Fix that value.'
  return bad.map((why) => ({ what: `Claude Code would skip the whole file: ${why}`, remedy, skipsFile: true }))
}

type Demand = (holds: boolean, why: string) => void

/** Observed in both tested clients; an invalid `refreshInterval` is only ignored. */
function demandStatusLine(line: unknown, demand: Demand): void {
  if (!isRecord(line)) return demand(false, 'statusLine is not an object')
  const { type, command, padding = 0, hideVimModeIndicator: hides = false } = line
  demand(type === 'command', `statusLine has the type ${JSON.stringify(type)}`)
  demand(typeof command === 'string', 'statusLine has no command')
  demand(typeof padding === 'number', 'statusLine.padding is not a number')
  demand(typeof hides === 'boolean', 'statusLine.hideVimModeIndicator is not true or false')
}

function demandHooks(event: string, group: unknown, demand: Demand): void {
  const { hooks } = asRecord(group)
  demand(Array.isArray(hooks), `hooks.${event} has a group without a list of hooks`)
  for (const hook of asList(hooks)) {
    demand(isRecord(hook), `hooks.${event} has a hook that is not an object`)
    if (!isRecord(hook)) continue
    const { type, onFailure = 'block', timeout = 1 } = hook
    demand(hookTypes.includes(type), `hooks.${event} has a hook of type ${JSON.stringify(type)}`)
    demand(
      onFailure === 'block' || onFailure === 'continue',
      `hooks.${event} has onFailure ${JSON.stringify(onFailure)}`,
    )
    demand(typeof timeout === 'number' && timeout > 0, `hooks.${event} has timeout ${JSON.stringify(timeout)}`)
  }
}

/** For `permissions.deny`, which Claude Code enforces even without hooks. The Edit rules cover Write as well. */
export const deniedRules: readonly string[] = ['review/**', 'hooks/**', 'settings.json', 'settings.local.json'].map(
  (part) => `Edit(/.claude/${part})`,
)

/** Threats in a settings file of the worktree, apart from hooks of ours, which the install replaces. */
export function findThreatsIn(text: string, isCommitted = false): Threat[] {
  const parsed = parseSettings(text)
  const others = parsed.kind === 'invalid' ? text : JSON.stringify(withoutOwnEntries(parsed.settings, []))
  const broughtEnv = isCommitted ? envIn(text) : {}
  return settingsThreats(others, { kind: 'others', installed: {}, broughtEnv }, false)
}

export const envIn = (text: string): Settings => asRecord(settingsOrEmpty(text).env)

export type Settings = JsonRecord
type ParsedSettings = { kind: 'settings'; settings: Settings } | { kind: 'invalid'; why: string }

/** An empty file counts as `{}`, as it does for Claude Code. */
export function parseSettings(text: string): ParsedSettings {
  if (text.trim() === '') return { kind: 'settings', settings: {} }
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ''))
    if (!isRecord(value)) return { kind: 'invalid', why: 'it is not an object' }
    // Deeper nesting overflows the stack of JSON.stringify.
    if (isDeeperThan(maxDepth, value)) return { kind: 'invalid', why: `it is nested more than ${maxDepth} levels deep` }
    return { kind: 'settings', settings: value }
  } catch (error) {
    return { kind: 'invalid', why: (error as Error).message }
  }
}

/** An invalid file counts as `{}`. */
export const settingsOrEmpty = (text: string): Settings => {
  const parsed = parseSettings(text)
  return parsed.kind === 'settings' ? parsed.settings : {}
}

/** Of the user's own files, through links. */
export function settingsAt(file: string): Settings {
  const read = readThroughLinks(file, 64 * 1024 * 1024)
  return settingsOrEmpty(read.kind === 'read' ? read.bytes.toString('utf8') : '')
}

/** As the install record has them. */
export const settingsFrom = (base64: string): Settings =>
  settingsOrEmpty(Buffer.from(base64, 'base64').toString('utf8'))

const maxDepth = 100

const isDeeperThan = (levels: number, value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeperThan(levels - 1, inner)))

/** The settings with our hooks, denials, status line and command wrapper added; other entries keep their order. Idempotent. */
export function withOwnEntries(
  settings: Settings,
  entries: HookEntries,
  denied: readonly string[],
  statusLine: StatusLine | null = null,
  wrapper: string | null = null,
): Settings {
  const base = withoutOwnEntries(settings, denied, settings)
  const hooks: { [event: string]: unknown } = { ...asRecord(base.hooks) }
  for (const [event, groups] of Object.entries(entries)) hooks[event] = [...asList(hooks[event]), ...groups]
  const permissions = asRecord(base.permissions)
  const deny = asList(permissions.deny)
  return {
    ...base,
    hooks,
    ...(denied.length === 0
      ? {}
      : { permissions: { ...permissions, deny: [...deny, ...denied.filter((rule) => !deny.includes(rule))] } }),
    ...(wrapper === null ? {} : { env: { ...asRecord(base.env), [prefixVariable]: wrapper } }),
    // Last, where the next install puts it again.
    ...(statusLine === null ? {} : { statusLine }),
  }
}

/** Claude Code starts each command through the program that this variable names. */
export const prefixVariable = 'CLAUDE_CODE_SHELL_PREFIX'

const isOwnPrefix = (name: string, value: unknown): boolean =>
  name === prefixVariable && typeof value === 'string' && value.endsWith(`/${sandboxDir}/run`)

/** The wrapper that the settings name; undefined where they name none. */
export const wrapperIn = (settings: Settings): unknown => asRecord(settings.env)[prefixVariable]

/** Whether a hook or a status line of a settings file is ours, of any version. */
export const isOwnHook = (hook: unknown): hook is { command: string; args?: unknown; timeout?: unknown } => {
  const { command, args } = (hook ?? {}) as { command?: unknown; args?: unknown }
  return typeof command === 'string' && [command, ...asList(args)].some(isOwnPath)
}

const isOwnPath = (word: unknown): boolean => typeof word === 'string' && word.includes(`/${hooksDir}/`)

/** The settings without our entries. Lists and blocks that become empty are removed unless `before` has them. */
export function withoutOwnEntries(settings: Settings, denied: readonly string[], before: Settings = {}): Settings {
  const deniedBefore = asList(asRecord(before.permissions).deny)
  const isTheirs = (rule: unknown): boolean => !denied.includes(rule as string) || deniedBefore.includes(rule)
  const theirRules = (rules: readonly unknown[]): unknown[] => rules.filter(isTheirs)
  return withoutUndefined({
    ...settings,
    hooks: mapBlock(settings.hooks, before.hooks, (_, groups, known) => keepList(groups, withoutOwnHooks, known)),
    permissions: mapBlock(settings.permissions, before.permissions, (name, rules, known) =>
      name === 'deny' ? keepList(rules, theirRules, known) : rules,
    ),
    env: mapBlock(settings.env, before.env, (name, text) => (isOwnPrefix(name, text) ? undefined : text)),
    statusLine: isOwnHook(settings.statusLine) ? undefined : settings.statusLine,
  })
}

/** `known`: whether it was there before. */
function mapBlock(block: unknown, before: unknown, change: (name: string, value: unknown, known: boolean) => unknown) {
  if (!isRecord(block)) return block
  const entries = Object.entries(block).map(([name, value]) => [
    name,
    change(name, value, Object.hasOwn(asRecord(before), name)),
  ])
  const kept = withoutUndefined(Object.fromEntries(entries))
  return Object.keys(kept).length > 0 || before !== undefined ? kept : undefined
}

/** `fromEntries`, so that a key named `__proto__` is a key like any other. */
const withoutUndefined = (settings: Settings): Settings =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))

function keepList(value: unknown, change: (list: readonly unknown[]) => unknown[], known: boolean): unknown {
  if (!Array.isArray(value)) return value
  const kept = change(value)
  return kept.length > 0 || known ? kept : undefined
}

export function shapeProblem(settings: Settings, events: readonly string[]): string | null {
  const { hooks = {}, permissions = {}, env = {} } = settings
  if (!isRecord(env)) return 'env is not an object'
  if (!isRecord(hooks)) return 'hooks is not an object'
  const event = events.find((name) => Object.hasOwn(hooks, name) && !Array.isArray(hooks[name]))
  if (event !== undefined) return `hooks.${event} is not a list`
  if (!isRecord(permissions)) return 'permissions is not an object'
  return 'deny' in permissions && !Array.isArray(permissions.deny) ? 'permissions.deny is not a list' : null
}

function withoutOwnHooks(groups: readonly unknown[]): unknown[] {
  return groups.flatMap((group) => {
    if (!isRecord(group) || !Array.isArray(group.hooks) || !group.hooks.some(isOwnHook)) return [group]
    const hooks = group.hooks.filter((hook) => !isOwnHook(hook))
    return hooks.length === 0 ? [] : [{ ...group, hooks }]
  })
}

/** Whether a settings file still carries each of our hooks as `installed` has them: same event, matcher and hook. */
export function keepsOwnHooks(settings: Settings, installed: Settings): boolean {
  const found = new Set(ownHookTexts(settings))
  return ownHookTexts(installed).every((text) => found.has(text))
}

/** Whether each rule of `permissions.deny` that `installed` has is still there. */
export function keepsDenials(settings: Settings, installed: Settings): boolean {
  const rules = asList(asRecord(settings.permissions).deny)
  return asList(asRecord(installed.permissions).deny).every((rule) => rules.includes(rule))
}

const ownHookTexts = (settings: Settings): string[] =>
  Object.entries(asRecord(settings.hooks)).flatMap(([event, groups]) =>
    groupsOf(groups).flatMap((group) =>
      group.hooks.filter(isOwnHook).map((hook) => JSON.stringify([event, group.matcher ?? '', hook])),
    ),
  )

const groupsOf = (groups: unknown): { matcher?: unknown; hooks: unknown[] }[] =>
  asList(groups).filter(
    (group): group is { matcher?: unknown; hooks: unknown[] } => isRecord(group) && Array.isArray(group.hooks),
  )

/** Whether a settings file refers to our bundles. */
export const hasOwnEntries = (settings: Settings): boolean =>
  ownHooksOf(settings).length > 0 || isOwnHook(settings.statusLine) || isOwnPrefix(prefixVariable, wrapperIn(settings))

/** Claude Code shows only one status line. */
export const hasOtherStatusLine = ({ statusLine }: Settings): boolean =>
  statusLine !== undefined && !isOwnHook(statusLine)

export type OwnHook = { event: string; command: string; args: readonly string[]; timeout: number }

export function ownHooksOf(settings: Settings): OwnHook[] {
  return Object.entries(asRecord(settings.hooks)).flatMap(([event, groups]) =>
    groupsOf(groups)
      .flatMap((group) => group.hooks)
      .filter(isOwnHook)
      .map(({ command, args, timeout }) => ({
        event,
        command,
        args: asList(args).filter((arg) => typeof arg === 'string'),
        timeout: typeof timeout === 'number' ? timeout : 600,
      })),
  )
}

/** Our hooks of a settings file, in their groups: another one may stand in the same group. */
export const ownEntriesOf = (settings: Settings): HookEntries =>
  Object.fromEntries(
    Object.entries(asRecord(settings.hooks)).flatMap(([event, groups]) => {
      const own = groupsOf(groups).flatMap(({ matcher, hooks }) => {
        const ours = hooks.filter(isOwnHook)
        return ours.length === 0 ? [] : [{ ...(matcher === undefined ? {} : { matcher }), hooks: ours }]
      })
      return own.length === 0 ? [] : [[event, own as HookEntries[string]]]
    }),
  )

/** Null: it is off, or has its hooks. `after`: the settings that the install wrote, in base64. */
export function missingReflection(isOn: boolean, { after }: { readonly after: string }): string | null {
  const own = ownEntriesOf(settingsFrom(after))
  if (!isOn || own.Stop !== undefined) return null
  return 'reflection was switched on after the install, so it reviews single changes only: the final review of the work, the one before a compaction and the one of failed commands have no hooks. `plan-gate install` adds them; they count from the next session.'
}

/** JSON with the indentation of the file that it replaces. */
export function formatSettings(settings: Settings, like: string): string {
  const indent = /^[{[]\r?\n([ \t]+)/.exec(like)?.[1] ?? '  '
  const text = JSON.stringify(settings, null, indent)
  return like === '' || like.endsWith('\n') ? `${text}\n` : text
}
