import { isStandard, type Operation } from './fault-kinds.ts'
import { eventsOf } from './look-at-world.ts'
import type { Reference } from './reference.ts'
import type { Observed, Ran } from './run-order.ts'
import type { Trial } from './trials.ts'
import type { World } from './worlds.ts'

/** A fault that changes nothing need not be told; any other is told by its cause, and none by a stack. */
export function messageProblems(
  { scene, first, operations }: Reference,
  ran: Observed & { hit: Operation },
  { at, cause, isNodesOwn }: Trial,
  world: World,
): string[] {
  // Where node cannot read the program itself, it speaks for itself.
  if (at !== null && at <= operations.findIndex((operation) => !isLoading(operation))) return []
  const said = `${ran.stdout}\n${ran.stderr}`
  const stack = /^\s+at .*(?:node:|:\d+:\d+)/m.exec(said)
  if (stack !== null && !isNodesOwn) return [`a stack is shown: ${stack[0].trim()}`]
  // `exists` has no word for why, and what cannot be said on standard error is not said.
  if (scene.isAdvice === true && ran.exitCode === 0) return []
  // Ended by a signal of the kernel, it had no say.
  if (ran.exitCode === null) return []
  if (cause === null || ran.hit.name === 'exists' || isStandard(ran.hit) || isSame(first, ran)) return []
  const told = [cause, inWords].some((words) => words.test(said) || words.test(outages(world)))
  return told ? [] : [`the cause is not named: ${said.trim().slice(0, 600)}`]
}

const isLoading = ({ name, target }: Operation): boolean =>
  target.endsWith('.mjs') && (name === 'realpath' || (name === 'readFile' && target.startsWith('file:')))

/** What need not interrupt anybody stands in the record. */
const outages = (world: World): string =>
  JSON.stringify(eventsOf(world).filter(({ type }) => type.endsWith('-unavailable')))

const inWords =
  /(?:cannot|could not) be (?:read|opened|looked at|looked into|written|made|moved|removed|locked|started)|is not an executable/

const isSame = (one: Ran, other: Ran): boolean => one.exitCode === other.exitCode && plain(one) === plain(other)

/** Without what is never the same twice. */
const plain = ({ stdout, stderr }: Ran): string =>
  `${stdout}\n${stderr}`
    // Where the record of what starts plan-gate cannot be read, a message says `plan-gate`.
    .replace(/\S*\bnode'? \S+\/dist\/cli\.mjs(?= [a-z])/g, (start) => `${start.startsWith('`') ? '`' : ''}plan-gate`)
    // Before the hashes: the number of the process space looks like one.
    .replace(/(?<=plan-gate-demo-)(?:\d+-\d+-)?\w{6}/g, 'name')
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z?/g, 'now')
    .replace(/\b\d{8}T\d{6}Z/g, 'now')
    .replace(/\b[0-9a-f]{8,64}\b/g, 'hash')
    .replace(/\d+ m?s\b/g, 'time')
    // Said for a few minutes after the world was made.
    .replace(/^! A Claude Code session was active here .*\n/m, '')
