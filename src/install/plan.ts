import { join } from 'node:path'
import { dirname } from 'node:path/posix'
import { wrapperPath } from '../gate/sandbox/rules.ts'
import { harmlessTools } from '../gate/tools.ts'
import type { InstallRecord } from '../schemas/records.ts'
import { checkFolder, describeStat, lstatEntry, readRegular } from '../state/files.ts'
import { readThroughLinks } from '../state/linked-files.ts'
import {
  cachedFiles,
  compiledConfigPath,
  configFile,
  hooksDir,
  ignorePath,
  localSettings,
  ownSkillDirs,
  ownSkillFiles,
  planPath,
  reviewDir,
  reviewPaths,
  settingsFiles,
  sharedSettings,
} from '../state/own-paths.ts'
import { readInstallRecord } from '../state/records.ts'
import { UserError } from '../system/errors.ts'
import { git, readBlob } from '../system/git.ts'
import { type GitDirs, readGitDirs } from '../system/git-dirs.ts'
import { claudeDir } from '../system/paths.ts'
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

export type InstallPlan = ReturnType<typeof planInstall>

/** Decides every byte that an install will write: a dry run prints the plan that a real run carries out. */
export function planInstall(survey: Survey, files: readonly OwnFile[], options: InstallOptions) {
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
    /** The `env` of the settings that are committed. */
    broughtEnv: survey.isTracked(sharedSettings) ? envIn(survey.read(sharedSettings)?.toString('utf8') ?? '') : {},
    /** Whether the settings name the program that commands start through. */
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

function planSettings(survey: Survey, entries: HookEntries, statusLine: StatusLine | null, options: InstallOptions) {
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
function originalText(record: InstallRecord | null, path: string, current: string | null, settings: Settings) {
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

/** By a `.gitignore` (`ignore`) beside it: `info/exclude` would hide the user's file in the main checkout, too. */
function hideSettings(survey: Survey, settings: SettingsChange, track: boolean) {
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

const surveyedPaths = ['.claude', configFile] as const

export async function surveyInstall(root: string, gitDirs: GitDirs): Promise<Survey> {
  const listed = parseEntries(await git(root, ['ls-files', '-z', '--stage', '--', ...surveyedPaths]))
  // Everything but submodules is checked on disk.
  const submodule = findConflict(listed.filter(({ mode }) => mode === submoduleMode))
  if (submodule !== null) throw notInstallable(submodule)
  const record = readInstallRecord(gitDirs.own)
  if (record.kind === 'refused')
    throw new UserError(
      `The record of the last install cannot be read: ${record.why}.`,
      `Remove the folder ${join(gitDirs.own, 'plan-gate')}, unless something there is yours, and run \`plan-gate install\` again.`,
    )
  assertPlainPlan(root)
  return {
    record: record.kind === 'read' ? record.value : null,
    isTracked: trackedBy(listed),
    root,
    read: (path) => readOwn(root, path),
    settings: [...settingsOf(root), ...outerSettings(gitDirs)],
    wrapper: wrapperPath(gitDirs.own),
  }
}

function assertPlainPlan(root: string): void {
  const folder = checkFolder(root, dirname(planPath))
  if (folder.kind === 'refused') throw notInstallable(folder.why)
  const plan = lstatEntry(root, planPath)
  if (plan.kind === 'entry' && !plan.stat.isFile())
    throw notInstallable(`${planPath} is ${describeStat(plan.stat)}, not a file`)
}

export async function surveyCommit(repo: string, commit: string): Promise<Survey> {
  const entries = [
    ...(await listTree(repo, ['-r', commit, '--', ...surveyedPaths])),
    // Not the rest of that folder, which may be all of the documentation.
    ...(await listTree(repo, [commit, '--', dirname(planPath), planPath])).filter(
      ({ mode, path }) => path === planPath || ![folderMode, submoduleMode].includes(mode),
    ),
  ]
  const conflict = findConflict(entries)
  if (conflict !== null) throw notInstallable(conflict)
  const blobs = new Map<string, Buffer>()
  for (const { object, path } of entries.filter(({ path }) => isRead(path)).slice(0, maxBlobs)) {
    const blob = await readBlob(repo, object)
    if (blob !== null) blobs.set(path, blob)
  }
  const read = (path: string): Buffer | null => blobs.get(path) ?? null
  return {
    // For a preview: nothing is written there.
    root: repo,
    record: null,
    isTracked: trackedBy(entries),
    read,
    settings: [
      ...settingsFiles.flatMap((path) => read(path)?.toString('utf8') ?? []),
      ...outerSettings(readGitDirs(repo)),
    ],
    wrapper: null,
  }
}

/** The settings files outside of a worktree that apply to it: the user's, and the main checkout's. */
function outerSettings(gitDirs: GitDirs | null): string[] {
  const mainRoot = gitDirs?.mainRoot ?? null
  return [...textOf(join(claudeDir(), 'settings.json')), ...(mainRoot === null ? [] : settingsOf(mainRoot))]
}

const settingsOf = (root: string): string[] => settingsFiles.flatMap((path) => textOf(join(root, path)))

function textOf(file: string): string[] {
  const read = readThroughLinks(file)
  return read.kind === 'read' ? [read.bytes.toString('utf8')] : []
}

const folderMode = '040000'
const submoduleMode = '160000'

const listTree = async (repo: string, args: readonly string[]): Promise<(TreeEntry & { object: string })[]> =>
  parseEntries(await git(repo, ['ls-tree', '-z', '--full-tree', ...args]))

/** `mode type object TAB path` of a tree, `mode object stage TAB path` of the index. */
const parseEntries = (listed: string): (TreeEntry & { object: string })[] =>
  listed.split('\0').flatMap((entry) => {
    const [mode = '', ...words] = entry.split(/[ \t]/, 3)
    const object = words.find((word) => word.length >= 40) ?? ''
    return entry === '' ? [] : [{ mode, object, path: entry.slice(entry.indexOf('\t') + 1) }]
  })

/** Only what is needed: each file takes a git process, and a team may have any number below `.claude`. */
const isRead = (path: string): boolean =>
  [configFile, ...settingsFiles, ignorePath].includes(path) ||
  [hooksDir, ...ownSkillDirs].some((folder) => path.startsWith(`${folder}/`))

const maxBlobs = 100

/** A folder counts as tracked when something in it is. */
function trackedBy(entries: readonly TreeEntry[]): Survey['isTracked'] {
  const tracked = new Set(entries.map(({ path }) => path))
  return (path) => tracked.has(path) || (path.endsWith('/') && [...tracked].some((file) => file.startsWith(path)))
}

function readOwn(root: string, path: string): Buffer | null {
  const read = readRegular(root, path)
  if (read.kind === 'refused') throw notInstallable(read.why)
  return read.kind === 'read' ? read.bytes : null
}

const notInstallable = (why: string): UserError =>
  new UserError(
    `plan-gate cannot install here: ${why}.`,
    'It only writes regular files in real folders of the worktree. Replace that, then run the command again.',
  )

/** From `git ls-tree` or `git ls-files`: a file, a symbolic link, a submodule or (without -r) a folder. */
type TreeEntry = { readonly mode: string; readonly path: string }

const installedPaths: readonly string[] = [configFile, ...settingsFiles, ignorePath, planPath, ...ownSkillFiles]
const installedFolders: readonly string[] = [...foldersOf(installedPaths), '.claude/hooks', hooksDir, reviewDir]

/** Why plan-gate cannot write regular files into real folders there; null if it can. */
function findConflict(entries: readonly TreeEntry[]): string | null {
  for (const { mode, path } of entries) {
    const inside = path.startsWith(`${hooksDir}/`) ? path.slice(hooksDir.length + 1) : null
    if (installedFolders.includes(path)) return `${path} is ${kindOf(mode)}, not a folder`
    if ((installedPaths.includes(path) || inside !== null) && isNotFile(mode))
      return `${path} is ${kindOf(mode)}, not a file`
    const file = installedPaths.find((name) => path.startsWith(`${name}/`))
    if (file !== undefined) return `${file} is a folder, not a file`
    if (inside?.includes('/')) return `${hooksDir} has a folder in it`
  }
  return null
}

const isNotFile = (mode: string): boolean => !mode.startsWith('100')

const kinds: { readonly [mode: string]: string } = {
  '040000': 'a folder',
  '120000': 'a symbolic link',
  '160000': 'a submodule',
}

const kindOf = (mode: string): string => kinds[mode] ?? 'a file'

export function foldersOf(paths: readonly string[]): string[] {
  const folders = new Set<string>()
  for (const path of paths) for (let dir = dirname(path); dir !== '.'; dir = dirname(dir)) folders.add(dir)
  return [...folders].sort((a, b) => a.length - b.length)
}

/** What is in a worktree, read from disk or (before it exists) from a commit. */
export type Survey = {
  root: string
  record: InstallRecord | null
  isTracked: (path: string) => boolean
  read: (path: string) => Buffer | null
  /** The texts of all settings files that apply and may set another status line. */
  settings: readonly string[]
  /** The program that commands start through; null as long as there is no worktree. */
  wrapper: string | null
}

type Foreign = { readonly what: string; readonly remedy: string }

/** The hooks trust them as made here. Our own `.gitignore` files keep them out of commits. */
export function findForeign({ record, isTracked, read }: Survey): Foreign | null {
  if (isTracked(`${reviewDir}/`))
    return {
      what: `${reviewDir} is committed in this repository, and a review or an approval is only valid where it was made`,
      remedy: `Remove it (git rm -r --cached ${reviewDir}) and commit that; then run the command again.`,
    }
  const generated = [compiledConfigPath, ...cachedFiles.map((name) => `${hooksDir}/${name}.mjs.cache`)].find(isTracked)
  if (generated !== undefined)
    return {
      what: `${generated} is committed in this repository, and each machine generates its own`,
      remedy: `Remove it (git rm --cached ${generated}) and commit that; then run the command again.`,
    }
  const foreign = [reviewPaths.approval, reviewPaths.ledger].find((path) => read(path) !== null)
  if (record === null && foreign !== undefined)
    return {
      what: `${foreign} is here, although no plan-gate was installed that could have written it`,
      remedy: `Check ${reviewDir} and remove it; then run the command again.`,
    }
  return null
}
