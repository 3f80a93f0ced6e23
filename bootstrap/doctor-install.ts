import { accessSync, constants, existsSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import { reflectSettings } from '../src/config/environment.ts'
import type { EffectiveConfig } from '../src/config/schema.ts'
import { jsonIn } from '../src/install/inventory-programs.ts'
import { fromBase64, marginSeconds } from '../src/install/plan.ts'
import { type CheckResult, failed, ok, warning } from '../src/install/prerequisites.ts'
import { isRecord, missingReflection, ownHooksOf, settingsOrEmpty, wrapperIn } from '../src/install/settings.ts'
import { type FileThreat, readThreats } from '../src/install/settings-audit.ts'
import type { InstallRecord } from '../src/schemas/records.ts'
import { readApproval } from '../src/state/approval.ts'
import { readRegular } from '../src/state/files.ts'
import { isRegistered } from '../src/state/gates.ts'
import { ledgerProblem } from '../src/state/ledger.ts'
import { reviewDir, reviewPaths, settingsFiles } from '../src/state/own-paths.ts'
import { git } from '../src/system/git.ts'
import type { GitDirs } from '../src/system/git-dirs.ts'
import { packageVersion } from '../src/system/package.ts'
import { claudeDir } from '../src/system/paths.ts'
import { sha256 } from '../src/system/sha256.ts'
import { shellWord } from '../src/text/shell-word.ts'

const restore = 'Run `plan-gate install` to restore the gate.'

/** One row for each cause, whatever the number of files. */
export function checkFiles(root: string, record: InstallRecord): CheckResult[] {
  const reads = record.files.map((file) => ({ ...file, read: readRegular(root, file.path) }))
  const refused = reads.flatMap(({ path, read }) => (read.kind === 'refused' ? [{ path, why: read.why }] : []))
  const missing = reads.filter(({ read }) => read.kind === 'absent').map(({ path }) => path)
  const changed = reads.filter(({ read, sha256: digest }) => read.kind === 'read' && sha256(read.bytes) !== digest)
  const causes = [...new Set(refused.map(({ why }) => why))]
  return [
    ...causes.map((why) => failed('install', why, unblock(root, refused.find((each) => each.why === why)?.path ?? ''))),
    ...(missing.length === 0 ? [] : [failed('install', `${listed(missing)} missing`, restore)]),
    ...(changed.length === 0
      ? []
      : [
          failed(
            'install',
            `${listed(
              changed.map(({ path }) => path),
              'was',
              'were',
            )} changed`,
            restore,
          ),
        ]),
    ...(record.complete ? [] : [failed('install', 'it was interrupted', 'Run `plan-gate install` to finish it.')]),
  ]
}

const listed = (paths: readonly string[], one = 'is', more = 'are'): string =>
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
  const settings = settingsOrEmpty(fromBase64(record.settings.after))
  const nodes = ownHooksOf(settings).flatMap(({ args }) => args.find((arg) => !arg.startsWith('-u')) ?? [])
  const gone = nodes.find((node) => node.startsWith('/') && !isExecutable(node))
  const wrapper = wrapperIn(settings)
  const isWrapperGone = typeof wrapper === 'string' && !isExecutable(wrapper)
  const from = record.package_root
  return [
    ...(gone === undefined
      ? []
      : [
          failed(
            'install',
            `${gone}, the node that starts the hooks, is gone`,
            'Run `plan-gate install` to start them by this one.',
          ),
        ]),
    ...(isWrapperGone ? [failed('install', `${wrapper}, through which commands start, is gone`, restore)] : []),
    ...(from === undefined || existsSync(from)
      ? []
      : [
          warning(
            'install',
            `${from}, the plan-gate it is from, is gone`,
            'Run `plan-gate install` to install it from this one.',
          ),
        ]),
    ...(record.package_version === packageVersion()
      ? []
      : [
          warning(
            'install',
            `from plan-gate ${record.package_version}, this is ${packageVersion()}`,
            'Run `plan-gate install` to update it.',
          ),
        ]),
  ]
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
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

/**
 * The plugin, where the user has installed it. Alone it is weaker than what bootstrap and `plan-gate open` set up, because
 * Claude Code asks the settings of the folder that it starts in whether a plugin is on.
 */
export function checkPlugin(root: string, gitDirs: GitDirs, record: InstallRecord): CheckResult[] {
  const { plugins } = jsonIn(join(claudeDir(), 'plugins/installed_plugins.json'))
  const ids = Object.keys(isRecord(plugins) ? plugins : {}).filter((id) => /^plan-gate@[\w.-]+$/.test(id))
  const files = [join(claudeDir(), 'settings.json'), ...settingsFiles.map((path) => join(root, path))]
  return ids.map((id) => {
    if (!isRegistered(root, gitDirs, record))
      return warning(
        'plugin',
        `${id} does not know this gate, so its hooks refuse every call of a session here`,
        'Run `plan-gate install` to let it know.',
      )
    const off = files.find((file) => {
      const { enabledPlugins } = jsonIn(file)
      return isRecord(enabledPlugins) && enabledPlugins[id] === false
    })
    return off === undefined
      ? ok(
          'plugin',
          `${id}: in a subfolder it alone is the gate, and settings there can switch it off; in a session of \`plan-gate open\` they cannot`,
        )
      : warning(
          'plugin',
          `${off} switches ${id} off, so a session that is started in a subfolder has no gate`,
          `Set it to true: \`perl -pi -e 's/("${id.replace('@', '\\@')}"\\s*:\\s*)false/$1true/' ${shellWord(off)}\``,
        )
  })
}

/** The plan counts as not approved while these cannot be read. */
export function checkRecords(root: string): CheckResult[] {
  const approval = readApproval(root)
  const ledger = ledgerProblem(root)
  const path = (name: string): string => shellWord(join(root, name))
  return [
    ...(approval.kind === 'refused'
      ? [
          warning(
            'approval',
            `${approval.why}, so the plan counts as not approved`,
            `Run \`rm ${path(reviewPaths.approval)}\`, then save the plan again: the same text gets the same verdict, without a review.`,
          ),
        ]
      : []),
    ...(ledger !== null
      ? [
          failed(
            'ledger',
            ledger,
            'Run `plan-gate install`: it keeps the file beside, and carries over what you decided.',
          ),
        ]
      : []),
  ]
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
export function checkInstalledOptions(
  root: string,
  { settings }: InstallRecord,
  config: EffectiveConfig,
): CheckResult[] {
  const read = readRegular(root, settings.path)
  const hooks = ownHooksOf(settingsOrEmpty(read.kind === 'read' ? read.bytes.toString('utf8') : ''))
  const timeout = hooks.find(({ event }) => event === 'PostToolUse')?.timeout
  const seconds = config.plan.deadline_seconds
  const reflection = missingReflection(reflectSettings(config, process.env) !== null, settings)
  return [
    ...(timeout === undefined || timeout >= seconds + marginSeconds
      ? []
      : [
          warning(
            'deadline',
            `plan.deadline_seconds (${seconds}) exceeds the timeout that the hook was installed with: Claude Code ends it after ${timeout} s`,
            'Run `plan-gate install` to update the timeout.',
          ),
        ]),
    ...(reflection === null
      ? []
      : [
          warning(
            'reflection',
            reflection.split('. ')[0] ?? reflection,
            'Run `plan-gate install` to add its hooks; they count from the next session.',
          ),
        ]),
  ]
}

export const intact = (record: InstallRecord): CheckResult => ok('install', `${record.files.length} files, unchanged`)

/** Where in its file a threat stands; null where that cannot be told. */
function lineOfThreat({ dir, path, what }: FileThreat): number | null {
  const read = readRegular(dir, path)
  if (read.kind !== 'read') return null
  const text = read.bytes.toString('utf8')
  const [, position] = / at position (\d+)/.exec(what) ?? []
  const [, key, value] = /has (?:an? )?(onFailure|timeout|type|hook of type) (\S+)$/.exec(what) ?? []
  const [, name] = /^(disableAllHooks)\b|its env sets (\w+)/.exec(what)?.filter((part) => part !== undefined) ?? []
  const index =
    position !== undefined
      ? Number(position)
      : key !== undefined && value !== undefined
        ? text.search(new RegExp(`"${key.replace('hook of ', '')}"\\s*:\\s*${escapePattern(value)}`))
        : name !== undefined
          ? text.indexOf(`"${name}"`)
          : -1
  return index < 0 ? null : text.slice(0, index).split('\n').length
}

const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
