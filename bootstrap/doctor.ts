import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pendingConfig } from '../src/config/compiled-config.ts'
import type { EffectiveConfig } from '../src/config/schema.ts'
import { proveSandbox } from '../src/gate/sandbox/canary.ts'
import { readMode, whyNoSandbox } from '../src/gate/sandbox/rules.ts'
import { oldClientProblem, parseVersion } from '../src/gate/sandbox/set-up.ts'
import { compileConfig } from '../src/install/compile-config.ts'
import { findForeign, surveyInstall } from '../src/install/plan.ts'
import {
  type CheckResult,
  checkClaude,
  checkConfig,
  checkGit,
  checkNode,
  checkReviewer,
  failed,
  inInstall,
  ok,
  type Reviewer,
  updateClaude,
  warning,
} from '../src/install/prerequisites.ts'
import { selfTest } from '../src/install/self-test.ts'
import { readTrust } from '../src/install/trust.ts'
import { readRouteTable, routeFacts } from '../src/reviewers/create.ts'
import { cacheFolder } from '../src/reviewers/program-cache.ts'
import { describeServing } from '../src/reviewers/routes.ts'
import type { InstallRecord } from '../src/schemas/records.ts'
import { configFile, settingsFiles } from '../src/state/own-paths.ts'
import { openPassTimes } from '../src/state/pass-times.ts'
import { type InstallRecordRead, readInstallRecord } from '../src/state/records.ts'
import { listSessions, sessionFolder } from '../src/state/sessions.ts'
import { relativeEntries, userEnvironment } from '../src/system/environment.ts'
import { UserError } from '../src/system/errors.ts'
import { gitOrNull } from '../src/system/git.ts'
import { type GitDirs, readGitDirs } from '../src/system/git-dirs.ts'
import { claudeDir, claudeStateFile, resolvePath } from '../src/system/paths.ts'
import { findRepository, listWorktrees, MovedError } from '../src/system/repository.ts'
import { printable } from '../src/text/clean.ts'
import { shellWord } from '../src/text/own-commands.ts'
import {
  checkFiles,
  checkHidden,
  checkInstalledOptions,
  checkPlugin,
  checkPrograms,
  checkRecords,
  checkSettingsFiles,
} from './doctor-install.ts'
import { throwIfAnyMoved } from './find-worktree.ts'
import { isTrusted } from './launch.ts'

/** Checks everything that could keep the gate from holding. Changes nothing. */
export async function runDoctor(root: string, gitDirs: GitDirs): Promise<CheckResult[]> {
  const { config, problems, notices } = compileConfig(root)
  const record = readInstallRecord(gitDirs.own)
  const reviewer = record.kind === 'read' ? (record.value.reviewer as Reviewer | null) : null
  return [
    checkNode(),
    ...checkPlatform(process.platform),
    await checkGit(),
    await checkClaude({}),
    inInstall(await checkReviewer(reviewer, config)),
    ...(await checkServing(root, config)),
    ...checkConfigFile(root, gitDirs, problems, notices),
    // Routes of `--reviewer` do not come from the file.
    ...checkConfig(reviewer === null ? config : { ...config, review: { ...config.review, routes: [] } }),
    ...checkEnvironment(process.env),
    ...(await checkInstall(root, gitDirs, record, config)),
    checkTrust(gitDirs.mainRoot ?? root),
  ]
}

/** What nobody has run there cannot be promised. */
function checkPlatform(platform: NodeJS.Platform): CheckResult[] {
  const name = { darwin: 'macOS', win32: 'Windows' }[platform as string] ?? platform
  const detail = `plan-gate is tested on Linux; on ${name} only some of its parts are (how paths are read, how entries start)`
  return platform === 'linux'
    ? []
    : [warning('system', detail, 'Before you rely on the gate, ask Claude Code to change a file: it must be denied.')]
}

