import { join, resolve, sep } from 'node:path'
import { readConfigBaseline, withoutPastedKeys, writeCompiledConfig } from '../config/compiled-config.ts'
import { describeProblems, invalidConfig } from '../config/errors.ts'
import { parseConfig } from '../config/load.ts'
import { type CompiledConfig, defaultConfig, type EffectiveConfig } from '../config/schema.ts'
import { isCallRunning } from '../gate/call-notes.ts'
import { codexHome } from '../reviewers/codex/program.ts'
import type { InstallRecord } from '../schemas/records.ts'
import { readRegular, throwIfUnreadable } from '../state/files.ts'
import { marketplaceFolders } from '../state/linked-files.ts'
import { configFile, installRecordPath, settingsFiles } from '../state/own-paths.ts'
import { readInstallRecord } from '../state/records.ts'
import { isTransient } from '../system/errors.ts'
import { readGitDirs } from '../system/git-dirs.ts'
import { claudeDir, claudeStateFile, homeDir, resolvePath, slashed } from '../system/paths.ts'
import { userGitConfigs } from '../system/repository-setup.ts'
import { settingsOrEmpty } from './settings.ts'

/** By the command line and at session start. While a tool call runs, which may have written it, the baseline stays. */
export function recompileConfig(root: string): CompiledConfig {
  const own = readGitDirs(root)?.own ?? null
  return own !== null && isCallRunning(own) ? restoreConfig(root) : write(root, own, compileConfig(root))
}

/** The same from the baseline. Only where there is none, `plan-gate.yaml` counts as it is. */
export function restoreConfig(root: string): CompiledConfig {
  const own = readGitDirs(root)?.own ?? null
  const baseline = own === null ? null : readConfigBaseline(own)
  if (baseline !== null) throwIfUnreadable('the baseline of plan-gate.yaml', baseline)
  if (baseline?.kind !== 'read') return write(root, own, compileConfig(root))
  const { source, problems, notices } = baseline.value
  return write(root, own, { ...compileConfig(root, () => source), source, problems, notices })
}

function write(root: string, gitDir: string | null, compiled: CompiledConfig): CompiledConfig {
  writeCompiledConfig(root, gitDir, compiled)
  return compiled
}

/** `readSource`: null where there is no file. */
export function compileConfig(root: string, readSource?: () => string | null): CompiledConfig {
  const record = installRecord(root)
  const inherited = record?.config ?? null
  const { source, problems, notices, config } =
    readSource === undefined ? readConfigFile(root, inherited) : parseSource(readSource(), inherited)
  const chosen = record === null ? config : withInstallChoices(config, record)
  return {
    version: 1,
    recorded: record !== null,
    source: source === null || problems.length === 0 ? source : withoutPastedKeys(source),
    problems,
    notices,
    protected_paths: readProtectedPaths(
      root,
      planModeDirs(root),
      reviewersIn(root, chosen),
      programFolders(root, record),
    ),
    config: chosen,
  }
}

function installRecord(root: string): InstallRecord | null {
  const gitDirs = readGitDirs(root)
  const read = gitDirs === null ? null : readInstallRecord(gitDirs.own)
  // A disk error must not drop the choices of the install.
  if (read !== null) throwIfUnreadable(installRecordPath, read)
  return read?.kind === 'read' ? read.value : null
}

type ConfigFile = {
  source: string | null
  problems: readonly string[]
  notices: readonly string[]
  config: EffectiveConfig
}

/** The worktree's own file; without one, the file that the checkout had when the worktree was opened. */
function readConfigFile(root: string, inherited: string | null): ConfigFile {
  const read = readRegular(root, configFile)
  // It may be readable in a moment, and what is compiled counts until the next session.
  if (read.kind === 'refused' && isTransient(read.errno)) throwIfUnreadable(configFile, read)
  if (read.kind === 'refused') return { source: null, problems: [read.why], notices: [], config: defaultConfig }
  return parseSource(read.kind === 'read' ? read.bytes.toString('utf8') : null, inherited)
}

function parseSource(source: string | null, inherited: string | null): ConfigFile {
  const parsed = parseConfig(source ?? inherited ?? '')
  return parsed.kind === 'valid'
    ? { source, problems: [], notices: describeProblems(parsed.notices, configFile), config: parsed.config }
    : { source, problems: describeProblems(parsed.problems, configFile), notices: [], config: defaultConfig }
}

/** For whoever cannot go on with one that is not valid. `inherited` applies if the worktree has no file of its own. */
export const readConfigIn = (root: string, inherited: string | null = null): EffectiveConfig =>
  validOrThrow(readConfigFile(root, inherited), join(root, configFile))

/** `name` is what the error calls the file. */
export const parseConfigOf = (text: string, name: string): EffectiveConfig =>
  validOrThrow(parseSource(text, null), name)

