import type { sandboxPlaces } from './prepare.ts'

/** Where a command runs: what it sees is everything, and what it can change is what the profile says. */
export type Profile = 'read-only' | 'rehearsal' | 'approved'

export type SandboxPlaces = Readonly<ReturnType<typeof sandboxPlaces>>

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
export const neededOfRun = 'current-system wrappers opengl-driver systemd/resolve resolvconf NetworkManager/resolv.conf'
  .split(' ')
  .map((name) => `/run/${name}`)

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
export const isHidden = (path: string): boolean =>
  ['/tmp', '/var/tmp', '/run', '/dev'].some((folder) => isBelow(path, folder))
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

/** Classic BPF. Refuses what namespaces and mounts leave open: socket families, terminal input, the kernel's keys. */
export function seccompFilter(arch: string, { unixSockets, debugging }: FilterOptions): Buffer | null {
  const at = architectures.indexOf(arch)
  if (at < 0) return null
  const number = (numbers: Numbers): number => numbers[at === 0 ? 0 : 1]
  const families = [inet, inet6, netlink, ...(unixSockets ? [unix] : [])]
  return assemble([
    [loadWord, 0, 0, archOffset],
    [jumpIfEqual, 1, 0, number(audit)],
    [returnValue, 0, 0, errno(eperm)],
    [loadWord, 0, 0, numberOffset],
    // x32: other numbers of the same architecture.
    [jumpIfGreaterOrEqual, 0, 1, 0x40000000],
    [returnValue, 0, 0, errno(eperm)],
    ...Object.entries(refused)
      .filter(([name]) => !debugging || !debuggers.includes(name))
      .flatMap(([name, numbers]): Instruction[] => [
        [jumpIfEqual, 0, 1, number(numbers)],
        [returnValue, 0, 0, errno(name.startsWith('io_uring') ? enosys : eperm)],
      ]),
    [jumpIfEqual, 0, families.length + 2, number(looked.socket)],
    [loadWord, 0, 0, argumentOffset(0)],
    ...families.map((family, index): Instruction => [jumpIfEqual, families.length - index, 0, family]),
    [returnValue, 0, 0, errno(eafnosupport)],
    [loadWord, 0, 0, numberOffset],
    // A datagram socket of a pair can be connected to any other afterwards.
    ...(unixSockets
      ? []
      : ([
          [jumpIfEqual, 0, 4, number(looked.socketpair)],
          [loadWord, 0, 0, argumentOffset(1)],
          [and, 0, 0, typeMask],
          [jumpIfEqual, 1, 0, stream],
          [returnValue, 0, 0, errno(eafnosupport)],
          [loadWord, 0, 0, numberOffset],
        ] as const)),
    // A lease would hold up whoever writes to the file.
    [jumpIfEqual, 0, 4, number(looked.fcntl)],
    [loadWord, 0, 0, argumentOffset(1)],
    [jumpIfEqual, 0, 1, setLease],
    [returnValue, 0, 0, errno(eperm)],
    [loadWord, 0, 0, numberOffset],
    [jumpIfEqual, 0, 4, number(looked.ioctl)],
    [loadWord, 0, 0, argumentOffset(1)],
    [jumpIfEqual, 1, 0, tiocsti],
    [jumpIfEqual, 0, 1, tioclinux],
    [returnValue, 0, 0, errno(eperm)],
    [returnValue, 0, 0, allow],
  ])
}

type FilterOptions = { readonly unixSockets: boolean; readonly debugging: boolean }
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number]

const [loadWord, jumpIfEqual, jumpIfGreaterOrEqual, and, returnValue] = [0x20, 0x15, 0x35, 0x54, 0x06]
const [numberOffset, archOffset] = [0, 4]
/** The low half of a system call's argument, on a little-endian machine. */
const argumentOffset = (index: number): number => 16 + 8 * index
const allow = 0x7fff0000
const errno = (code: number): number => 0x00050000 | code
const [eperm, enosys, eafnosupport] = [1, 38, 97]
const [unix, inet, inet6, netlink] = [1, 2, 10, 16]
const [tiocsti, tioclinux] = [0x5412, 0x541c]
const setLease = 1024
const [stream, typeMask] = [1, 0xf]

/** Only processes of the same sandbox can be reached by them. */
const debuggers = ['ptrace', 'process_vm_readv', 'process_vm_writev']

/** The numbers of system calls: on x64, and on arm64. */
type Numbers = readonly [x64: number, arm64: number]
const architectures = ['x64', 'arm64']
const audit: Numbers = [0xc000003e, 0xc00000b7]
const looked: { readonly [name in 'socket' | 'ioctl' | 'socketpair' | 'fcntl']: Numbers } = {
  socket: [41, 198],
  ioctl: [16, 29],
  socketpair: [53, 199],
  fcntl: [72, 25],
}
const refused: { readonly [name: string]: Numbers } = {
  ptrace: [101, 117],
  syslog: [103, 116],
  pivot_root: [155, 41],
  adjtimex: [159, 171],
  acct: [163, 89],
  settimeofday: [164, 170],
  mount: [165, 40],
  umount2: [166, 39],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  init_module: [175, 105],
  delete_module: [176, 106],
  quotactl: [179, 60],
  clock_settime: [227, 112],
  kexec_load: [246, 104],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  perf_event_open: [298, 241],
  open_by_handle_at: [304, 265],
  clock_adjtime: [305, 266],
  setns: [308, 268],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  finit_module: [313, 273],
  kexec_file_load: [320, 294],
  bpf: [321, 280],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  pidfd_getfd: [438, 438],
  mount_setattr: [442, 442],
}

function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8)
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(ifTrue, index * 8 + 2)
    bytes.writeUInt8(ifFalse, index * 8 + 3)
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4)
  }
  return bytes
}
