/** Where a command runs: what it sees is everything, and what it can change is what the profile says. */
export type Profile = 'read-only' | 'rehearsal' | 'approved'

/** Absolute real paths. */
export type SandboxPlaces = {
  readonly root: string
  readonly gitDir: string
  readonly commonDir: string
  /** The private /tmp of the commands of this worktree, kept from one command to the next. */
  readonly scratch: string
  /** Folders of Claude Code in /tmp: the output of background tasks. */
  readonly clientDirs: readonly string[]
  readonly home: string
  readonly isRoot: boolean
  /** Below HOME; they exist. Package managers fill them. */
  readonly caches: readonly string[]
  /** What decides about the gate, and what git runs; they exist. */
  readonly protectedPaths: readonly string[]
  /** Those that do not exist, so that nothing can be mounted there. */
  readonly absentPaths: readonly string[]
  /** Below a protected path: the git directory of this worktree. */
  readonly reopened: readonly string[]
  /** Sockets of agents that `git push` and `git commit -S` talk to. */
  readonly agents: readonly string[]
  /** Names of environment variables that hold keys. */
  readonly secrets: readonly string[]
  readonly environment: { readonly [name: string]: string }
}

/** The last argument says that the list is whole: one that was cut off would be a weaker sandbox. */
export function profileArgs(profile: Profile, places: SandboxPlaces): string[] {
  return [
    ...isolation,
    // The kernel wants it for a second namespace that has a root.
    ...(profile === 'approved' && places.isRoot ? ['--cap-add', 'CAP_SETFCAP'] : []),
    ...(profile === 'approved' ? [] : ['--unshare-net', '--disable-userns']),
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    // The second sandbox has to write there as it is made.
    ...(profile === 'approved' ? [] : kernelFiles),
    ...mounts(profile, places),
    ...environmentArgs(profile, places),
    ...['--setenv', 'PLAN_GATE_ARGS', 'whole'],
  ]
}

/** The owner of these files is root: without a read-only mount, a command of root writes them without any capability. */
export const kernelFiles = 'sys sysrq-trigger irq bus fs acpi scsi mtrr driver tty'
  .split(' ')
  .flatMap((name) => ['--ro-bind-try', `/proc/${name}`, `/proc/${name}`])

/** Only inside of a second sandbox the kernel locks read-only mounts to what they cover, also for another process. */
export const innerArgs = [
  ...['--unshare-user', '--disable-userns', '--cap-drop', 'ALL', '--dev-bind', '/', '/'],
  ...kernelFiles,
]

export const isolation = [
  ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
  ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
]

/** What programs need of /run: NixOS keeps its programs there, and resolv.conf may be a link to it. */
export const neededOfRun = [
  '/run/current-system',
  '/run/wrappers',
  '/run/opengl-driver',
  '/run/systemd/resolve',
  '/run/resolvconf',
  '/run/NetworkManager/resolv.conf',
]

function mounts(profile: Profile, places: SandboxPlaces): string[] {
  const { root, commonDir, scratch, clientDirs, home, caches } = places
  const readOnly = (path: string): string[] => ['--ro-bind', path, path]
  const writable = (path: string): string[] => ['--bind', path, path]
  const passing = (path: string): string[] => ['--overlay-src', path, '--tmp-overlay', path]
  const change = { 'read-only': readOnly, rehearsal: passing, approved: writable }[profile]
  return [
    ...['--tmpfs', '/run', '--tmpfs', '/var/tmp', '--bind', scratch, '/tmp'],
    ...neededOfRun.flatMap((path) => ['--ro-bind-try', path, path]),
    ...(profile === 'approved' ? places.agents.flatMap((path) => ['--bind-try', path, path]) : []),
    ...writable(scratch),
    // The client may take them away.
    ...clientDirs.flatMap((path) => ['--ro-bind-try', path, path]),
    ...(isHidden(home) ? readOnly(home) : []),
    // A socket is another one behind an overlay, so in a rehearsal nothing of HOME can be reached.
    ...outermost([root, commonDir, ...(profile === 'rehearsal' ? [home] : caches)]).flatMap(change),
    ...(profile === 'approved' ? protection(places) : []),
  ]
}

