import { harmlessTools } from '../gate/tools.ts'
import type { InstallRecord } from '../schemas/records.ts'
import {
  hooksDir,
  ignorePath,
  localSettings,
  ownSkillDirs,
  reviewDir,
  settingsFiles,
  sharedSettings,
} from '../state/own-paths.ts'
import { UserError } from '../system/errors.ts'
import { sha256 } from '../system/sha256.ts'
import { type HookEntries, hookEntries, maxHookTimeout, type StatusLine, statusLineEntry } from './hook-entries.ts'
import type { OwnFile } from './own-files.ts'
import {
  deniedRules,
  envIn,
  findThreatsIn,
  formatSettings,
  hasOtherStatusLine,
  hasOwnEntries,
  keepsOwnHooks,
  ownEntriesOf,
  ownHooksOf,
  type Settings,
  settingsOrEmpty,
  shapeProblem,
  withOwnEntries,
  withoutOwnEntries,
} from './settings.ts'
import { findForeign, type Survey } from './survey.ts'

export type InstallOptions = {
  /** The files will be committed: plain `node`, `settings.json`, nothing hidden from git. */
  track: boolean
  reviewer: string | null
  /** The plan-gate.yaml of the checkout if the worktree's commit has none. */
  config: string | null
  reflect: boolean
  node: string
  planTimeoutSeconds: number
}

type FileChange = OwnFile & { change: 'create' | 'replace' | 'keep' | 'the repository has it' }
type SettingsChange = { path: string; before: string | null; current: string | null; after: string }

export type InstallPlan = {
  files: FileChange[]
  settings: SettingsChange
  entries: HookEntries
  statusLine: StatusLine | null
  denied: readonly string[]
  /** The `env` of the settings that are committed. */
  broughtEnv: Settings
  /** Whether the settings name the program that commands start through. */
  wraps: boolean
  /** The content of `.claude/.gitignore`, if we write one. */
  ignore: string | null
  excluded: string[]
}

/** Decides every byte that an install will write: a dry run prints the plan that a real run carries out. */
export function planInstall(survey: Survey, files: readonly OwnFile[], options: InstallOptions): InstallPlan {
  assertSafe(survey)
  const entries = hookEntries({
    node: options.track ? 'node' : options.node,
    harmlessTools,
    planTimeoutSeconds: options.planTimeoutSeconds,
    reflect: options.reflect,
    ...(carrier(survey, options) === localSettings ? { localIn: survey.root } : {}),
    digestOf: digestIn(files),
  })
  const committed = committedSettings(survey, files, options)
  const statusLine = committed === null ? planStatusLine(survey, options) : null
  const settings = committed ?? planSettings(survey, entries, statusLine, options)
  return {
    files: files.map((file) => planFile(file, survey, options)),
    settings,
    entries: committed === null ? entries : ownEntriesOf(settingsOrEmpty(committed.after)),
    statusLine,
    denied: deniedRules,
    broughtEnv: survey.isTracked(sharedSettings) ? envIn(survey.read(sharedSettings)?.toString('utf8') ?? '') : {},
    wraps: committed === null && !options.track,
    ...hideSettings(survey, settings, options.track),
  }
}

const digestIn =
  (files: readonly OwnFile[]) =>
  (path: string): string | null => {
    const file = files.find((file) => file.path === path)
    return file === undefined ? null : sha256(file.bytes)
  }

/** Only if no settings file has one. Never committed: it would override each member's own status line. */
const planStatusLine = ({ settings }: Survey, { track, node }: InstallOptions): StatusLine | null =>
  track || settings.map(settingsOrEmpty).some(hasOtherStatusLine) ? null : statusLineEntry(node)

/** A gate that would be open, or that the settings switch off, is not installed. */
function assertSafe(survey: Survey): void {
  const foreign = findForeign(survey)
  if (foreign !== null) throw new UserError(`${foreign.what}.`, foreign.remedy)
  for (const path of settingsFiles) {
    const [threat] = findThreatsIn(
      survey.read(path)?.toString('utf8') ?? '',
      path === sharedSettings && survey.isTracked(path),
    )
    if (threat !== undefined)
      throw new UserError(`The gate would not hold here because of ${path}: ${threat.what}.`, threat.remedy)
  }
}

function planFile(file: OwnFile, survey: Survey, options: InstallOptions): FileChange {
  const found = survey.read(file.path)
  if (found === null) return { ...file, change: 'create' }
  if (found.equals(file.bytes))
    return { ...file, change: survey.isTracked(file.path) ? 'the repository has it' : 'keep' }
  if (survey.isTracked(file.path) && !options.track)
    throw new UserError(
      `${file.path} is committed in this repository, by another version of plan-gate.`,
      'Run `plan-gate install --track` on a branch to update it and commit the result, or use the version that the repository was set up with.',
    )
  if (survey.record?.files.some(({ path }) => path === file.path) !== true && !survey.isTracked(file.path))
    throw new UserError(
      `${file.path} exists already, and no plan-gate install wrote it.`,
      'Move it away if it is yours. If it is from an earlier install whose record is lost, run `plan-gate uninstall` first.',
    )
  return { ...file, change: 'replace' }
}

