import childProcess from 'node:child_process'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { constants } from 'node:os'
import { canHit, type Errno, errnoOf, type Operation, type Order } from './fault-kinds.ts'

/**
 * Loaded into a program by `node --require`, before the program itself: counts what it asks of the file system and of
 * other programs, and lets one of these operations fail. What an operation does inside of node is a part of it.
 */
const order = JSON.parse(process.env.PLAN_GATE_FAULT ?? '{}') as Order
const { fault } = order
type Call = (this: unknown, ...args: unknown[]) => unknown
type Bag = { [name: string]: unknown }
type Wrapped = { call: Call; that: unknown; args: unknown[]; operation: Operation }

const real = { openSync: fs.openSync, writeSync: fs.writeSync, writeFileSync: fs.writeFileSync, now: Date.now }
const report = real.openSync(order.report, 'a', 0o600)
const opened = new Map<unknown, string>()
let count = 0
let inside = 0

const names = [
  ...['open', 'close', 'read', 'write', 'readFile', 'writeFile', 'appendFile', 'stat', 'lstat', 'fstat', 'exists'],
  ...['access', 'readdir', 'opendir', 'mkdir', 'mkdtemp', 'rm', 'rmdir', 'unlink', 'rename', 'copyFile', 'cp'],
  ...['symlink', 'link', 'readlink', 'realpath', 'fsync', 'ftruncate', 'fchmod', 'chmod', 'utimes', 'futimes'],
]
for (const name of names) {
  wrap(fs as unknown as Bag, `${name}Sync`, name, failNow)
  wrap(fs as unknown as Bag, name, name, failInCallback)
  wrap(fs.promises as unknown as Bag, name, name, (_, error) => Promise.reject(error))
}
wrap(childProcess as unknown as Bag, 'spawn', 'spawn', failToSpawn)
wrap(childProcess as unknown as Bag, 'spawnSync', 'spawnSync', (_, error) => ({
  ...{ error, pid: 0, status: null, signal: null, output: null, stdout: null, stderr: null },
}))
syncBuiltinESMExports()
if (fault?.kind === 'slow disk') note('hit', { name: 'all', byPath: false, target: '' })

type Fail = (wrapped: Wrapped, error: NodeJS.ErrnoException) => unknown

function wrap(bag: Bag, key: string, name: string, fail: Fail): void {
  const call = bag[key] as Call | undefined
  if (typeof call !== 'function') return
  const wrapper: Call = function (this: unknown, ...args: unknown[]): unknown {
    if (inside > 0) return Reflect.apply(call, this, args)
    const wrapped = { call, that: this, args, operation: operationOf(name, args) }
    const errno = begin(wrapped)
    return errno === null ? run(wrapped) : fail(wrapped, errorFor(errno, wrapped.operation))
  }
  // `realpath.native` and the like.
  bag[key] = Object.assign(wrapper, call)
}

function run({ call, that, args, operation }: Wrapped): unknown {
  inside += 1
  try {
    const value = Reflect.apply(call, that, args)
    if (operation.name.startsWith('open for') && typeof value === 'number') opened.set(value, operation.target)
    return value
  } finally {
    inside -= 1
  }
}

/** What becomes of an operation: null, it is done; else the error that it ends with. */
function begin(wrapped: Wrapped): Errno | null {
  const { operation } = wrapped
  if (!isCounted(operation)) return null
  count += 1
  if (fault === null) note('ran', { ...operation, calls: callsNow() })
  if (fault === null || count < fault.at || !canHit(fault.kind, operation)) return null
  const { kind } = fault
  if (count === fault.at) note('hit', operation)
  switch (kind) {
    case 'ENOSPC on':
    case 'EMFILE on':
    case 'EROFS on':
      if (kind === 'ENOSPC on') tear(wrapped)
      return errnoOf(kind)
    case 'slow disk':
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
      return null
    case 'ENOSPC':
    case 'EACCES':
    case 'EIO':
    case 'EMFILE':
    case 'EROFS':
      if (count === fault.at && kind === 'ENOSPC') tear(wrapped)
      return count === fault.at ? kind : null
    case 'SIGKILL':
    case 'SIGTERM':
      if (count !== fault.at) return null
      if (kind === 'SIGKILL') tear(wrapped)
      process.kill(process.pid, kind)
      return null
    case 'child killed':
      if (count === fault.at) wrapped.args = ['/bin/sh', ['-c', 'kill -9 $$'], ...wrapped.args.slice(2)]
      return null
    case 'clock +1 day':
    case 'clock -1 day':
      if (count === fault.at) jump(kind === 'clock +1 day' ? day : -day)
      return null
  }
}

