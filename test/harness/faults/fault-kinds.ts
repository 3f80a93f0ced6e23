/** What a call to the system can answer instead of what it was asked for. */
const errnos = ['ENOSPC', 'EACCES', 'EIO', 'EMFILE', 'EROFS'] as const
export type Errno = (typeof errnos)[number]

const faultKinds = [
  ...errnos,
  /** The same from that operation on: a disk that stays full, a table of files that stays exhausted. */
  'ENOSPC on',
  'EMFILE on',
  'EROFS on',
  /** The process ends before the operation; a write is cut in half. */
  'SIGKILL',
  'SIGTERM',
  /** The program that is started dies at once. */
  'child killed',
  'clock +1 day',
  'clock -1 day',
  'slow disk',
] as const
export type FaultKind = (typeof faultKinds)[number]

export type Fault = {
  readonly kind: FaultKind
  /** Counted from 1. */
  readonly at: number
  /** Then no other operations are counted; `target` is a regular expression. */
  readonly of?: { readonly name: string; readonly target: string }
}

/** For the process that `inject-fault.ts` is loaded into. Without a fault each operation is put down. */
export type Order = { readonly report: string; readonly fault: Fault | null }

/** The errors that Linux gives for an operation; `path`: where it goes by a path and not by a descriptor. */
const rows: readonly { names: readonly string[]; path?: true; errnos: readonly Errno[] }[] = [
  { names: ['open for reading', 'readdir', 'opendir'], errnos: ['EACCES', 'EIO', 'EMFILE'] },
  { names: ['open for writing', 'copyFile', 'cp'], errnos },
  { names: ['readFile'], path: true, errnos: ['EACCES', 'EIO', 'EMFILE'] },
  { names: ['readFile', 'read', 'fstat', 'close'], errnos: ['EIO'] },
  { names: ['writeFile', 'appendFile'], path: true, errnos },
  { names: ['writeFile', 'appendFile', 'write', 'fsync', 'ftruncate'], errnos: ['ENOSPC', 'EIO'] },
  { names: ['stat', 'lstat', 'access', 'exists', 'realpath', 'readlink'], errnos: ['EACCES', 'EIO'] },
  { names: ['mkdir', 'mkdtemp', 'rename', 'symlink', 'link'], errnos: ['ENOSPC', 'EACCES', 'EIO', 'EROFS'] },
  { names: ['rm', 'rmdir', 'unlink', 'utimes', 'chmod'], errnos: ['EACCES', 'EIO', 'EROFS'] },
  { names: ['fchmod', 'futimes'], errnos: ['EIO', 'EROFS'] },
  { names: ['spawn', 'spawnSync'], errnos: ['EACCES', 'EIO', 'EMFILE'] },
]

export type Operation = {
  readonly name: string
  readonly byPath: boolean
  readonly target: string
  /** Five of the program's own that led to it; put down only where no fault is ordered. */
  readonly calls?: readonly string[]
}

/** Standard input and output are pipes here: they have no disk behind them, and were opened by somebody else. */
export const isStandard = ({ target }: Operation): boolean => /^descriptor [012]$/.test(target)

export const errnosOf = (operation: Operation): readonly Errno[] =>
  isStandard(operation)
    ? ['EIO']
    : (rows.find((row) => row.names.includes(operation.name) && (row.path !== true || operation.byPath))?.errnos ?? [])

const isStart = ({ name }: Operation): boolean => name === 'spawn' || name === 'spawnSync'

/** Whether a fault can come about at this operation. */
export function canHit(kind: FaultKind, operation: Operation): boolean {
  switch (kind) {
    case 'ENOSPC':
    case 'EACCES':
    case 'EIO':
    case 'EMFILE':
    case 'EROFS':
      return errnosOf(operation).includes(kind)
    case 'ENOSPC on':
    case 'EMFILE on':
    case 'EROFS on':
      return errnosOf(operation).includes(errnoOf(kind))
    case 'child killed':
      return isStart(operation)
    case 'SIGKILL':
    case 'SIGTERM':
    case 'clock +1 day':
    case 'clock -1 day':
    case 'slow disk':
      return true
  }
}

export const errnoOf = (kind: 'ENOSPC on' | 'EMFILE on' | 'EROFS on'): Errno =>
  (({ 'ENOSPC on': 'ENOSPC', 'EMFILE on': 'EMFILE', 'EROFS on': 'EROFS' }) as const)[kind]