/** Committed with `--track`: settings.json has our hooks and is kept as it is. */
function committedSettings(survey: Survey, files: readonly OwnFile[], options: InstallOptions): SettingsChange | null {
  const current = survey.read(sharedSettings)?.toString('utf8') ?? null
  if (current === null || options.track || !survey.isTracked(sharedSettings)) return null
  const settings = settingsOrEmpty(current)
  if (ownHooksOf(settings).length === 0) return null
  if (!isAsTracked(settings, digestIn(files)))
    throw new UserError(
      `${sharedSettings} is committed in this repository with plan-gate hooks that this version would write differently.`,
      'Run `plan-gate install --track` on a branch to update it and commit the result, or use the version that the repository was set up with.',
    )
  return { path: sharedSettings, before: current, current, after: current }
}

/** They run as committed, so each must be what `--track` writes, except for the deadline. */
function isAsTracked(settings: Settings, digestOf: (path: string) => string | null): boolean {
  const deadlines = ownHooksOf(settings).map(({ timeout }) => timeout)
  const planTimeoutSeconds = Math.max(...deadlines)
  if (!(Math.min(...deadlines) > 0 && planTimeoutSeconds <= maxHookTimeout)) return false
  return [false, true].some((reflect) => {
    const expected = { hooks: hookEntries({ node: 'node', harmlessTools, planTimeoutSeconds, reflect, digestOf }) }
    return keepsOwnHooks(settings, expected) && keepsOwnHooks(expected, settings)
  })
}

/** The hook's timeout is the review's deadline plus this, so that it can still answer. */
export const marginSeconds = 60

/** The file that gets our entries. */
const carrier = (survey: Survey, { track }: InstallOptions): string =>
  survey.isTracked(sharedSettings) && !track ? localSettings : sharedSettings

function planSettings(
  survey: Survey,
  entries: HookEntries,
  statusLine: StatusLine | null,
  options: InstallOptions,
): SettingsChange {
  const path = carrier(survey, options)
  if (survey.isTracked(path) && !options.track)
    throw new UserError(
      `${sharedSettings} and ${localSettings} are both committed, so no settings file may be changed.`,
      `Remove ${localSettings} from the repository (it is meant to be personal), or use \`plan-gate install --track\`.`,
    )
  const current = survey.read(path)?.toString('utf8') ?? null
  const settings = settingsOrEmpty(current ?? '')
  const why = shapeProblem(settings, Object.keys(entries))
  if (why !== null)
    throw new UserError(
      `${path} cannot be changed: ${why}. Claude Code would skip the whole file.`,
      'Fix the JSON, then run the command again.',
    )
  const wrapper = options.track ? null : survey.wrapper
  const after = formatSettings(withOwnEntries(settings, entries, deniedRules, statusLine, wrapper), current ?? '')
  return {
    path,
    before: originalText(survey.record, path, current, settings),
    current,
    after: keepIfSameJson(after, current) ?? after,
  }
}

/** The file as it was before the first install, with later edits of others. */
function originalText(
  record: InstallRecord | null,
  path: string,
  current: string | null,
  settings: Settings,
): string | null {
  if (record?.settings.path !== path) {
    const stripped = withoutOwnEntries(settings, deniedRules)
    return hasOwnEntries(settings) ? formatSettings(stripped, current ?? '') : current
  }
  const before = record.settings.before === null ? null : fromBase64(record.settings.before)
  if (current === null || current === before || current === fromBase64(record.settings.after)) return before
  const known = settingsOrEmpty(before ?? '')
  const stripped = withoutOwnEntries(settings, record.settings.denied, known)
  return JSON.stringify(stripped) === JSON.stringify(known) ? before : formatSettings(stripped, current)
}

/** A file with the same content keeps its formatting. */
const keepIfSameJson = (after: string, current: string | null): string | null =>
  current !== null && JSON.stringify(JSON.parse(after)) === JSON.stringify(JSON.parse(current.trim() || '{}'))
    ? current
    : null

/** By a `.gitignore` beside it: `info/exclude` would hide the user's file in the main checkout, too. */
function hideSettings(
  survey: Survey,
  settings: SettingsChange,
  track: boolean,
): Pick<InstallPlan, 'ignore' | 'excluded'> {
  if (track) return { ignore: null, excluded: [] }
  const excluded = ownExcludes.filter((line) => !survey.isTracked(line.slice(1)))
  const found = survey.read(ignorePath)?.toString('utf8') ?? null
  const isHidden =
    found?.startsWith(ignoreMark) === true || survey.record?.excluded.includes(`/${settings.path}`) === true
  // A settings file that existed before us stays as visible to git as it was.
  if (settings.before !== null && !isHidden) return { ignore: null, excluded }
  const name = settings.path.slice('.claude/'.length)
  const ignore = [ignoreMark, '/.gitignore', `/${name}`, `/.${name}.*.tmp`, ''].join('\n')
  return found === null || found.startsWith(ignoreMark)
    ? { ignore, excluded }
    : { ignore: null, excluded: [...excluded, `/${settings.path}`, `/.claude/.${name}.*.tmp`] }
}

export const ignoreMark = '# plan-gate: keeps its settings file out of git status, and goes with `plan-gate uninstall`.'
export const fromBase64 = (text: string): string => Buffer.from(text, 'base64').toString('utf8')
export const toBase64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64')

/** Lines for `info/exclude`: everything of ours in a worktree except the settings file. */
const ownExcludes: readonly string[] = [
  `/${hooksDir}/`,
  `/${reviewDir}/`,
  // Left by a killed write of the settings file or of the .gitignore beside it.
  '/.claude/.*.tmp',
  ...ownSkillDirs.map((dir) => `/${dir}/`),
]