/** One row for all that is wrong in it: the command takes these lines out. */
function checkConfigFile(root: string, gitDirs: GitDirs, problems: readonly string[], notices: readonly string[]) {
  const rows = notices.map((notice) => warning(configFile, notice, 'Edit that line.'))
  if (problems.length > 0) {
    const lines = new Set(problems.flatMap((text) => /^[^:]*:(\d+)/.exec(text)?.[1] ?? []))
    const which = [...lines].map((line) => `$. == ${line}`).join(' || ')
    const command = `perl -pi -e 's/^/# / if ${which}' ${shellWord(join(root, configFile))} && plan-gate config --apply`
    const remedy = lines.size === 0 ? 'Fix that file.' : `Fix it, or leave those lines out: \`${command}\``
    rows.unshift(failed(configFile, problems.join(' ').replace(/\.$/, ''), remedy))
  } else if (pendingConfig(root, gitDirs.own) !== null) {
    const remedy = 'Run `plan-gate config --apply`, or start the session again.'
    rows.push(warning(configFile, 'it has changed, and the text before still counts', remedy))
  }
  return rows
}

/** Who would review in this worktree now, as `status` and `doctor` tell it. */
export async function servingHere(root: string, config: EffectiveConfig): ReturnType<typeof describeServing> {
  const { review, built } = readRouteTable(root, config, process.env)
  const { routes, notices } = built.kind === 'table' ? built.table : { routes: [], notices: [] }
  const env = userEnvironment(process.env)
  const times = openPassTimes(readGitDirs(root)?.own ?? null, cacheFolder(env))
  const serving = await describeServing({ routes }, review, routeFacts(config, process.env, root), times, env)
  return { ...serving, warnings: [...serving.warnings, ...notices.map((notice) => notice.replace(/\.$/, ''))] }
}

/** Who would review, what it may see and costs; and readers that are named and cannot be asked. */
async function checkServing(root: string, config: EffectiveConfig): Promise<CheckResult[]> {
  const { row, words, warnings } = await servingHere(root, config)
  const remedy = '`plan-gate routes` shows every row; review.routes and review.readers say who reviews.'
  const rows = warnings.map((detail) => warning('reviews', detail, remedy))
  return row === null ? rows : [ok('reviews', words), ...rows]
}

async function checkInstall(root: string, gitDirs: GitDirs, read: InstallRecordRead, config: EffectiveConfig) {
  if (read.kind === 'absent') {
    const remedy = 'Run `plan-gate install` here, or `plan-gate bootstrap` for a worktree of its own.'
    return [failed('install', `there is no gate in ${root}`, remedy)]
  }
  if (read.kind === 'refused')
    return [failed('install', read.why, 'Run `plan-gate uninstall`, then `plan-gate install`.')]
  const record = read.value
  const broken = [...checkFiles(root, record), ...checkPrograms(record)]
  const fails = broken.some(({ status }) => status === 'failed')
  // The same cause, told twice, is no help.
  const unlessBroken = (name: string, check: () => Promise<CheckResult[]>) => (fails ? [] : guarded(name, check))
  const isNew = ({ detail }: CheckResult): boolean => !broken.some((row) => detail.includes(row.detail))
  const tracked = await trackedIn(root)
  const settings = checkSettingsFiles(root, (path) => tracked.has(path)).filter(isNew)
  const holds = settings.length === 0 && !fails ? [ok('settings', 'nothing in them switches the gate off')] : settings
  return [
    ...(broken.length > 0 ? broken : [ok('install', `${record.files.length} files, unchanged`)]),
    ...(await unlessBroken('install', () => checkForeignFiles(root, gitDirs))),
    ...holds,
    ...(await guarded('git', () => checkHidden(root, record))),
    ...checkRecords(root).filter(isNew),
    ...checkInstalledOptions(root, record, config),
    ...checkPlugin(root, gitDirs, record),
    ...(await unlessBroken('self-test', () => checkCanaries(root, record))),
    ...(await unlessBroken('sandbox', () => checkSandbox(root, gitDirs, config))),
    ...(await guarded('repository', () => checkRepository(root, gitDirs, settings.length > 0))),
    ...(await guarded('sessions', async () => checkSessions(root, record))),
  ]
}

