import { join } from 'node:path'
import { readThroughLinks } from '../gate/loaded-commands.ts'
import { type Refused, readRegular } from '../state/files.ts'
import { hooksDir, installRecordPath } from '../state/own-paths.ts'
import { readInstallRecord } from '../state/records.ts'
import { claudeDir } from '../system/claude.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { isRecord, keepsDenials, keepsOwnHooks, parseSettings, type Settings, withoutOwnEntries } from './settings.ts'

/**
 * Everything in the settings that a session in this worktree reads which would switch the gate off. The main
 * checkout's settings.local.json counts for a linked worktree too, and more than the worktree's own.
 */
export function readThreats(root: string): FileThreat[] {
  const gitDirs = readGitDirs(root)
  const record = gitDirs === null ? null : readInstallRecord(gitDirs.own)
  return [
    ...(gitDirs !== null && record?.kind === 'refused' ? [lostRecord(gitDirs.own, record)] : []),
    ...findThreats(root, gitDirs?.mainRoot ?? null, record?.kind === 'read' ? record.value.settings : null),
  ]
}

/** Without it our own hooks would not be missed. */
const lostRecord = (gitDir: string, refused: Refused): FileThreat => ({
  ...{ file: join(gitDir, installRecordPath), dir: gitDir, path: installRecordPath, whose: 'install record', refused },
  what: refused.why,
  remedy: 'Run `plan-gate install`, or `plan-gate doctor` for more.',
})

/** `file` is `path` below `dir`. */
export type FileThreat = Threat & {
  file: string
  dir: string
  path: string
  whose: 'project' | 'local' | 'main checkout' | 'user' | 'install record'
  /** Where it is not what stands in the file, but that the file cannot be read. */
  refused?: Refused
}

/** Which file our entries were written to, and what it held then, in base64. */
export type InstalledSettings = { readonly path: string; readonly after: string }

/** `readThreats` for who knows what was installed. */
export function findThreats(root: string, mainRoot: string | null, ours: InstalledSettings | null): FileThreat[] {
  const parsed = parseSettings(Buffer.from(ours?.after ?? '', 'base64').toString('utf8'))
  const installed = parsed.kind === 'settings' ? parsed.settings : {}
  const others: Role = { kind: 'others', installed }
  const roleOf = (path: string): Role => (ours?.path === path ? { kind: 'carries', installed } : others)
  return [
    ...threatsIn(root, '.claude/settings.json', 'project', roleOf('.claude/settings.json')),
    ...threatsIn(root, '.claude/settings.local.json', 'local', roleOf('.claude/settings.local.json')),
    ...(mainRoot === null || mainRoot === root
      ? []
      : threatsIn(mainRoot, '.claude/settings.local.json', 'main checkout', others)),
    ...threatsIn(claudeDir(), 'settings.json', 'user', others),
  ]
}

function threatsIn(dir: string, path: string, whose: FileThreat['whose'], role: Role): FileThreat[] {
  const file = join(dir, path)
  // Users may keep their own settings behind links; in the worktree a link is a trap.
  const isOurs = whose === 'project' || whose === 'local'
  const read = isOurs ? readRegular(dir, path) : readThroughLinks(file)
  if (read.kind === 'refused')
    return [{ file, dir, path, whose, what: read.why, remedy: 'Replace it by a plain file.', refused: read }]
  const text = read.kind === 'read' ? read.bytes.toString('utf8') : null
  return settingsThreats(text, role, whose === 'user').map((threat) => ({ ...threat, file, dir, path, whose }))
}

/** Something in a settings file that would leave the gate open, in words. */
export type Threat = { what: string; remedy: string }

/**
 * `carries` our hooks: it is the file that we installed them in. `others` may hold what it likes, but no hook of ours
 * in another form: Claude Code runs hooks with the same command once, with the attributes of the nearer file, and
 * `"async": true` or a tiny time-out there would open the gate.
 */