/** Below a folder that the sandbox has replaced. */
export const isHidden = (path: string): boolean => ['/tmp', '/var/tmp', '/run'].some((folder) => isBelow(path, folder))
const isBelow = (path: string, folder: string): boolean => path.startsWith(`${folder}/`)

const outermost = (paths: readonly string[]): string[] =>
  [...new Set(paths)].filter((path) => !paths.some((other) => isBelow(path, other)))

/** A mount point cannot be renamed, so each parent is mounted on itself; before all others, which it would uncover. */
function protection({ root, commonDir, caches, protectedPaths, reopened }: SandboxPlaces): string[] {
  const writable = outermost([root, commonDir, ...caches])
  const kept = byDepth(protectedPaths.filter((path) => writable.some((folder) => isBelow(path, folder))))
  const parents = kept.flatMap((path) => {
    const top = writable.find((folder) => isBelow(path, folder)) ?? path
    const names = path.slice(top.length + 1).split('/')
    return names.slice(1).map((_, index) => `${top}/${names.slice(0, index + 1).join('/')}`)
  })
  const isInner = (path: string): boolean => reopened.some((folder) => path === folder || isBelow(path, folder))
  const isOuter = (path: string): boolean => !isInner(path)
  const mounted = (flag: string, paths: readonly string[]): string[] => paths.flatMap((path) => [flag, path, path])
  return [
    ...mounted('--bind', byDepth(parents).filter(isOuter)),
    ...mounted('--ro-bind', kept.filter(isOuter)),
    ...mounted('--bind', [...reopened, ...byDepth(parents).filter(isInner)]),
    ...mounted('--ro-bind', kept.filter(isInner)),
  ]
}

const byDepth = (paths: readonly string[]): string[] => [...new Set(paths)].sort((a, b) => a.length - b.length)

function environmentArgs(profile: Profile, { scratch, secrets, environment }: SandboxPlaces): string[] {
  const set: { [name: string]: string } = { ...environment, TMPDIR: scratch }
  // Without a network npm waits for 70 seconds; without write access git must not refresh its index.
  if (profile !== 'approved') Object.assign(set, { npm_config_offline: 'true', GIT_OPTIONAL_LOCKS: '0' })
  return [
    ...[...ownSecrets, ...(profile === 'approved' ? [] : secrets)].flatMap((name) => ['--unsetenv', name]),
    ...Object.entries(set).flatMap(([name, value]) => ['--setenv', name, value]),
  ]
}

/** By them a command could send messages into the session, or start one that takes itself for launched by plan-gate. */
const ownSecrets = ['CLAUDE_CODE_MESSAGING_SOCKET', 'CLAUDE_CODE_MESSAGING_TOKEN', 'PLAN_GATE_LAUNCH']

/** For `sandbox-exec`; the last rule counts. Nobody has run it: the canary decides. It ends no process. */
export function seatbeltProfile(profile: Exclude<Profile, 'rehearsal'>, places: SandboxPlaces): string {
  const { root, commonDir, caches, scratch, protectedPaths } = places
  const writable = [scratch, ...(profile === 'approved' ? [root, commonDir, ...caches] : [])]
  const kept = profile === 'approved' ? protectedPaths : []
  return [
    '(version 1)',
    '(allow default)',
    ...(profile === 'approved' ? [] : ['(deny network*)']),
    '(deny signal (target others))',
    '(deny file-write*)',
    '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/dtracehelper") (regex #"^/dev/tty"))',
    '(allow file-write* (literal (param "CWD_FILE")))',
    ...writable.map((path) => `(allow file-write* (subpath ${JSON.stringify(path)}))`),
    ...kept.map((path) => `(deny file-write* (subpath ${JSON.stringify(path)}))`),
    '',
  ].join('\n')
}

export const seatbelt = '/usr/bin/sandbox-exec'
