import type { Fault, FaultKind } from './fault-kinds.ts'
import { type Observed, runOrder, runPlain } from './run-order.ts'
import type { Scene } from './scenes.ts'
import type { Surrounding } from './surroundings.ts'
import type { World } from './worlds.ts'

/** One way in which a scene is made to go wrong. */
export type Trial = {
  readonly kind: string
  /** The operation, counted from 1; null: all of the surroundings. */
  readonly at: number | null
  /** What names the cause where the outcome is another one; null: nothing can. */
  readonly cause: RegExp | null
  readonly isNodesOwn: boolean
  /** null: it means nothing to such a program. */
  readonly run: (scene: Scene, world: World, injector: string) => Promise<Observed> | null
}

export const faultTrial = (fault: Fault): Trial => ({
  kind: fault.kind,
  at: fault.of === undefined ? fault.at : null,
  cause: causeOf(fault.kind),
  isNodesOwn: false,
  run: (scene, world, injector) => runOrder(scene.begin(world, injector), fault, `${world.folder}-report.jsonl`),
})

export const surroundingTrial = ({
  name,
  alter = (started) => started,
  bring = () => () => {},
  cause,
  isNodesOwn,
}: Surrounding): Trial => ({
  kind: name,
  at: null,
  cause,
  isNodesOwn: isNodesOwn === true,
  run: (scene, world) => {
    const started = alter(scene.begin(world, null), world)
    if (started === null) return null
    const undo = bring(world)
    if (undo === null) return null
    const hit = { name: 'all', byPath: false, target: name }
    return runPlain(started)
      .then((ran) => ({ ...ran, operations: [], hit }))
      .finally(undo)
  },
})

function causeOf(kind: FaultKind): RegExp | null {
  switch (kind) {
    case 'SIGKILL':
    case 'SIGTERM':
    case 'clock +1 day':
    case 'clock -1 day':
    case 'slow disk':
      return null
    case 'child killed':
      return /SIGKILL|was killed|ended from outside/
    case 'ENOSPC':
    case 'ENOSPC on':
      return /ENOSPC/
    case 'EMFILE':
    case 'EMFILE on':
      return /EMFILE/
    case 'EROFS':
    case 'EROFS on':
      return /EROFS/
    case 'EACCES':
      return /EACCES/
    case 'EIO':
      return /EIO/
  }
}