type Role = { kind: 'carries'; installed: Settings } | { kind: 'others'; installed: Settings }

/**
 * What reaches the hook process in spite of the entry's own `NODE_OPTIONS=` and absolute node, what stops hooks at all,
 * and what makes a command that only reads run a program.
 */
const dangerousVariables =
  /^(LD_.*|DYLD_.*|CLAUDE_CODE_SIMPLE|CLAUDE_CODE_SAFE_MODE|BASH_ENV|ENV|BASH_FUNC_.*|RIPGREP_CONFIG_PATH|GIT_EXTERNAL_DIFF|GIT_CONFIG.*|GIT_DIR|GIT_WORK_TREE|GIT_EXEC_PATH)$/

/**
 * What users may well set for themselves, and a file of the worktree must not set for them: where commands and hooks find
 * their programs and their configuration, what is run around each command, and who it is that reviews.
 */
const redirectingVariables =
  /^(PATH|SHELL|HOME|XDG_CONFIG_HOME|CLAUDE_CONFIG_DIR|CLAUDE_ENV_FILE|CLAUDE_CODE_SHELL|CLAUDE_CODE_SHELL_PREFIX|GIT_TRACE.*|CODEX_(?!API_KEY$|ACCESS_TOKEN$).*|OPENAI_(?!API_KEY$).*|NODE_TLS_REJECT_UNAUTHORIZED)$/

/** Certificates may belong to a company, whose file lies somewhere in the system. */
const trustVariables = /^(NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR)$/

/**
 * Why a settings file, as it is now, would switch the gate off. An absent file (null) only hurts where it is ours.
 * `isUsers`: it is the user's own file for all projects, in which they may redirect what they like.
 */
export function settingsThreats(text: string | null, role: Role, isUsers: boolean): Threat[] {
  if (text === null)
    return role.kind === 'carries'
      ? [{ what: 'it is gone, and our hooks with it', remedy: 'Run `plan-gate install` to put it back.' }]
      : []
  const parsed = parseSettings(text)
  if (parsed.kind === 'invalid')
    return [
      {
        what: `Claude Code would skip the whole file: ${parsed.why}`,
        remedy: 'Fix the JSON; then run `plan-gate doctor` again.',
      },
    ]
  const { settings } = parsed
  const threats: Threat[] = []
  if (settings.disableAllHooks === true)
    threats.push({ what: 'disableAllHooks is true', remedy: 'Take disableAllHooks out, or set it to false.' })
  threats.push(...hookThreats(settings, role))
  threats.push(...skippedFileThreats(settings))
  threats.push(...environmentThreats(isRecord(settings.env) ? settings.env : {}, isUsers))
  return threats
}

function environmentThreats(env: Settings, isUsers: boolean): Threat[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (dangerousVariables.test(name))
      return [
        {
          what: `its env sets ${name}, which decides what the hooks or the commands run`,
          remedy: `Take ${name} out of its env block.`,
        },
      ]
    const isForeignTrust = trustVariables.test(name) && !String(value).startsWith('/')
    if (isUsers || !(redirectingVariables.test(name) || isForeignTrust)) return []
    return [
      {
        what: `its env sets ${name}, which decides what commands run, or who reviews`,
        remedy: `Take ${name} out of its env block; set it in your shell or in your own settings (~/.claude/settings.json).`,
      },
    ]
  })
}

function hookThreats(settings: Settings, role: Role): Threat[] {
  switch (role.kind) {
    case 'carries':
      return keepsOwnHooks(settings, role.installed) &&
        keepsOwnHooks(role.installed, settings) &&
        keepsDenials(settings, role.installed)
        ? []
        : [{ what: 'our hooks are missing or altered in it', remedy: 'Run `plan-gate install` to put them back.' }]
    case 'others':
      return keepsOwnHooks(role.installed, settings)
        ? []
        : [
            {
              what: 'it has a hook of ours in another form, which would count instead',
              remedy: `Take the hooks that name ${hooksDir} out of it.`,
            },
          ]
  }
}

