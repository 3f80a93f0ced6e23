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
