import { canHit, errnosOf, type Fault, type FaultKind, type Operation } from './fault-kinds.ts'
import type { Scene } from './scenes.ts'

/**
 * Each operation that changes something fails in every way that it can, each that only looks with one error. A kill
 * between two that only look leaves the same disk as a kill before the next one that does more.
 */
export function allCells(operations: readonly Operation[]): Fault[] {
  let [changes, looks] = [0, 0]
  return operations.flatMap((operation, index) =>
    cellsAt(operation, index + 1, isChange(operation) ? changes++ : looks++),
  )
}

function cellsAt(operation: Operation, at: number, nth: number): Fault[] {
  const kinds = isChange(operation) ? kindsForChange(operation, nth) : kindsForLook(operation, nth)
  return kinds.filter((kind) => canHit(kind, operation)).map((kind) => ({ kind, at }))
}

/** A scene, with what it asks of the system. */
export type Asking = {
  readonly scene: Pick<Scene, 'name' | 'denies' | 'throwsAway'>
  readonly operations: readonly Operation[]
}

/**
 * The same without repetition: an operation that the same five calls lead to fails in one scene of those of a program,
 * and one that only looks but once there, however often it comes about in a loop. What changes something fails each
 * time, unless it is in a folder that is thrown away. Where a call must be denied the scene has all of its own.
 */
export function cellsOnce(askings: readonly Asking[]): ReadonlyMap<Asking, Fault[]> {
  const places = askings.map(placesOf)
  const scenesOf = new Map<string, number[]>()
  for (const [scene, keys] of places.entries())
    for (const key of new Set(keys)) scenesOf.set(key, [...(scenesOf.get(key) ?? []), scene])
  const sizeOf = (scene: number): number => askings[scene]?.operations.length ?? 0
  // Each scene of a hook gets its share; among the commands the shortest one takes what all of them do.
  const owners = new Map(
    [...scenesOf].map(([key, found], nth) => [
      key,
      key.startsWith(commands) ? found.toSorted((a, b) => sizeOf(a) - sizeOf(b))[0] : found[nth % found.length],
    ]),
  )
  return new Map(
    askings.map((asking, scene) => {
      let [changes, looks] = [0, 0]
      const cells = asking.operations.flatMap((operation, index) => {
        const key = places[scene]?.[index] ?? ''
        if (owners.get(key) !== scene || places[scene]?.indexOf(key) !== index) return []
        return cellsAt(operation, index + 1, isChange(operation) ? changes++ : looks++)
      })
      return [asking, cells]
    }),
  )
}

const commands = 'plan-gate'

/** Equal for the same operation by the same calls; where it counts how often it was done before, by that too. */
function placesOf({ scene, operations }: Asking): string[] {
  const times = new Map<string, number>()
  const program = scene.denies ? scene.name : scene.name.startsWith(commands) ? commands : programOf(scene.name)
  return operations.map((operation) => {
    // Nobody calls for the modules that node loads.
    const calls = operation.calls?.join(' ') || operation.target
    const place = `${program} ${operation.name} ${calls}`
    if (!isChange(operation)) return place
    const time = scene.throwsAway ? 0 : (times.get(place) ?? 0)
    times.set(place, time + 1)
    return `${place} ${time}`
  })
}

/** `Stop`, `plan-gate approve`, of whatever scene. */
export const programOf = (scene: string): string => /^plan-gate [a-z]+|^[^:]+/.exec(scene)?.[0] ?? scene

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
