import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type Content, contentOf, eventsOf, leftIn, letAMinutePass, planOf, recordProblems } from './look-at-world.ts'
import { hashes } from './restore-world.ts'
import { type Ran, runPlain } from './run-order.ts'
import type { Scene } from './scenes.ts'
import { askedGate, nextSession, type Wardrobe } from './worlds.ts'

/** What comes after a fault: the gate is asked, the same is done once more, and somebody comes back. */
export type Follows = {
  /** null: no gate is installed. */
  readonly gate: number | null
  readonly next: Ran
  readonly plan: 'missing' | 'open' | 'approved'
  readonly events: ReadonlySet<string>
  readonly content: Content
  readonly left: readonly string[]
  readonly record: readonly string[]
}

/** By the state of the world. What follows is up to that alone, so it is gone through once for each. */
export type Followed = Map<string, Follows>

export async function followUp(scene: Scene, wardrobe: Wardrobe, followed: Followed | null): Promise<Follows> {
  const state = followed === null ? '' : stateOf(wardrobe)
  const known = followed?.get(state)
  if (known !== undefined) return known
  const { world } = wardrobe
  const asked = askedGate(world)
  const gate = asked === null ? null : (await runPlain(asked)).exitCode
  letAMinutePass(world)
  const next = await runPlain(scene.begin(world, null))
  // What is not in order by then is put in order when somebody comes back.
  const session = leftIn(world).length > 0 ? nextSession(world) : null
  if (session !== null) await runPlain(session)
  const follows = {
    ...{ gate, next, plan: planOf(world).kind, events: new Set(eventsOf(world).map(({ type }) => type)) },
    ...{ content: contentOf(world), left: leftIn(world), record: recordProblems(world) },
  }
  followed?.set(state, follows)
  return follows
}

/**
 * Each file that is not as it was brought, without what is never the same twice: times, random names, and hashes over
 * them, which are numbered, so that equal ones stay equal. What is the same in the kept world is left as it is.
 */
function stateOf({ world, changes, kept }: Wardrobe): string {
  const names = new Map<string, string>()
  const numbered = (hash: string): string => {
    if (kept.hashes().has(hash)) return hash
    if (!names.has(hash)) names.set(hash, `hash ${names.size}`)
    return names.get(hash) ?? hash
  }
  const plain = (text: string): string =>
    text
      .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z?/g, 'now')
      .replace(/\b1\d{12}(?:\.\d+|\d{6})?\b/g, 'now')
      .replace(/("\w*ms":\s*)\d+(?:\.\d+)?/g, '$1time')
      .replace(hashes, numbered)
  const lines = changes().flatMap(({ path, before, now }) => {
    if (now === undefined) return [`${path} is gone`]
    const mode = Number(now.mode)
    const full = join(world.folder, path)
    const bytes = now.isDirectory() ? '' : now.isSymbolicLink() ? readlinkSync(full) : readFileSync(full, 'latin1')
    const isAsBefore = before !== undefined && Number(before.mode) === mode && bytes === kept.bytes(path)
    return isAsBefore ? [] : [`${path} ${mode} ${bytes}`]
  })
  const text = plain(lines.join('\n'))
  return createHash('sha256').update(text).digest('hex')
}