/** A check that cannot be made is a row like any other. */
async function guarded(name: string, check: () => Promise<CheckResult[]>): Promise<CheckResult[]> {
  try {
    return await check()
  } catch (error) {
    const remedy = error instanceof UserError ? error.nextStep : 'Fix that, then run `plan-gate doctor` again.'
    return [failed(name, (error instanceof Error ? error.message : String(error)).replace(/\.$/, ''), remedy)]
  }
}

const trackedIn = async (root: string): Promise<ReadonlySet<string>> =>
  new Set((await gitOrNull(root, ['ls-files', '-z', '--', '.claude']))?.split('\0') ?? [])

async function checkCanaries(root: string, { settings }: InstallRecord): Promise<CheckResult[]> {
  const { checks, problems } = await selfTest(root, settings)
  return problems.length === 0
    ? [ok('self-test', `passed (${checks} checks)`)]
    : problems.map((problem) => failed('self-test', problem, 'Run `plan-gate install` to restore the gate.'))
}

/** What the repository brings into a session, item by item. */
async function checkRepository(root: string, gitDirs: GitDirs, settingsFail: boolean): Promise<CheckResult[]> {
  const { items: all } = await readTrust(root, gitDirs)
  // Our own hooks, in a form that is not ours any more, are told with the settings.
  const items = settingsFail ? all.filter(({ path }) => !settingsFiles.some((file) => file === path)) : all
  if (items.length === 0) return [ok('repository', 'it brings nothing that runs programs or changes a session')]
  const remedy = '`plan-gate trust` allows it; until then `plan-gate open` starts sessions that do not load it.'
  const words = { trusted: 'trusted', changed: 'changed since you trusted it', new: 'not trusted' } as const
  return items.map(({ id, path, what, runs, state }) => {
    const detail = `${words[state]}: ${id} (${path}): ${what}${runs.length === 0 ? '' : `: ${runs.join('; ')}`}`
    return state === 'trusted' ? ok('repository', detail) : warning('repository', detail, remedy)
  })
}

/** The canary of a session start, with the profiles as they are. */
async function checkSandbox(root: string, gitDirs: GitDirs, { gate }: EffectiveConfig): Promise<CheckResult[]> {
  const again = 'Run `plan-gate install`, and start Claude Code again.'
  const mode = readMode(gitDirs.own)
  if (mode === null) return [warning('sandbox', 'it is not set up here, so the list decides about commands', again)]
  const proof = await (mode === 'sandbox'
    ? proveSandbox(root, gitDirs, gate.sandbox)
    : ({ kind: 'fails', why: whyNoSandbox(gitDirs.own) } as const))
  if (proof.kind === 'fails') {
    const remedy =
      mode === 'sandbox' ? again : 'Install Codex or your system’s bubblewrap, then run `plan-gate install`.'
    const detail = `there is none, so the list decides about commands, and a process that outlives its approval is not ended: ${proof.why}`
    return [(gate.bash.mode === 'sandbox' ? failed : warning)('sandbox', detail, remedy)]
  }
  const rows = [
    ok('sandbox', `a command can change nothing before an approval${proof.rehearsal ? '; rehearsals work' : ''}`),
  ]
  if (process.platform === 'darwin')
    rows.push(warning('sandbox', 'on macOS a process that outlives its approval is not ended', again))
  if (gate.sandbox.approved !== 'protect') {
    const detail = 'after an approval commands run as they are (gate.sandbox.approved: off)'
    rows.push(warning('sandbox', detail, 'Remove that line.'))
  }
  return rows
}

