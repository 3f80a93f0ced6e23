import type { Operation } from './fault-kinds.ts'
import { type Content, contentOf, eventsOf, planOf } from './look-at-world.ts'
import { type Observed, type Ran, runOrder, runPlain } from './run-order.ts'
import type { Scene } from './scenes.ts'
import type { Followed } from './what-follows.ts'
import { nextSession, type Wardrobe, type World } from './worlds.ts'

/** What a scene comes to when nothing goes wrong, once, and once more with a new session after it. */
export type Reference = {
  readonly scene: Scene
  readonly operations: readonly Operation[]
  readonly first: Observed
  readonly second: Ran
  readonly start: Content
  readonly afterFirst: Content
  readonly afterSecond: Content
  /** The hash that was approved before it began. */
  readonly approved: string | null
  readonly plan: 'missing' | 'open' | 'approved'
  /** The kinds of events that are on record after the first time. */
  readonly events: ReadonlySet<string>
  readonly everOnRecord: ReadonlySet<string>
  readonly followed: Followed
}

export async function refer(scene: Scene, { world, bring }: Wardrobe, injector: string): Promise<Reference> {
  await bring(scene.start)
  scene.first?.(world)
  const [start, approved] = [contentOf(world), planOf(world).hash]
  const first = await runOrder(scene.begin(world, injector), null, `${world.folder}-report.jsonl`)
  const { exitCode, stderr } = first
  if (exitCode !== (scene.denies === true ? 2 : (scene.exits ?? 0)))
    throw new Error(`without a fault, ${scene.name} ended with ${exitCode}: ${stderr}`)
  const afterFirst = contentOf(world)
  const events = kindsOn(world)
  const second = await runPlain(scene.begin(world, null))
  const session = nextSession(world)
  if (session !== null) await runPlain(session)
  const [afterSecond, plan] = [contentOf(world), planOf(world).kind]
  const everOnRecord = kindsOn(world)
  const contents = { start, afterFirst, afterSecond }
  const kinds = { events, everOnRecord, followed: new Map() }
  return { scene, operations: first.operations, first, second, ...contents, approved, plan, ...kinds }
}

const kindsOn = (world: World): ReadonlySet<string> => new Set(eventsOf(world).map(({ type }) => type))
