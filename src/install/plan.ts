import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { dirname } from 'node:path/posix'
import { readThroughLinks } from '../gate/loaded-commands.ts'
import { harmlessTools } from '../gate/tools.ts'
import type { InstallRecord } from '../schemas/records.ts'
import { checkFolder, describeStat, lstatEntry, readRegular } from '../state/files.ts'
import {
  compiledConfigPath,
  hooksDir,
  ignorePath,
  localSettings,
  ownSkills,
  planPath,
  reviewDir,
  reviewPaths,
  settingsFiles,
  sharedSettings,
} from '../state/own-paths.ts'
import { readInstallRecord } from '../state/records.ts'
import { claudeDir } from '../system/claude.ts'
import { UserError } from '../system/errors.ts'
import { git, readBlob } from '../system/git.ts'
import { type GitDirs, readGitDirs } from '../system/git-dirs.ts'
import { packageRoot } from '../system/package.ts'
import { codeCaches } from './code-cache.ts'
import {
  bundleNames,
  cachedFiles,
  type HookEntries,
  hookEntries,
  type StatusLine,
  statusLineEntry,
} from './hook-entries.ts'
import {
  formatSettings,
  hasOtherStatusLine,
  hasOwnEntries,
  keepsOwnHooks,
  ownEntriesOf,
  ownHooksOf,
  parseSettings,
  type Settings,
  shapeProblem,
  withOwnEntries,
  withoutOwnEntries,
} from './settings.ts'
import { deniedRules, findThreatsIn } from './settings-audit.ts'

const ours = ['.claude', 'plan-gate.yaml'] as const

/** What stands in a worktree that exists. */
export async function surveyInstall(root: string, gitDirs: GitDirs): Promise<Survey> {
  const listed = parseEntries(await git(root, ['ls-files', '-z', '--stage', '--', ...ours]))
  // The rest is judged by what is on disk.
  const submodule = findConflict(listed.filter(({ mode }) => mode === submoduleMode))
  if (submodule !== null) throw notInstallable(submodule)
  const tracked = new Set(listed.map(({ path }) => path))
  const record = readInstallRecord(gitDirs.own)
  if (record.kind === 'refused')
    throw new UserError(
      `The record of the last install cannot be read: ${record.why}.`,
      `Look at ${join(gitDirs.own, 'plan-gate')}; if nothing there is yours, remove that folder and run \`plan-gate install\` again.`,
    )
  refusePlanElsewhere(root)
  return {
    record: record.kind === 'read' ? record.value : null,
    isTracked: (path) => isTracked(tracked, path),
    read: (path) => readOwn(root, path),
    settings: [...settingsOf(root), ...settingsBeyond(gitDirs)],
  }
}

/** However long it is: only what it is counts here. */
function refusePlanElsewhere(root: string): void {
  const folder = checkFolder(root, dirname(planPath))
  if (folder.kind === 'refused') throw notInstallable(folder.why)
  const plan = lstatEntry(root, planPath)
  if (plan.kind === 'entry' && !plan.stat.isFile())
    throw notInstallable(`${planPath} is ${describeStat(plan.stat)}, not a file`)
}

/** What will stand in a worktree that is still to be opened from a commit. */
export async function surveyCommit(repo: string, commit: string): Promise<Survey> {
  const entries = [
    ...(await listTree(repo, ['-r', commit, '--', ...ours])),
    // Not what else is in that folder: it may be all of the documentation.
    ...(await listTree(repo, [commit, '--', dirname(planPath), planPath])).filter(
      ({ mode, path }) => path === planPath || ![folderMode, submoduleMode].includes(mode),
    ),
  ]
  const inTheWay = findConflict(entries)
  if (inTheWay !== null) throw notInstallable(inTheWay)
  const blobs = new Map<string, Buffer>()
  for (const { object, path } of entries.filter(({ path }) => isRead(path)).slice(0, maxBlobs)) {
    const blob = await readBlob(repo, object)
    if (blob !== null) blobs.set(path, blob)
  }
  const tracked = new Set(entries.map(({ path }) => path))
  const read = (path: string): Buffer | null => blobs.get(path) ?? null
  return {
    record: null,
    isTracked: (path) => isTracked(tracked, path),
    read,
    settings: [
      ...settingsFiles.flatMap((path) => read(path)?.toString('utf8') ?? []),
      ...settingsBeyond(readGitDirs(repo)),
    ],
  }
}