export const movedRow = ({ message, nextStep }: MovedError): CheckResult =>
  failed('worktree', message.replace(/\.$/, ''), nextStep)

/** In the main checkout: worktrees that git no longer finds. */
export async function checkMoved(cwd: string): Promise<CheckResult[]> {
  const repository = await findRepository(cwd)
  try {
    throwIfAnyMoved(repository, await listWorktrees(repository.dir))
    return []
  } catch (error) {
    if (!(error instanceof MovedError)) throw error
    return [movedRow(error)]
  }
}

/** What a failure of these checks takes away is not the gate. */
const besides: { readonly [name: string]: string } = {
  reviewer: 'the reviewer is missing',
  'route table': 'nobody can review',
  'Claude Code': 'Claude Code is missing or too old',
  ledger: 'the record of the reviews is damaged, so approve, waive and continue refuse',
  [configFile]: 'plan-gate.yaml is invalid, so changes may be refused',
}

/** The one sentence that somebody in a hurry reads. */
export function headlineOf(results: readonly CheckResult[]): string {
  const failures = results.filter(({ status }) => status === 'failed')
  const [first, ...others] = failures.filter(({ name }) => besides[name] === undefined)
  if (first !== undefined)
    return `The gate does not hold: ${printable(first.detail, 160)}${others.length === 0 ? '' : ` (and ${others.length} more)`}.`
  const [missing] = failures.flatMap(({ name }) => besides[name] ?? [])
  if (missing !== undefined) return `The gate holds; ${missing}.`
  return worstStatus(results) === 'ok' ? 'The gate holds.' : 'The gate holds, with warnings.'
}

export const worstStatus = (results: readonly CheckResult[]): CheckResult['status'] =>
  (['failed', 'warning'] as const).find((status) => results.some((result) => result.status === status)) ?? 'ok'

/** Variables that a session started from this shell would inherit. */
function checkEnvironment(env: NodeJS.ProcessEnv): CheckResult[] {
  const rows: CheckResult[] = []
  const fail = (detail: string, remedy: string) => rows.push(failed('environment', detail, remedy))
  const [relative] = relativeEntries(env.PATH)
  if (relative !== undefined)
    fail(
      `PATH has a relative entry, ${JSON.stringify(relative)}: a command could be a program of the repository, so the gate refuses all commands`,
      'Remove it from PATH.',
    )
  for (const name of ['CLAUDE_CODE_SIMPLE', 'CLAUDE_CODE_SAFE_MODE'])
    if (!['', '0'].includes(env[name] ?? ''))
      fail(`${name} is set: Claude Code then runs no hooks at all`, `unset ${name}`)
  if (env.BASH_ENV) {
    const detail = 'BASH_ENV is set: every shell command of Claude runs that file first'
    rows.push(warning('environment', detail, 'unset BASH_ENV before you start Claude Code.'))
  }
  return rows
}

/** Files that a later pull may have brought and no install would have accepted. */
async function checkForeignFiles(root: string, gitDirs: GitDirs): Promise<CheckResult[]> {
  const foreign = findForeign(await surveyInstall(root, gitDirs))
  return foreign === null ? [] : [failed('install', foreign.what, foreign.remedy)]
}

type Transcript = { session: string; cwd: string }

