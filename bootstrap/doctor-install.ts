import { existsSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import { reflectSettings } from '../src/config/environment.ts'
import type { EffectiveConfig } from '../src/config/schema.ts'
import { marginSeconds } from '../src/install/plan.ts'
import { type CheckResult, failed, ok, warning } from '../src/install/prerequisites.ts'
import {
  type FileThreat,
  missingReflection,
  ownHooksOf,
  readThreats,
  settingsAt,
  settingsFrom,
  settingsOrEmpty,
  wrapperIn,
} from '../src/install/settings.ts'
import type { InstallRecord } from '../src/schemas/records.ts'
import { readApproval } from '../src/state/approval.ts'
import { readRegular } from '../src/state/files.ts'
import { isRegistered } from '../src/state/gates.ts'
import { ledgerProblem } from '../src/state/ledger.ts'
import { reviewDir, reviewPaths, settingsFiles } from '../src/state/own-paths.ts'
import { notExecutableReason } from '../src/system/environment.ts'
import { git } from '../src/system/git.ts'
import type { GitDirs } from '../src/system/git-dirs.ts'
import { packageVersion } from '../src/system/package.ts'
import { claudeDir } from '../src/system/paths.ts'
import { sha256 } from '../src/system/sha256.ts'
import { asRecord } from '../src/text/json.ts'
import { shellWord } from '../src/text/own-commands.ts'

const restore = 'Run `plan-gate install` to restore the gate.'

/** One row for each cause, whatever the number of files. */
export function checkFiles(root: string, record: InstallRecord): CheckResult[] {
  const rows = new Map<string, CheckResult>()
  const missing: string[] = []
  const changed: string[] = []
  for (const { path, sha256: digest } of record.files) {
    const read = readRegular(root, path)
    if (read.kind === 'absent') missing.push(path)
    else if (read.kind === 'read' && sha256(read.bytes) !== digest) changed.push(path)
    else if (read.kind === 'refused' && !rows.has(read.why))
      rows.set(read.why, failed('install', read.why, unblock(root, path)))
  }
  if (missing.length > 0) rows.set('missing', failed('install', `${listed(missing, 'is', 'are')} missing`, restore))
  if (changed.length > 0) rows.set('changed', failed('install', `${listed(changed, 'was', 'were')} changed`, restore))
  if (!record.complete)
    rows.set('interrupted', failed('install', 'it was interrupted', 'Run `plan-gate install` to finish it.'))
  return [...rows.values()]
}

const listed = (paths: readonly string[], one: string, more: string): string =>
  paths.length === 1
    ? `${paths[0]} ${one}`
    : `${paths.length} files (${paths.slice(0, 3).join(', ')}${paths.length > 3 ? ', …' : ''}) ${more}`

/** What stands where a file or a folder of ours should be: a link is removed, anything else is moved aside. */
function unblock(root: string, path: string): string {
  const parts = path.split('/')
  const paths = parts.map((_, index) => join(root, ...parts.slice(0, index + 1)))
  const blocker = paths.find((each, index) => {
    const stat = lstatSync(each, { throwIfNoEntry: false })
    return stat !== undefined && !(index === parts.length - 1 ? stat.isFile() : stat.isDirectory())
  })
  if (blocker === undefined) return `Run \`chmod -R u+rwX ${shellWord(join(root, '.claude'))} && plan-gate install\`.`
  const word = shellWord(blocker)
  return lstatSync(blocker).isSymbolicLink()
    ? `Run \`rm ${word} && plan-gate install\`: the link goes, what it leads to stays.`
    : `Run \`mv ${word} ${shellWord(`${blocker}.aside`)} && plan-gate install\`.`
}

/** What the installed settings start, and where it came from. */
export function checkPrograms(record: InstallRecord): CheckResult[] {
  const rows: CheckResult[] = []
  const settings = settingsFrom(record.settings.after)
  const nodes = ownHooksOf(settings).flatMap(({ args }) => args.find((arg) => !arg.startsWith('-u')) ?? [])
  const wrapper = wrapperIn(settings)
  const { package_root: from, package_version: version } = record
  const fail = (detail: string, remedy: string) => rows.push(failed('install', detail, remedy))
  const broken = [...new Set(nodes)].filter((node) => node.startsWith('/')).flatMap(whyNotStarted)[0]
  if (broken !== undefined)
    fail(
      `${broken.path}, the node that starts the hooks, ${broken.why}`,
      'Run `plan-gate install` to start them by this one.',
    )
  for (const { path, why } of typeof wrapper === 'string' ? whyNotStarted(wrapper) : [])
    fail(`${path}, through which commands start, ${why}`, restore)
  if (from !== undefined && !existsSync(from)) {
    const detail = `${from}, the plan-gate it is from, is gone`
    rows.push(warning('install', detail, 'Run `plan-gate install` to install it from this one.'))
  }
  if (version !== packageVersion()) {
    const detail = `from plan-gate ${version}, this is ${packageVersion()}`
    rows.push(warning('install', detail, 'Run `plan-gate install` to update it.'))
  }
  return rows
}

function whyNotStarted(path: string): { path: string; why: string }[] {
  const errno = notExecutableReason(path)
  if (errno === null) return []
  return [{ path, why: errno === 'ENOENT' ? 'is gone' : `cannot be started (${errno})` }]
}

/** One row for each file. Those of the worktree that nobody has committed are rewritten by an install. */
export function checkSettingsFiles(root: string, isTracked: (path: string) => boolean): CheckResult[] {
  const threats = readThreats(root)
  const files = [...new Set(threats.map(({ file }) => file))]
  return files.map((file) => {
    const all = threats.filter((threat) => threat.file === file)
    // A file that is skipped has no hooks, either.
    const skipped = all.filter(({ skipsFile }) => skipsFile)
    const here = skipped.length > 0 ? skipped : all
    const [first] = here as [FileThreat, ...FileThreat[]]
    const what = [...new Set(here.map((threat) => withLine(threat)))].join('; ')
    return failed(`settings (${first.whose})`, `${file}: ${what}`, remedyOf(root, first, isTracked))
  })
}

function withLine(threat: FileThreat): string {
  const line = lineOfThreat(threat)
  return line === null ? threat.what : `line ${line}: ${threat.what}`
}

function remedyOf(root: string, threat: FileThreat, isTracked: (path: string) => boolean): string {
  const { whose, path, file, what, refused } = threat
  const isHere = whose === 'project' || whose === 'local'
  if (isHere && refused !== undefined) return unblock(root, path)
  if (isHere && !isTracked(path) && !/`plan-gate install`/.test(threat.remedy))
    return `Run \`plan-gate install\`: it writes the file anew, and keeps a copy in ${reviewDir}/replaced.`
  if (what.startsWith('disableAllHooks'))
    return `Set it to false: \`perl -pi -e 's/("disableAllHooks"\\s*:\\s*)true/$1false/' ${shellWord(file)}\``
  return threat.remedy
}

/** Alone the plugin is weaker: settings of the folder that Claude Code starts in decide whether it is on. */
export function checkPlugin(root: string, gitDirs: GitDirs, record: InstallRecord): CheckResult[] {
  const { plugins } = settingsAt(join(claudeDir(), 'plugins/installed_plugins.json'))
  const ids = Object.keys(asRecord(plugins)).filter((id) => /^plan-gate@[\w.-]+$/.test(id))
  const files = [join(claudeDir(), 'settings.json'), ...settingsFiles.map((path) => join(root, path))]
  return ids.map((id) => {
    if (!isRegistered(root, gitDirs, record)) {
      const detail = `${id} does not know this gate, so its hooks refuse every call of a session here`
      return warning('plugin', detail, 'Run `plan-gate install` to let it know.')
    }
    const off = files.find((file) => asRecord(settingsAt(file).enabledPlugins)[id] === false)
    if (off === undefined)
      return ok(
        'plugin',
        `${id}: in a subfolder it alone is the gate, and settings there can switch it off; in a session of \`plan-gate open\` they cannot`,
      )
    const detail = `${off} switches ${id} off, so a session that is started in a subfolder has no gate`
    const pattern = `s/("${id.replace('@', '\\@')}"\\s*:\\s*)false/$1true/`
    return warning('plugin', detail, `Set it to true: \`perl -pi -e '${pattern}' ${shellWord(off)}\``)
  })
}

/** The plan counts as not approved while these cannot be read. */
export function checkRecords(root: string): CheckResult[] {
  const rows: CheckResult[] = []
  const approval = readApproval(root)
  if (approval.kind === 'refused') {
    const file = shellWord(join(root, reviewPaths.approval))
    const remedy = `Run \`rm ${file}\`, then save the plan again: the same text gets the same verdict, without a review.`
    rows.push(warning('approval', `${approval.why}, so the plan counts as not approved`, remedy))
  }
  const ledger = ledgerProblem(root)
  if (ledger !== null) {
    const remedy = 'Run `plan-gate install`: it keeps the file beside, and carries over what you decided.'
    rows.push(failed('ledger', ledger, remedy))
  }
  return rows
}

/** Our files are no change of the user's. */
export async function checkHidden(root: string, record: InstallRecord): Promise<CheckResult[]> {
  if (record.track) return []
  const paths = [
    ...record.files.map(({ path }) => path),
    reviewDir,
    ...(record.settings.before === null ? [record.settings.path] : []),
  ]
  const flags = ['--porcelain', '-z', '--untracked-files=all']
  const shown = (await git(root, ['status', ...flags, '--', ...paths.map((path) => `:(top,literal)${path}`)]))
    .split('\0')
    .filter((entry) => entry.startsWith('?? '))
  if (shown.length === 0) return []
  const detail = `\`git status\` lists files of plan-gate (${shown.length}): the lines that hide them are gone`
  return [warning('git', detail, 'Run `plan-gate install` to hide them again.')]
}

/** A hook's timeout is set at install: Claude Code would cut off a deadline that was raised since. */
export function checkInstalledOptions(root: string, { settings }: InstallRecord, config: EffectiveConfig) {
  const read = readRegular(root, settings.path)
  const hooks = ownHooksOf(settingsOrEmpty(read.kind === 'read' ? read.bytes.toString('utf8') : ''))
  const timeout = hooks.find(({ event }) => event === 'PostToolUse')?.timeout
  const seconds = config.plan.deadline_seconds
  const rows: CheckResult[] = []
  if (timeout !== undefined && timeout < seconds + marginSeconds) {
    const detail = `plan.deadline_seconds (${seconds}) exceeds the timeout that the hook was installed with: Claude Code ends it after ${timeout} s`
    rows.push(warning('deadline', detail, 'Run `plan-gate install` to update the timeout.'))
  }
  const [reflection] = missingReflection(reflectSettings(config, process.env) !== null, settings)?.split('. ') ?? []
  if (reflection !== undefined) {
    const remedy = 'Run `plan-gate install` to add its hooks; they count from the next session.'
    rows.push(warning('reflection', reflection, remedy))
  }
  return rows
}

/** Where in its file a threat stands; null where that cannot be told. */
function lineOfThreat({ dir, path, what }: FileThreat): number | null {
  const read = readRegular(dir, path)
  if (read.kind !== 'read') return null
  const text = read.bytes.toString('utf8')
  const [, position] = / at position (\d+)/.exec(what) ?? []
  const [, key = '', value = ''] = /has (?:an? )?(?:hook of )?(onFailure|timeout|type) (\S+)$/.exec(what) ?? []
  const [, name] = /^(?:its env sets )?(\w+)(?: is true|,)/.exec(what) ?? []
  const index =
    position !== undefined
      ? Number(position)
      : key !== ''
        ? text.search(new RegExp(`"${key}"\\s*:\\s*${escapePattern(value)}`))
        : name !== undefined
          ? text.indexOf(`"${name}"`)
          : -1
  return index < 0 ? null : text.slice(0, index).split('\n').length
}

const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