/** What counts in a worktree beside its own files: the user's, and the main checkout's, of which one is merged into it. */
function settingsBeyond(gitDirs: GitDirs | null): string[] {
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

/** A team may keep any number of files of its own below `.claude`, and each is a git of its own here. */
const isRead = (path: string): boolean =>
  /^(?:plan-gate\.yaml|\.claude\/(?:settings[^/]*\.json|\.gitignore))$/.test(path) ||
  [hooksDir, ...ownSkills.map((name) => `.claude/skills/${name}`)].some((folder) => path.startsWith(`${folder}/`))

const maxBlobs = 100

/** A folder counts as tracked when something in it is. */
const isTracked = (tracked: ReadonlySet<string>, path: string): boolean =>
  tracked.has(path) || (path.endsWith('/') && [...tracked].some((file) => file.startsWith(path)))

function readOwn(root: string, path: string): Buffer | null {
  const read = readRegular(root, path)
  switch (read.kind) {
    case 'absent':
      return null
    case 'read':
      return read.bytes
    case 'refused':
      throw notInstallable(read.why)
  }
}

const notInstallable = (why: string): UserError =>
  new UserError(
    `plan-gate cannot install here: ${why}.`,
    'It writes only real files in real folders of the worktree. Replace that by one, then run the command again.',
  )

/** As `git ls-tree -r` lists it: a file, a symbolic link or a submodule, never a folder. */
type TreeEntry = { readonly mode: string; readonly path: string }

const files: readonly string[] = [
  'plan-gate.yaml',
  '.claude/settings.json',
  '.claude/settings.local.json',
  '.claude/.gitignore',
  planPath,
  ...ownSkills.map((name) => `.claude/skills/${name}/SKILL.md`),
]

const folders: readonly string[] = [...foldersOf(files), '.claude/hooks', hooksDir, reviewDir]

/** Why plan-gate could not write real files into real folders of such a commit; null where it can. */
function findConflict(entries: readonly TreeEntry[]): string | null {
  for (const { mode, path } of entries) {
    const inside = path.startsWith(`${hooksDir}/`) ? path.slice(hooksDir.length + 1) : null
    if (folders.includes(path)) return `${path} is ${kindOf(mode)}, not a folder`
    if ((files.includes(path) || inside !== null) && isNoFile(mode)) return `${path} is ${kindOf(mode)}, not a file`
    const file = files.find((name) => path.startsWith(`${name}/`))
    if (file !== undefined) return `${file} is a folder, not a file`
    if (inside?.includes('/')) return `${hooksDir} has a folder in it`
  }
  return null
}

const isNoFile = (mode: string): boolean => !mode.startsWith('100')

const kinds: { readonly [mode: string]: string } = {
  '040000': 'a folder',
  '120000': 'a symbolic link',
  '160000': 'a submodule',
}

const kindOf = (mode: string): string => kinds[mode] ?? 'a file'

/** Every folder on the way to these files, outermost first. */
export function foldersOf(paths: readonly string[]): string[] {
  const folders = new Set<string>()
  for (const path of paths) for (let dir = dirname(path); dir !== '.'; dir = dirname(dir)) folders.add(dir)
  return [...folders].sort((a, b) => a.length - b.length)
}

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
  for (const path of settingsFiles) {
    const [threat] = findThreatsIn(survey.read(path)?.toString('utf8') ?? '')
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
  if (!(Math.min(...deadlines) > 0 && planTimeoutSeconds <= maxHookTimeout)) return false
  return [false, true].some((reflect) => {
    const expected = { hooks: hookEntries({ node: 'node', harmlessTools, planTimeoutSeconds, reflect }) }
    return keepsOwnHooks(settings, expected) && keepsOwnHooks(expected, settings)
  })
}

/** What `plan.deadline_seconds` may be at most, and the margin. */
const maxHookTimeout = 7_260

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
  const why = shapeProblem(settings, Object.keys(entries))
  if (why !== null)
    throw new UserError(
      `${path} cannot be changed: ${why}. Claude Code would skip the whole file.`,
      'Fix the JSON, then run the command again.',
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

export const ignoreMark = '# plan-gate: keeps its settings file out of git status, and goes with `plan-gate uninstall`.'

export const fromBase64 = (text: string): string => Buffer.from(text, 'base64').toString('utf8')

export const toBase64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64')

type Foreign = { readonly what: string; readonly remedy: string }

/**
 * What a repository must not bring along, since it would count as if it had been made here: a verdict on a plan, or
 * what the hooks believe without another look. Our own `.gitignore` files keep all of it out of every commit.
 */
export function findForeign({ record, isTracked, read }: Survey): Foreign | null {
  if (isTracked(`${reviewDir}/`))
    return {
      what: `${reviewDir} is committed in this repository, and a review or an approval counts only where it was given`,
      remedy: `Take it out (git rm -r --cached ${reviewDir}) and commit that; then run the command again.`,
    }
  const made = [compiledConfigPath, ...cachedFiles.map((name) => `${hooksDir}/${name}.mjs.cache`)].find(isTracked)
  if (made !== undefined)
    return {
      what: `${made} is committed in this repository, and each machine makes its own`,
      remedy: `Take it out (git rm --cached ${made}) and commit that; then run the command again.`,
    }
  if (record === null && read(reviewPaths.approval) !== null)
    return {
      what: `${reviewPaths.approval} lies here, and no plan-gate was installed that could have asked anybody`,
      remedy: `Look at ${reviewDir} and remove it; then run the command again.`,
    }
  return null
}

export type OwnFile = { path: string; bytes: Buffer; mode: number }

/** Everything that an install writes but the settings; `read` and `record` tell what is there already. */
export async function ownFiles(
  options: Pick<InstallOptions, 'node' | 'track'>,
  { record, read, isTracked }: Survey,
): Promise<OwnFile[]> {
  const files = packageFiles()
  const isCommitted = options.track || isTracked(`${hooksDir}/`)
  return [...files, ...(isCommitted ? [madeByEach] : []), ...(await codeCaches(options.node, files, record, read))]
}

/** In a repository that carries the gate, what each machine makes for itself stays out of git. */
const madeByEach: OwnFile = {
  path: `${hooksDir}/.gitignore`,
  bytes: Buffer.from('/config.json\n/*.cache\n/.*.tmp\n'),
  mode: 0o644,
}

/** What is copied into a worktree: the hook bundles, because a worktree has no node_modules, and the skills. */
function packageFiles(): OwnFile[] {
  const root = packageRoot()
  const hooks = bundleNames.map((name) => ({
    path: `${hooksDir}/${name}.mjs`,
    bytes: readFileSync(join(root, 'dist', 'hooks', `${name}.mjs`)),
    mode: 0o644,
  }))
  const skills = ownSkills.map((name) => ({
    path: `.claude/skills/${name}/SKILL.md`,
    bytes: readFileSync(join(root, 'skills', name, 'SKILL.md')),
    mode: 0o644,
  }))
  return [...hooks, ...skills]
}

/** Everything of ours in a worktree but the settings file, as lines for `info/exclude`. */
const ownExcludes: readonly string[] = [
  `/${hooksDir}/`,
  '/.claude/review/',
  // What a killed write leaves of the settings file or of the .gitignore beside it.
  '/.claude/.*.tmp',
  ...ownSkills.map((name) => `/.claude/skills/${name}/`),
]
