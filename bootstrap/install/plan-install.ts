import { harmlessTools } from '../../src/gate/tool-call.ts'
import { type HookEntries, hookEntries, type StatusLine, statusLineEntry } from '../../src/protocol/hook-entries.ts'
import {
  formatSettings,
  hasOtherStatusLine,
  hasOwnEntries,
  keepsOwnHooks,
  misshapen,
  ownEntriesOf,
  ownHooksOf,
  parseSettings,
  type Settings,
  withOwnEntries,
  withoutOwnEntries,
} from '../../src/protocol/settings.ts'
import type { InstallRecord } from '../../src/schemas/install-record.ts'
import { UserError } from '../../src/system/user-error.ts'
import { findForeign } from './find-foreign.ts'
import { findThreats } from './find-threats.ts'
import { type OwnFile, ownExcludes } from './own-files.ts'

export type InstallOptions = {
  /** The files are to be committed: plain `node`, `settings.json`, nothing hidden from git. */
  track: boolean
  reviewer: string | null
  /** The plan-gate.yaml of the checkout, where the worktree's commit has none. */
  config: string | null
  reflect: boolean
  node: string
  planTimeoutSeconds: number
}

/** What is in the worktree now; read by `surveyInstall`, from disk or (for a dry run) from a commit. */
export type Survey = {
  record: InstallRecord | null
  isTracked: (path: string) => boolean
  read: (path: string) => Buffer | null
  /** The texts of all settings files whose status line would be another than ours, this worktree's own among them. */
  settings: readonly string[]
}

type FileChange = OwnFile & { change: 'create' | 'replace' | 'keep' | 'the repository has it' }
type SettingsChange = { path: string; before: string | null; current: string | null; after: string }
export type InstallPlan = {
  files: FileChange[]
  settings: SettingsChange
  entries: HookEntries
  statusLine: StatusLine | null
  denied: readonly string[]
  /** The content of `.claude/.gitignore`, where we write one. */
  ignore: string | null
  excluded: string[]
}

export const sharedSettings = '.claude/settings.json'
export const localSettings = '.claude/settings.local.json'

/**
 * `permissions.deny` of the same files: Claude Code holds to it even where hooks do not run. Both spellings of a path,
 * because Write is judged by the Edit rules.
 */
export const deniedRules: readonly string[] = ['review/**', 'hooks/**', 'settings.json', 'settings.local.json'].map(
  (part) => `Edit(/.claude/${part})`,
)

/** Decides every byte that an install will write. Pure: a dry run prints the same plan that a real run carries out. */
export function planInstall(survey: Survey, files: readonly OwnFile[], options: InstallOptions): InstallPlan {
  refuseUnsafe(survey)
  const entries = hookEntries({
    node: options.track ? 'node' : options.node,
    harmlessTools,
    planTimeoutSeconds: options.planTimeoutSeconds,
    reflect: options.reflect,
  })
  const committed = committedSettings(survey, options)
  const statusLine = committed === null ? planStatusLine(survey, options) : null
  const settings = committed ?? planSettings(survey, entries, statusLine, options)
  return {
    files: files.map((file) => planFile(file, survey, options)),
    settings,
    entries: committed === null ? entries : ownEntriesOf(settingsIn(committed.after)),
    statusLine,
    denied: deniedRules,
    ...hideSettings(survey, settings, options.track),
  }
}

/**
 * Only for who has none. A line that is committed for a team would count instead of what each of them has chosen, so
 * there is none in `settings.json` then.
 */
const planStatusLine = ({ settings }: Survey, { track, node }: InstallOptions): StatusLine | null =>
  track || settings.map(settingsIn).some(hasOtherStatusLine) ? null : statusLineEntry(node)

/** A gate that is open from the start, or that the settings switch off, is not installed: nobody would hear of it. */
function refuseUnsafe(survey: Survey): void {
  const foreign = findForeign(survey)
  if (foreign !== null) throw new UserError(`${foreign.what}.`, foreign.remedy)
  for (const path of [sharedSettings, localSettings]) {
    const [threat] = findThreats(survey.read(path)?.toString('utf8') ?? '')
    if (threat !== undefined)
      throw new UserError(`The gate would not hold here, because of ${path}: ${threat.what}.`, threat.remedy)
  }
}

function planFile(file: OwnFile, survey: Survey, options: InstallOptions): FileChange {
  const found = survey.read(file.path)
  if (found === null) return { ...file, change: 'create' }
  if (found.equals(file.bytes))
    return { ...file, change: survey.isTracked(file.path) ? 'the repository has it' : 'keep' }
  if (survey.isTracked(file.path) && !options.track)
    throw new UserError(
      `${file.path} is committed in this repository, in another version than this plan-gate's.`,
      'Run `plan-gate install --track` on a branch to update it and commit the result, or use the version that the repository was set up with.',
    )
  if (survey.record?.files.some(({ path }) => path === file.path) !== true && !survey.isTracked(file.path))
    throw new UserError(
      `${file.path} exists already, and no install of plan-gate's wrote it.`,
      'Move it away if it is yours. If it is left from a plan-gate whose record is lost, run `plan-gate uninstall` first.',
    )
  return { ...file, change: 'replace' }
}

