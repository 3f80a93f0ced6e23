/**
 * A seccomp filter as bwrap takes it: classic BPF for one architecture. It refuses what namespaces and read-only mounts
 * leave open: other socket families, terminal input, the kernel's own programs and keys.
 */
export function seccompFilter(arch: string, { unixSockets, debugging }: FilterOptions): Buffer | null {
  const numbers = architectures[arch]
  if (numbers === undefined) return null
  const families = [inet, inet6, netlink, ...(unixSockets ? [unix] : [])]
  const refused = Object.entries(numbers.refused).flatMap(([name, number]) =>
    debugging && debuggers.includes(name) ? [] : refuse(number, name.startsWith('io_uring') ? enosys : eperm),
  )
  return assemble([
    [loadWord, 0, 0, archOffset],
    [jumpIfEqual, 1, 0, numbers.audit],
    [returnValue, 0, 0, errno(eperm)],
    [loadWord, 0, 0, numberOffset],
    // x32: other numbers of the same architecture.
    [jumpIfGreaterOrEqual, 0, 1, 0x40000000],
    [returnValue, 0, 0, errno(eperm)],
    ...refused,
    [jumpIfEqual, 0, families.length + 2, numbers.socket],
    [loadWord, 0, 0, argumentOffset(0)],
    ...families.map((family, index): Instruction => [jumpIfEqual, families.length - index, 0, family]),
    [returnValue, 0, 0, errno(eafnosupport)],
    [loadWord, 0, 0, numberOffset],
    // A datagram socket of a pair can be connected to any other afterwards.
    ...(unixSockets
      ? []
      : ([
          [jumpIfEqual, 0, 4, numbers.socketpair],
          [loadWord, 0, 0, argumentOffset(1)],
          [and, 0, 0, typeMask],
          [jumpIfEqual, 1, 0, stream],
          [returnValue, 0, 0, errno(eafnosupport)],
          [loadWord, 0, 0, numberOffset],
        ] as const)),
    // A lease would hold up whoever writes to the file.
    [jumpIfEqual, 0, 4, numbers.fcntl],
    [loadWord, 0, 0, argumentOffset(1)],
    [jumpIfEqual, 0, 1, setLease],
    [returnValue, 0, 0, errno(eperm)],
    [loadWord, 0, 0, numberOffset],
    [jumpIfEqual, 0, 4, numbers.ioctl],
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

const refuse = (number: number, code: number): Instruction[] => [
  [jumpIfEqual, 0, 1, number],
  [returnValue, 0, 0, errno(code)],
]

/** Only processes of the same sandbox can be reached by them. */
const debuggers = ['ptrace', 'process_vm_readv', 'process_vm_writev']

/** Numbered alike on every architecture. */
const common = {
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  pidfd_getfd: 438,
  mount_setattr: 442,
}

type Numbers = {
  readonly audit: number
  readonly socket: number
  readonly ioctl: number
  readonly socketpair: number
  readonly fcntl: number
  readonly refused: { readonly [name: string]: number }
}

const architectures: { readonly [arch: string]: Numbers } = {
  x64: {
    audit: 0xc000003e,
    socket: 41,
    ioctl: 16,
    socketpair: 53,
    fcntl: 72,
    refused: {
      ...common,
      ptrace: 101,
      syslog: 103,
      pivot_root: 155,
      adjtimex: 159,
      acct: 163,
      settimeofday: 164,
      mount: 165,
      umount2: 166,
      swapon: 167,
      swapoff: 168,
      reboot: 169,
      init_module: 175,
      delete_module: 176,
      quotactl: 179,
      clock_settime: 227,
      kexec_load: 246,
      add_key: 248,
      request_key: 249,
      keyctl: 250,
      perf_event_open: 298,
      open_by_handle_at: 304,
      clock_adjtime: 305,
      setns: 308,
      process_vm_readv: 310,
      process_vm_writev: 311,
      finit_module: 313,
      kexec_file_load: 320,
      bpf: 321,
      userfaultfd: 323,
    },
  },
  arm64: {
    audit: 0xc00000b7,
    socket: 198,
    ioctl: 29,
    socketpair: 199,
    fcntl: 25,
    refused: {
      ...common,
      umount2: 39,
      mount: 40,
      pivot_root: 41,
      quotactl: 60,
      acct: 89,
      kexec_load: 104,
      init_module: 105,
      delete_module: 106,
      clock_settime: 112,
      syslog: 116,
      ptrace: 117,
      reboot: 142,
      settimeofday: 170,
      adjtimex: 171,
      add_key: 217,
      request_key: 218,
      keyctl: 219,
      swapon: 224,
      swapoff: 225,
      perf_event_open: 241,
      open_by_handle_at: 265,
      clock_adjtime: 266,
      setns: 268,
      process_vm_readv: 270,
      process_vm_writev: 271,
      finit_module: 273,
      bpf: 280,
      userfaultfd: 282,
      kexec_file_load: 294,
    },
  },
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