const isCounted = ({ name, target }: Operation): boolean =>
  fault?.of === undefined || (name === fault.of.name && new RegExp(fault.of.target).test(target))

function note(what: 'ran' | 'hit', operation: Operation): void {
  real.writeSync(report, `${JSON.stringify([what, count, operation])}\n`)
}

/** The program's own calls that led to it, the last one first; node itself would tell ten of all. */
function callsNow(): string[] {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 100
  const calls = String(new Error().stack).split('\n').slice(1)
  Error.stackTraceLimit = limit
  return calls.filter((call) => !call.includes('node:') && !call.includes(__filename)).slice(0, 5)
}

function operationOf(name: string, args: readonly unknown[]): Operation {
  const [first, second] = args
  const byPath = typeof first !== 'number'
  const target = byPath ? String(first) : (opened.get(first) ?? `descriptor ${first}`)
  if (name === 'open') return { name: `open for ${isForWriting(second) ? 'writing' : 'reading'}`, byPath, target }
  return { name, byPath, target: name.startsWith('spawn') ? `${target} ${String(second).slice(0, 80)}` : target }
}

const isForWriting = (flags: unknown): boolean =>
  typeof flags === 'number'
    ? (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR | fs.constants.O_CREAT)) !== 0
    : /[wa+]/.test(String(flags ?? 'r'))

const words: { readonly [errno in Errno]: string } = {
  ENOSPC: 'no space left on device',
  EACCES: 'permission denied',
  EIO: 'i/o error',
  EMFILE: 'too many open files',
  EROFS: 'read-only file system',
}

function errorFor(code: Errno, { name, target }: Operation): NodeJS.ErrnoException {
  const syscall = name.split(' ')[0] ?? name
  const error = new Error(`${code}: ${words[code]}, ${syscall} '${target}'`)
  return Object.assign(error, { code, syscall, path: target, errno: -constants.errno[code] })
}

function failNow(wrapped: Wrapped, error: NodeJS.ErrnoException): unknown {
  // The kernel gives a descriptor back even where close fails, and `exists` has no other answer than no.
  if (wrapped.operation.name === 'close') run(wrapped)
  if (wrapped.operation.name === 'exists') return false
  throw error
}

function failInCallback({ args }: Wrapped, error: NodeJS.ErrnoException): void {
  const done = args.at(-1) as (error: Error) => void
  setImmediate(() => done(error))
}

/** As node does it: some errors are told later, EMFILE without any pipes, and all others are thrown. */
function failToSpawn(wrapped: Wrapped, error: NodeJS.ErrnoException): unknown {
  if (error.code === 'EACCES') return run({ ...wrapped, args: ['/dev/null', ...wrapped.args.slice(1)] })
  if (error.code !== 'EMFILE') throw error
  const child = Reflect.construct(childProcess.ChildProcess, []) as childProcess.ChildProcess
  process.nextTick(() => child.emit('error', error))
  return child
}

/** A disk that runs full, and a process that dies, have taken a part by then. */
function tear({ args, operation }: Wrapped): void {
  const [to, data, third] = args
  const bytes = typeof data === 'string' ? Buffer.from(data) : Buffer.isBuffer(data) ? data : null
  if (bytes === null) return
  const from = operation.name === 'write' && typeof third === 'number' ? third : 0
  const half = bytes.subarray(from, from + Math.floor((bytes.length - from) / 2))
  inside += 1
  if (operation.name === 'write' && typeof to === 'number') real.writeSync(to, half)
  if (operation.name === 'writeFile') real.writeFileSync(to as string, half, third as fs.WriteFileOptions)
  inside -= 1
}

const day = 24 * 60 * 60 * 1000

function jump(ms: number): void {
  const past = performance.now.bind(performance)
  performance.now = () => past() + ms
  const now = (): number => real.now.call(Date) + ms
  globalThis.Date = new Proxy(Date, {
    construct: (target, args) => (args.length === 0 ? new target(now()) : Reflect.construct(target, args)),
    get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
  })
}