function validOrThrow({ config, problems }: ConfigFile, name: string): EffectiveConfig {
  if (problems.length > 0) throw invalidConfig('is not valid', problems, name)
  return config
}

/** `--reviewer` and `--reflect` of the install override the file, in this worktree only. */
const withInstallChoices = (config: EffectiveConfig, { reviewer, reflect }: InstallRecord): EffectiveConfig => ({
  ...config,
  ...(reviewer === null ? {} : { review: onlyReviewer(config, reviewer) }),
  ...(reflect ? { reflect: { ...config.reflect, enabled: true } } : {}),
})

export const onlyReviewer = ({ review }: EffectiveConfig, reviewer: string): EffectiveConfig['review'] => ({
  ...review,
  routes: [onlyRoute(reviewer)],
})

type Route = NonNullable<EffectiveConfig['review']['routes']>[number]

const onlyRoute = (backend: string): Route => ({
  backend: backend as Route['backend'],
  when: ['always'],
  fail_mode: 'hard_fail',
  retries: 0,
})

/** Writing to these would control approvals: a reviewer program, and the instructions that Codex reads before every review. */
const reviewersIn = (root: string, { hounfour }: EffectiveConfig): string[] => [
  ...(hounfour.model_invoke.includes('/') ? [resolve(root, hounfour.model_invoke)] : []),
  ...['config.toml', 'AGENTS.md', 'AGENTS.override.md'].map((name) => join(codexHome(process.env), name)),
]

/** Claude Code's own folder for plans, and `plansDirectory` of any settings; it ignores one outside of the project. */
function planModeDirs(root: string): string[] {
  const userDir = claudeDir()
  const mainRoot = readGitDirs(root)?.mainRoot ?? root
  const files = [mainRoot, root].flatMap((dir) => settingsFiles.map((path) => [dir, path] as const))
  const named = [...files, [userDir, 'settings.json'] as const].flatMap(([dir, path]) => plansDirectoryIn(dir, path))
  const inside = named.map((dir) => resolve(root, dir)).filter((dir) => dir === root || dir.startsWith(`${root}${sep}`))
  return [join(userDir, 'plans'), ...new Set(inside)]
}

function plansDirectoryIn(dir: string, path: string): string[] {
  const read = readRegular(dir, path)
  const { plansDirectory } = settingsOrEmpty(read.kind === 'read' ? read.bytes.toString('utf8') : '')
  return typeof plansDirectory === 'string' && plansDirectory !== '' ? [plansDirectory] : []
}

/** Where an administrator's settings stand. */
const managedDirs = {
  darwin: ['/Library/Application Support/ClaudeCode'],
  win32: ['C:\\Program Files\\ClaudeCode', 'C:\\ProgramData\\ClaudeCode'],
}[process.platform as string] ?? ['/etc/claude-code']

type Folder = { named: string; real: string }

/** With the sessions of a reviewer: who writes there tells it what it has said. Its own module would cost the gate time. */
const reviewCache = (): string => join(process.env.XDG_CACHE_HOME || join(homeDir(), '.cache'), 'plan-gate')

/** plan-gate, and plugins that are read where they stand; not where one is developed, in or around this worktree. */
function programFolders(root: string, record: InstallRecord | null): string[] {
  const here = folder(root).real
  return [...new Set([record?.package_root ?? [], ...marketplaceFolders().values()].flat())].filter((path) => {
    const { real } = folder(path)
    return !`${real}/`.startsWith(`${here}/`) && !`${here}/`.startsWith(real === '/' ? real : `${real}/`)
  })
}

/** Reads the paths that writes are compared with. `reviewers`: programs that decide about a plan. */
function readProtectedPaths(
  root: string,
  planModeDirs: readonly string[],
  reviewers: readonly string[],
  programs: readonly string[],
) {
  const gitDirs = readGitDirs(root)
  return {
    root: folder(root),
    gitDirs: gitDirs === null ? [] : [gitDirs.own, gitDirs.common].flatMap(bothNames),
    mergedRoots: gitDirs?.mainRoot === null || gitDirs === null ? [] : bothNames(gitDirs.mainRoot),
    userDirs: [claudeDir(), reviewCache(), ...managedDirs, ...programs].flatMap(bothNames),
    userFiles: [claudeStateFile(), ...userGitConfigs(), ...reviewers].flatMap(bothNames),
    planModeDirs: planModeDirs.map(folder),
  }
}

const folder = (named: string): Folder => {
  const resolved = resolvePath(named)
  // The result is cached for many calls, so a target must not be guessed after a disk error.
  if (resolved.kind === 'unresolvable' && isTransient(resolved.errno)) throw new Error(`${named}: ${resolved.why}`)
  return { named: slashed(resolved.path), real: slashed(resolved.kind === 'resolved' ? resolved.real : resolved.path) }
}

const bothNames = (named: string): string[] => {
  const { named: asNamed, real } = folder(named)
  return asNamed === real ? [real] : [asNamed, real]
}
