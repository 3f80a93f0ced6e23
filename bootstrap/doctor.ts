import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pendingConfig } from '../src/config/compiled-config.ts'
import type { EffectiveConfig } from '../src/config/schema.ts'
import { proveSandbox } from '../src/gate/sandbox/canary.ts'
import { readMode, whyNoSandbox } from '../src/gate/sandbox/rules.ts'
import { marginSeconds } from '../src/install/apply.ts'
import { oldClientProblem, parseVersion } from '../src/install/client-version.ts'
import { compileConfig } from '../src/install/compile-config.ts'
import {
  type CheckResult,
  checkClaude,
  checkConfig,
  checkGit,
  checkNode,
  checkReviewer,
  failed,
  ok,
  type Reviewer,
  updateClaude,
  warning,
} from '../src/install/prerequisites.ts'
import { selfTest } from '../src/install/self-test.ts'
import { isRecord, ownHooksOf, settingsOrEmpty } from '../src/install/settings.ts'
import { readThreats } from '../src/install/settings-audit.ts'
import { findForeign, surveyInstall } from '../src/install/survey.ts'
import { readTrust } from '../src/install/trust.ts'
import { readRouteTable, routeFacts } from '../src/reviewers/create.ts'
import { describeServing } from '../src/reviewers/describe-route.ts'
import { cacheFolder } from '../src/reviewers/program-cache.ts'
import type { InstallRecord } from '../src/schemas/records.ts'
import { readRegular } from '../src/state/files.ts'
import { configFile } from '../src/state/own-paths.ts'
import { openPassTimes } from '../src/state/pass-times.ts'
import { type InstallRecordRead, readInstallRecord } from '../src/state/records.ts'
import { listSessions } from '../src/state/sessions.ts'
import { userEnvironment } from '../src/system/environment.ts'
import { UserError } from '../src/system/errors.ts'
import { relativeEntries } from '../src/system/find-program.ts'
import type { GitDirs } from '../src/system/git-dirs.ts'
import { readGitDirs } from '../src/system/git-dirs.ts'
import { packageVersion } from '../src/system/package.ts'
import { claudeDir, claudeStateFile, resolvePath } from '../src/system/paths.ts'
import { sha256 } from '../src/system/sha256.ts'

/** Checks everything that could keep the gate from holding. Changes nothing. */
export async function runDoctor(root: string, gitDirs: GitDirs): Promise<CheckResult[]> {
  const compiled = compileConfig(root)
  const config = compiled.config
  const record = readInstallRecord(gitDirs.own)
  const reviewer = record.kind === 'read' ? (record.value.reviewer as Reviewer | null) : null
  const tools = [
    checkNode(),
    await checkGit(),
    await checkClaude({}),
    await checkReviewer(reviewer, config),
    ...(await checkServing(root, config)),
  ]
  const configuration = [
    ...compiled.problems.map((problem) => failed(configFile, problem, 'Fix that line.')),
    ...compiled.notices.map((notice) => warning(configFile, notice, 'Edit that line.')),
    ...(pendingConfig(root, gitDirs.own) === null
      ? []
      : [
          warning(
            configFile,
            'it has changed, and the text before still counts',
            'Start the session again, or run `plan-gate config --apply`.',
          ),
        ]),
  ]
  return [
    ...tools,
    ...configuration,
    // Routes of `--reviewer` do not come from the file.
    ...checkConfig(reviewer === null ? config : { ...config, review: { ...config.review, routes: [] } }),
    ...checkEnvironment(process.env),
    ...(await checkInstall(root, gitDirs, record, config)),
    checkTrust(gitDirs.mainRoot ?? root),
  ]
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
  return [
    ...(row === null ? [] : [ok('reviews', words)]),
    ...warnings.map((detail) => warning('reviews', detail, remedy)),
  ]
}

async function checkInstall(
  root: string,
  gitDirs: GitDirs,
  record: InstallRecordRead,
  config: EffectiveConfig,
): Promise<CheckResult[]> {
  if (record.kind === 'absent')
    return [
      failed(
        'install',
        `there is no gate in ${root}`,
        'Run `plan-gate install` here, or `plan-gate bootstrap` for a worktree of its own.',
      ),
    ]
  if (record.kind === 'refused')
    return [failed('install', record.why, 'Run `plan-gate uninstall`, then `plan-gate install`.')]
  const threats = readThreats(root).map(({ file, what, remedy, whose }) =>
    failed(`settings (${whose})`, `${file}: ${what}`, remedy),
  )
  const files = checkInstalledFiles(root, record.value)
  return [
    ...files,
    ...(await checkForeignFiles(root, gitDirs)),
    ...(threats.length > 0 ? threats : [ok('settings', 'nothing in them switches the gate off')]),
    ...checkDeadline(root, record.value, config.plan.deadline_seconds),
    ...(await checkCanaries(root, record.value)),
    ...(await checkSandbox(root, gitDirs, config)),
    ...(await checkRepository(root, gitDirs)),
    ...checkSessions(root, record.value),
  ]
}

