import { canHit, errnosOf, type Fault, type FaultKind, type Operation } from './fault-kinds.ts'

/**
 * Each operation fails once, with an error that it can have; one that changes something fails in every way. A kill
 * between two operations that only look leaves the same disk as a kill before the next one that does more.
 */
export function allCells(operations: readonly Operation[]): Fault[] {
  const changes = operations.map(isChange)
  return operations.flatMap((operation, index) => {
    const nth = changes.slice(0, index).filter(Boolean).length
    const kinds: FaultKind[] = changes[index] ? kindsForChange(operation, nth) : kindsForLook(operation, index)
    return kinds.filter((kind) => canHit(kind, operation)).map((kind) => ({ kind, at: index + 1 }))
  })
}

const changing = [
  'open for writing',
  'writeFile',
  'appendFile',
  'write',
  'mkdir',
  'mkdtemp',
  'rm',
  'rmdir',
  'unlink',
  'rename',
]
const changingToo = ['copyFile', 'cp', 'symlink', 'link', 'chmod', 'fchmod', 'utimes', 'spawn', 'spawnSync']
const isChange = ({ name }: Operation): boolean => changing.includes(name) || changingToo.includes(name)

const lasting = ['ENOSPC on', 'EMFILE on', 'EROFS on'] as const
const clock = ['clock +1 day', 'clock -1 day'] as const

const kindsForChange = (operation: Operation, nth: number): FaultKind[] => [
  ...errnosOf(operation),
  'SIGKILL',
  'child killed',
  ...(nth % 3 === 0 ? (['SIGTERM'] as const) : []),
  lasting[nth % lasting.length] ?? 'ENOSPC on',
]

function kindsForLook(operation: Operation, index: number): FaultKind[] {
  const errnos = errnosOf(operation)
  const errno = errnos[index % errnos.length]
  return [
    ...(index === 0 ? (['slow disk'] as const) : []),
    ...(errno === undefined ? [] : [errno]),
    ...(index % 10 === 0 ? (['EMFILE on'] as const) : []),
    ...(index % 25 === 0 ? [clock[(index / 25) % clock.length] ?? 'clock +1 day'] : []),
  ]
}

/** About so many of them, from all along the way, and another choice for each `phase`. */
export function someCells(cells: readonly Fault[], most: number, phase: number): Fault[] {
  const step = Math.max(1, cells.length / most)
  const first = Math.floor((phase * 7) % step)
  const chosen: Fault[] = []
  for (let at = first; at < cells.length; at += step) {
    const cell = cells[Math.floor(at)]
    if (cell !== undefined) chosen.push(cell)
  }
  return chosen
}
