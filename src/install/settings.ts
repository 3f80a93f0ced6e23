import { hooksDir, sandboxDir } from '../state/own-paths.ts'
import { asList, asRecord, isRecord, type JsonRecord } from '../text/json.ts'
import type { HookEntries, StatusLine } from './hook-entries.ts'

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
function mapBlock(
  block: unknown,
  before: unknown,
  change: (name: string, value: unknown, known: boolean) => unknown,
): unknown {
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

/**
 * Why reflection is not whole where it was switched on after the install; null: it is off, or has its hooks. `after`: the
 * settings that the install wrote, in base64.
 */
export function missingReflection(isOn: boolean, { after }: { readonly after: string }): string | null {
  const own = ownEntriesOf(settingsOrEmpty(Buffer.from(after, 'base64').toString('utf8')))
  if (!isOn || own.Stop !== undefined) return null
  return 'reflection was switched on after the install, so it reviews single changes only: the final review of the work, the one before a compaction and the one of failed commands have no hooks. `plan-gate install` adds them; they count from the next session.'
}

/** JSON with the indentation of the file that it replaces. */
export function formatSettings(settings: Settings, like: string): string {
  const indent = /^[{[]\r?\n([ \t]+)/.exec(like)?.[1] ?? '  '
  const text = JSON.stringify(settings, null, indent)
  return like === '' || like.endsWith('\n') ? `${text}\n` : text
}