/** Hooks write a heartbeat; transcripts show sessions without one: --bare, hooks switched off, or a subfolder. */
function checkSessions(root: string, record: InstallRecord): CheckResult[] {
  const rows: CheckResult[] = []
  const fail = (detail: string, remedy: string) => rows.push(failed('sessions', detail, remedy))
  const warn = (detail: string, remedy: string) => rows.push(warning('sessions', detail, remedy))
  const listed = listSessions(root)
  const unread = listed.find(({ why }) => why !== null)
  if (unread !== undefined)
    return [failed('sessions', `${unread.why}`, 'Fix that, or remove the file; then run this again.')]
  const sessions = listed.flatMap(({ session }) => session ?? [])
  const started = transcriptsSince(root, Date.parse(record.installed_at))
  for (const { session, cwd } of started.filter((transcript) => !isGuarded(root, transcript)).slice(0, 5))
    if (cwd === root)
      fail(
        `session ${session} ran here without a heartbeat of the gate`,
        'Start Claude Code without --bare and --safe-mode; see the settings checks of this report.',
      )
    else
      fail(
        `session ${session} was started in ${cwd}, where Claude Code does not see this worktree's hooks`,
        `Start it in ${root}.`,
      )
  const [old] = sessions.flatMap(({ session_id, client_version }) => {
    const problem = oldClientProblem(parseVersion(client_version ?? '') ?? [Infinity])
    return problem === null ? [] : [`session ${session_id} runs Claude Code ${problem}`]
  })
  if (old !== undefined) warn(old, updateClaude)
  const [last] = sessions
  if (last?.launched === false)
    warn(
      `session ${last.session_id} was not started by plan-gate: settings files can switch its hooks off, and it loads whatever the repository brings`,
      'Start the next one with `plan-gate open`.',
    )
  if (last === undefined && rows.length === 0)
    warn(
      'no session has started here yet, so its hooks have not run',
      'Start one with `plan-gate open`; then run this again.',
    )
  if (last === undefined || rows.length > 0) return rows
  const version = last.client_version ?? 'of an unknown version'
  return [ok('sessions', `last heartbeat ${last.last_seen_at} (Claude Code ${version})`)]
}

/** By the gate of this worktree, or by that of another one between. The plugin's hooks know folders below, too. */
function isGuarded(root: string, { session, cwd }: Transcript): boolean {
  for (let dir = cwd; ; dir = dirname(dir)) {
    if (existsSync(join(dir, sessionFolder(session)))) return true
    if (dir === root || dir === dirname(dir)) return existsSync(join(root, sessionFolder(session)))
  }
}

function transcriptsSince(root: string, since: number): Transcript[] {
  const projects = join(claudeDir(), 'projects')
  const resolved = resolvePath(root)
  const real = resolved.kind === 'resolved' ? resolved.real : root
  return namesIn(projects)
    .filter((name) => name.startsWith(folderName(real)) || name.startsWith(folderName(root)))
    .flatMap((name) => namesIn(join(projects, name)).map((file) => join(projects, name, file)))
    .filter((file) => file.endsWith('.jsonl') && statSync(file).mtimeMs >= since)
    .flatMap((file) => readTranscriptStart(file) ?? [])
    .filter(({ cwd }) => cwd === root || cwd === real || cwd.startsWith(`${root}/`) || cwd.startsWith(`${real}/`))
}

const folderName = (path: string): string => path.replace(/[^a-zA-Z0-9]/g, '-')

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir)
  } catch {
    return []
  }
}

/** The first lines of a transcript contain its session and its folder. */
function readTranscriptStart(file: string): Transcript | null {
  const fd = openSync(file, 'r')
  const bytes = Buffer.alloc(64 * 1024)
  const head = bytes.subarray(0, readSync(fd, bytes)).toString('utf8')
  closeSync(fd)
  const session = /"sessionId":"([\w-]+)"/.exec(head)?.[1]
  const cwd = /"cwd":("(?:[^"\\]|\\.)*")/.exec(head)?.[1]
  return session === undefined || cwd === undefined ? null : { session, cwd: JSON.parse(cwd) as string }
}

/** Claude Code runs no hooks in an untrusted folder; trust in the main checkout covers its worktrees. */
function checkTrust(mainRoot: string): CheckResult {
  if (isTrusted(mainRoot)) return ok('trust', `${mainRoot} is trusted`)
  const remedy = `Claude Code will ask once; until you say yes it runs no hooks. (${claudeStateFile()})`
  return warning('trust', `${mainRoot} is not trusted in Claude Code yet`, remedy)
}
