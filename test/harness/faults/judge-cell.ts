import type { Operation } from './fault-kinds.ts'
import { messageProblems } from './judge-message.ts'
import { archiveProblems, contentOf, eventsOf, planOf, recordProblems } from './look-at-world.ts'
import type { Reference } from './reference.ts'
import type { Observed, Ran } from './run-order.ts'
import type { Scene } from './scenes.ts'
import type { Trial } from './trials.ts'
import { type Follows, followUp } from './what-follows.ts'
import type { Wardrobe, World } from './worlds.ts'

export type Cell = {
  readonly scene: string
  readonly kind: string
  readonly at: number | null
  /** null: the fault did not come about, so the cell does not count. */
  readonly hit: Operation | null
  readonly problems: readonly string[]
}

/** One scene in which one thing goes wrong, the gate asked afterwards, and the same once more without that. */
export async function judgeCell(
  reference: Reference,
  trial: Trial,
  wardrobe: Wardrobe,
  injector: string,
): Promise<Cell> {
  const { scene } = reference
  const { world, bring } = wardrobe
  await bring(scene.start)
  scene.first?.(world)
  const cell = { scene: scene.name, kind: trial.kind, at: trial.at }
  const ran = await trial.run(scene, world, injector)
  if (ran === null || ran.hit === null) return { ...cell, hit: null, problems: [] }
  const { hit } = ran
  const problems = [
    ...answerProblems(reference, ran),
    ...messageProblems(reference, { ...ran, hit }, trial, world),
    ...approvalProblems(reference, world),
    ...contentProblems(reference, world),
    ...archiveProblems(world, reference.start),
    ...recordProblems(world),
  ]
  const gate = gateOf(reference, ran, world)
  // A clock that was moved is in the files as a time, which is left out of their state.
  const follows = await followUp(scene, wardrobe, /^clock/.test(trial.kind) ? null : reference.followed)
  // Of a file that may not be read, and later may, nobody knows what became of it meanwhile: it is drift, and no more.
  const mayDrift = trial.kind === 'EACCES' && hit.target in reference.start
  problems.push(
    ...(follows.gate === null || follows.gate === gate ? [] : [`the gate answered ${follows.gate} and not ${gate}`]),
    ...nextProblems(reference, ran, follows, mayDrift),
    ...toldProblems(scene, trial, [ran, follows.next]),
  )
  return { ...cell, hit, problems }
}

function answerProblems({ scene }: Reference, { exitCode, stdout }: Observed): string[] {
  if (/"permissionDecision":\s*"allow"/.test(stdout)) return ['it allowed the call']
  // The entries have `onFailure: "block"`: whatever is no clean end blocks the call.
  return scene.denies === true && exitCode === 0 && !stdout.includes('"permissionDecision":"deny"')
    ? [`a call that must be denied was answered with ${exitCode}`]
    : []
}

/** Where the gate cannot be sure of itself any more, closing is right, as long as it is said. */
const saysItClosed = ({ stdout, stderr }: Ran): boolean => /Any approval has ended/.test(stdout + stderr)

function approvalProblems({ approved }: Reference, world: World): string[] {
  const plan = planOf(world)
  const given = eventsOf(world).some(({ type, plan_hash }) => /^approved/.test(type) && plan_hash === plan.hash)
  return plan.kind === 'approved' && !given && plan.hash !== approved ? ['an approval that nobody gave'] : []
}

/** What the gate has to answer. */
function gateOf({ scene }: Reference, ran: Ran, world: World): 0 | 2 {
  const byPlan = planOf(world).kind === 'approved' ? 0 : 2
  return ({ closed: 2, open: saysItClosed(ran) ? byPlan : 0, either: byPlan } as const)[scene.gate]
}

/** Each file of the user's is as it was, or as it is when nothing goes wrong. */
function contentProblems({ start, afterFirst, afterSecond }: Reference, world: World): string[] {
  const now = contentOf(world)
  const paths = new Set([...Object.keys(start), ...Object.keys(afterFirst), ...Object.keys(now)])
  return [...paths].flatMap((path) => {
    const isKnown = [start, afterFirst, afterSecond].some((content) => content[path] === now[path])
    return isKnown || isTemporary(path) ? [] : [`${path} is neither as it was nor as it should be`]
  })
}

const isTemporary = (path: string): boolean => /\/\.[^/]+\.tmp$|\/\.plan-gate-copy$/.test(path)

/** Events that accuse somebody: none may come of a fault alone. */
const accusing = ['drift-found', 'control-plane-restored', 'approval-revoked']

function nextProblems(reference: Reference, ran: Ran, follows: Follows, mayDrift: boolean): string[] {
  const { scene, first, second, plan, events, everOnRecord, afterSecond } = reference
  const { next, content, events: found, plan: state, left, record } = follows
  const codes = [first.exitCode, second.exitCode, ...(scene.again ?? [])]
  const hasClosed = saysItClosed(ran)
  const lost = scene.isAdvice ? [] : [...events].filter((type) => !found.has(type) && !isToldOtherwise(type, found))
  const made = accusing.filter(
    (type) => found.has(type) && !everOnRecord.has(type) && !(mayDrift && type === 'drift-found'),
  )
  const paths = new Set([...Object.keys(afterSecond), ...Object.keys(content)])
  return [
    ...(codes.includes(next.exitCode) ? [] : [`the next run ended with ${next.exitCode}: ${next.stderr.trim()}`]),
    ...(state === plan || (hasClosed && state === 'open') ? [] : [`next, the plan is ${state} and not ${plan}`]),
    ...(lost.length === 0 || hasClosed ? [] : [`not on record, ever: ${lost.join(', ')}`]),
    ...(made.length === 0 || hasClosed ? [] : [`on record for no reason: ${made.join(', ')}`]),
    ...[...paths]
      .filter((path) => content[path] !== afterSecond[path])
      .map((path) => `next, ${path} is not as it should be`),
    ...left.map((path) => `left lying about: ${path}`),
    ...record,
  ]
}

/** Killed, or with nobody who listens, it had no say, and there is the record. */
function toldProblems({ tells }: Scene, { kind }: Trial, [ran, next]: readonly [Ran, Ran]): string[] {
  const hadNoSay = ran.stdout === '' && (ran.exitCode !== 0 || kind === 'closed stdout')
  const isTold =
    tells === undefined || hadNoSay || [ran, next].some(({ stdout, stderr }) => tells.test(stdout + stderr))
  return isTold ? [] : ['what was found was never told']
}

/** The archive of a cycle says whether it was approved, and that its end was interrupted. */
const isToldOtherwise = (type: string, found: ReadonlySet<string>): boolean =>
  type === 'approval-revoked' && found.has('cycle-archived')