const hookTypes = ['command', 'prompt', 'agent', 'http', 'mcp_tool']

/** Claude Code drops a whole settings file for one bad value, silently in `-p`. These are the ones known to do it. */
function skippedFileThreats({ hooks, permissions, statusLine }: { [key: string]: unknown }): Threat[] {
  const bad: string[] = statusLine === undefined ? [] : badStatusLine(statusLine)
  if (hooks !== undefined && !isRecord(hooks)) bad.push('hooks is not an object')
  for (const [event, groups] of Object.entries(isRecord(hooks) ? hooks : {})) {
    if (!Array.isArray(groups)) bad.push(`hooks.${event} is not a list`)
    for (const group of Array.isArray(groups) ? groups : []) bad.push(...badHooks(event, group))
  }
  if (permissions !== undefined && !isRecord(permissions)) bad.push('permissions is not an object')
  for (const [list, rules] of Object.entries(isRecord(permissions) ? permissions : {}))
    if (
      ['allow', 'deny', 'ask'].includes(list) &&
      !(Array.isArray(rules) && rules.every((rule) => typeof rule === 'string'))
    )
      bad.push(`permissions.${list} is not a list of texts`)
  return bad.map((why) => ({ what: `Claude Code would skip the whole file: ${why}`, remedy: 'Fix that value.' }))
}

/** Observed in both tested clients; a `refreshInterval` that is none is only ignored. */
function badStatusLine(line: unknown): string[] {
  if (!isRecord(line)) return ['statusLine is not an object']
  const { type, command, padding, hideVimModeIndicator: hides } = line
  return [
    ...(type === 'command' ? [] : [`statusLine has the type ${JSON.stringify(type)}`]),
    ...(typeof command === 'string' ? [] : ['statusLine has no command']),
    ...(padding === undefined || typeof padding === 'number' ? [] : ['statusLine.padding is not a number']),
    ...(hides === undefined || typeof hides === 'boolean'
      ? []
      : ['statusLine.hideVimModeIndicator is not true or false']),
  ]
}

function badHooks(event: string, group: unknown): string[] {
  if (!isRecord(group) || !Array.isArray(group.hooks)) return [`hooks.${event} has a group without a list of hooks`]
  return group.hooks.flatMap((hook: unknown) => {
    if (!isRecord(hook)) return [`hooks.${event} has a hook that is not an object`]
    const bad: string[] = []
    if (typeof hook.type !== 'string' || !hookTypes.includes(hook.type))
      bad.push(`hooks.${event} has a hook of type ${JSON.stringify(hook.type)}`)
    if (hook.onFailure !== undefined && hook.onFailure !== 'block' && hook.onFailure !== 'continue')
      bad.push(`hooks.${event} has onFailure ${JSON.stringify(hook.onFailure)}`)
    if (hook.timeout !== undefined && !(typeof hook.timeout === 'number' && hook.timeout > 0))
      bad.push(`hooks.${event} has timeout ${JSON.stringify(hook.timeout)}`)
    return bad
  })
}

/**
 * `permissions.deny` of the same files: Claude Code holds to it even where hooks do not run. Both spellings of a path,
 * because Write is judged by the Edit rules.
 */
export const deniedRules: readonly string[] = ['review/**', 'hooks/**', 'settings.json', 'settings.local.json'].map(
  (part) => `Edit(/.claude/${part})`,
)

/** What in a settings file of the worktree would switch the gate off; hooks of ours are written anew in any case. */
export function findThreatsIn(text: string): Threat[] {
  const parsed = parseSettings(text)
  const others = parsed.kind === 'invalid' ? text : JSON.stringify(withoutOwnEntries(parsed.settings, []))
  return settingsThreats(others, { kind: 'others', installed: {} }, false)
}