/** A team that committed the gate with `--track`: its settings.json carries our hooks and is left as it is. */
function committedSettings(survey: Survey, options: InstallOptions): SettingsChange | null {
  const current = survey.read(sharedSettings)?.toString('utf8') ?? null
  if (current === null || options.track || !survey.isTracked(sharedSettings)) return null
  const settings = settingsIn(current)
  if (ownHooksOf(settings).length === 0) return null
  if (!isAsTracked(settings))
    throw new UserError(
      `${sharedSettings} is committed in this repository with hooks of plan-gate's in another form than this plan-gate writes.`,
      'Run `plan-gate install --track` on a branch to update it and commit the result, or use the version that the repository was set up with.',
    )
  return { path: sharedSettings, before: current, current, after: current }
}

/** They are run as they stand there, so each has to be what `--track` writes, but for a deadline that has changed since. */
function isAsTracked(settings: Settings): boolean {
  const deadlines = ownHooksOf(settings).map(({ timeout }) => timeout)
  const planTimeoutSeconds = Math.max(...deadlines)
  if (!(Math.min(...deadlines) > 0 && planTimeoutSeconds <= longestDeadline)) return false
  return [false, true].some((reflect) => {
    const expected = { hooks: hookEntries({ node: 'node', harmlessTools, planTimeoutSeconds, reflect }) }
    return keepsOwnHooks(settings, expected) && keepsOwnHooks(expected, settings)
  })
}

/** What `plan.deadline_seconds` may be at most, and the margin. */
const longestDeadline = 7_260

const settingsIn = (text: string): Settings => {
  const parsed = parseSettings(text)
  return parsed.kind === 'settings' ? parsed.settings : {}
}

function planSettings(
  survey: Survey,
  entries: HookEntries,
  statusLine: StatusLine | null,
  options: InstallOptions,
): SettingsChange {
  const sharedIsTracked = survey.isTracked(sharedSettings)
  const path = sharedIsTracked && !options.track ? localSettings : sharedSettings
  if (survey.isTracked(path) && !options.track)
    throw new UserError(
      `${sharedSettings} and ${localSettings} are both committed, so there is no settings file that may be changed.`,
      `Take ${localSettings} out of the repository (it is meant to be personal), or use \`plan-gate install --track\`.`,
    )
  const current = survey.read(path)?.toString('utf8') ?? null
  const settings = settingsIn(current ?? '')
  const why = misshapen(settings, Object.keys(entries))
  if (why !== null)
    throw new UserError(
      `${path} cannot be changed: ${why}. Claude Code would skip the whole file.`,
      'Mend the JSON, then run the command again.',
    )
  const after = formatSettings(withOwnEntries(settings, entries, deniedRules, statusLine), current ?? '')
  return {
    path,
    before: beforeUs(survey.record, path, current, settings),
    current,
    after: sameJson(after, current) ?? after,
  }
}

/** The file as it was before plan-gate, also when this is not the first install or somebody edited it since. */
function beforeUs(
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
  const parsedBefore = parseSettings(before ?? '')
  const known = parsedBefore.kind === 'settings' ? parsedBefore.settings : {}
  const stripped = withoutOwnEntries(settings, record.settings.denied, known)
  return JSON.stringify(stripped) === JSON.stringify(known) ? before : formatSettings(stripped, current)
}

/** A file that already says the same keeps its own formatting. */
const sameJson = (after: string, current: string | null): string | null =>
  current !== null && JSON.stringify(JSON.parse(after)) === JSON.stringify(JSON.parse(current.trim() || '{}'))
    ? current
    : null

/**
 * A settings file that we made is hidden from `git status` by a `.gitignore` beside it, which hides itself as well:
 * `info/exclude` counts in every worktree, and would hide the user's own settings.json in the main checkout. Where a
 * `.gitignore` stands there already, it has to be `info/exclude` all the same.
 */
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
  // A settings file that stood there before us stays as visible to git as it was.
  if (settings.before !== null && !isHidden) return { ignore: null, excluded }
  const name = settings.path.slice('.claude/'.length)
  const ignore = [ignoreMark, '/.gitignore', `/${name}`, `/.${name}.*.tmp`, ''].join('\n')
  return found === null || found.startsWith(ignoreMark)
    ? { ignore, excluded }
    : { ignore: null, excluded: [...excluded, `/${settings.path}`, `/.claude/.${name}.*.tmp`] }
}

export const ignorePath = '.claude/.gitignore'
export const ignoreMark = '# plan-gate: keeps its settings file out of git status, and goes with `plan-gate uninstall`.'

export const fromBase64 = (text: string): string => Buffer.from(text, 'base64').toString('utf8')
export const toBase64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64')