async function checkCanaries(root: string, { settings }: InstallRecord): Promise<CheckResult[]> {
  const { checks, problems } = await selfTest(root, settings).catch((error: Error) => ({
    checks: 0,
    problems: [error.message],
  }))
  return problems.length === 0
    ? [ok('self-test', `passed (${checks} checks)`)]
    : problems.map((problem) => failed('self-test', problem, 'Run `plan-gate install` to restore the gate.'))
}

/** What the repository brings into a session, item by item. */
async function checkRepository(root: string, gitDirs: GitDirs): Promise<CheckResult[]> {
  const { items } = await readTrust(root, gitDirs)
  if (items.length === 0) return [ok('repository', 'it brings nothing that runs programs or changes a session')]
  return items.map(({ id, path, what, runs, state }) => {
    const detail = `${id} (${path}): ${what}${runs.length === 0 ? '' : `: ${runs.join('; ')}`}`
    if (state === 'trusted') return ok('repository', `trusted: ${detail}`)
    const remedy = '`plan-gate trust` allows it; until then `plan-gate open` starts sessions that do not load it.'
    return warning(
      'repository',
      `${state === 'changed' ? 'changed since you trusted it' : 'not trusted'}: ${detail}`,
      remedy,
    )
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
  return [
    ok('sandbox', `a command can change nothing before an approval${proof.rehearsal ? '; rehearsals work' : ''}`),
    ...(process.platform === 'darwin'
      ? [warning('sandbox', 'on macOS nobody has tested it yet, and what outlives its approval is not ended', again)]
      : []),
    ...(gate.sandbox.approved === 'protect'
      ? []
      : [
          warning(
            'sandbox',
            'after an approval commands run as they are (gate.sandbox.approved: off)',
            'Remove that line.',
          ),
        ]),
  ]
}

export const worstStatus = (results: readonly CheckResult[]): CheckResult['status'] =>
  (['failed', 'warning'] as const).find((status) => results.some((result) => result.status === status)) ?? 'ok'

/** A hook's timeout is set at install: Claude Code would cut off a deadline that was raised since. */
function checkDeadline(root: string, { settings }: InstallRecord, deadlineSeconds: number): CheckResult[] {
  const read = readRegular(root, settings.path)
  const settingsText = read.kind === 'read' ? read.bytes.toString('utf8') : ''
  const hooks = ownHooksOf(settingsOrEmpty(settingsText))
  const timeout = hooks.find(({ event }) => event === 'PostToolUse')?.timeout
  const needed = deadlineSeconds + marginSeconds
  if (timeout === undefined || timeout >= needed) return []
  return [
    warning(
      'deadline',
      `plan.deadline_seconds (${deadlineSeconds}) exceeds the timeout that the hook was installed with: Claude Code ends it after ${timeout} s`,
      'Run `plan-gate install` to update the timeout.',
    ),
  ]
}

/** Variables that a session started from this shell would inherit. */
function checkEnvironment(env: NodeJS.ProcessEnv): CheckResult[] {
  const off = ['CLAUDE_CODE_SIMPLE', 'CLAUDE_CODE_SAFE_MODE'].filter(
    (name) => (env[name] ?? '') !== '' && env[name] !== '0',
  )
  const [relative] = relativeEntries(env.PATH)
  return [
    ...(relative === undefined
      ? []
      : [
          failed(
            'environment',
            `PATH has a relative entry, ${JSON.stringify(relative)}: a command could be a program of the repository, so the gate refuses all commands`,
            'Remove it from PATH.',
          ),
        ]),
    ...off.map((name) =>
      failed('environment', `${name} is set: Claude Code then runs no hooks at all`, `unset ${name}`),
    ),
    ...(env.BASH_ENV
      ? [
          warning(
            'environment',
            'BASH_ENV is set: every shell command of Claude runs that file first',
            'unset BASH_ENV before you start Claude Code.',
          ),
        ]
      : []),
  ]
}

/** Files that a later pull may have brought and no install would have accepted. */
async function checkForeignFiles(root: string, gitDirs: GitDirs): Promise<CheckResult[]> {
  try {
    const foreign = findForeign(await surveyInstall(root, gitDirs))
    return foreign === null ? [] : [failed('install', foreign.what, foreign.remedy)]
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return [failed('install', error.message.replace(/\.$/, ''), error.nextStep)]
  }
}

function checkInstalledFiles(root: string, record: InstallRecord): CheckResult[] {
  const results: CheckResult[] = record.files.flatMap(({ path, sha256: digest }) => {
    const read = readRegular(root, path)
    if (read.kind === 'absent')
      return [failed('install', `${path} is missing`, 'Run `plan-gate install` to restore it.')]
    if (read.kind === 'refused') return [failed('install', read.why, 'Remove it, then run `plan-gate install`.')]
    const same = sha256(read.bytes) === digest
    return same ? [] : [failed('install', `${path} was changed`, 'Run `plan-gate install` to restore it.')]
  })
  if (!record.complete) results.push(failed('install', 'it was interrupted', 'Run `plan-gate install` to finish it.'))
  if (record.package_version !== packageVersion())
    results.push(
      warning(
        'install',
        `from plan-gate ${record.package_version}, this is ${packageVersion()}`,
        'Run `plan-gate install` to update it.',
      ),
    )
  return results.length > 0 ? results : [ok('install', `${record.files.length} files, unchanged`)]
}

type Transcript = { session: string; cwd: string }

/**
 * Whether the sessions here ran under the gate. Its hooks write a heartbeat; Claude Code's transcripts show sessions
 * without one: started with --bare or --safe-mode, with hooks switched off, or from a subfolder, where Claude Code does
 * not read this worktree's settings.
 */
function checkSessions(root: string, record: InstallRecord): CheckResult[] {
  const listed = listSessions(root)
  const unread = listed.find(({ why }) => why !== null)
  if (unread !== undefined)
    return [failed('sessions', `${unread.why}`, 'Fix that, or remove the file; then run this again.')]
  const sessions = listed.flatMap(({ session }) => (session === null ? [] : [session]))
  const known = new Set(sessions.map((session) => session.session_id))
  const since = Date.parse(record.installed_at)
  const ungated = transcriptsSince(root, since).filter(({ session }) => !known.has(session))
  const results: CheckResult[] = ungated
    .slice(0, 5)
    .map(({ session, cwd }) =>
      cwd === root
        ? failed(
            'sessions',
            `session ${session} ran here without a heartbeat of the gate`,
            'Start Claude Code without --bare and --safe-mode; see the settings checks of this report.',
          )
        : failed(
            'sessions',
            `session ${session} was started in ${cwd}, where Claude Code does not see this worktree's hooks`,
            `Start it in ${root}.`,
          ),
    )
  const [old] = sessions.flatMap(({ session_id, client_version }) => {
    const problem = oldClientProblem(parseVersion(client_version ?? '') ?? [Infinity])
    return problem === null ? [] : [`session ${session_id} runs Claude Code ${problem}`]
  })
  if (old !== undefined) results.push(warning('sessions', old, updateClaude))
  const last = sessions[0]
  if (last?.launched === false)
    results.push(
      warning(
        'sessions',
        `session ${last.session_id} was not started by plan-gate: settings files can switch its hooks off, and it loads whatever the repository brings`,
        'Start the next one with `plan-gate open`.',
      ),
    )
  if (results.length > 0) return results
  return [
    last === undefined
      ? warning(
          'sessions',
          'no session has started here yet, so its hooks have not run',
          'Start one with `plan-gate open`; then run this again.',
        )
      : ok(
          'sessions',
          `last heartbeat ${last.last_seen_at} (Claude Code ${last.client_version ?? 'of an unknown version'})`,
        ),
  ]
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

/** How Claude Code names a project's folder. */
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
  const head = readHead(file)
  const session = /"sessionId":"([\w-]+)"/.exec(head)?.[1]
  const cwd = /"cwd":("(?:[^"\\]|\\.)*")/.exec(head)?.[1]
  return session === undefined || cwd === undefined ? null : { session, cwd: JSON.parse(cwd) as string }
}

function readHead(file: string): string {
  const fd = openSync(file, 'r')
  try {
    const head = Buffer.alloc(64 * 1024)
    return head.subarray(0, readSync(fd, head, 0, head.length, 0)).toString('utf8')
  } finally {
    closeSync(fd)
  }
}

/** Claude Code runs no hooks in an untrusted folder; trust in the main checkout covers its worktrees. */
function checkTrust(mainRoot: string): CheckResult {
  const file = claudeStateFile()
  const read = readRegular(dirname(file), basename(file), 64 * 1024 * 1024)
  const { projects } = settingsOrEmpty(read.kind === 'read' ? read.bytes.toString('utf8') : '')
  const project = isRecord(projects) ? projects[mainRoot] : null
  return isRecord(project) && project.hasTrustDialogAccepted === true
    ? ok('trust', `${mainRoot} is trusted`)
    : warning(
        'trust',
        `${mainRoot} is not trusted in Claude Code yet`,
        `Claude Code will ask once; until you say yes it runs no hooks. (${file})`,
      )
}
