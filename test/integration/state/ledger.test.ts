import { appendFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { appendEvent, readEvents, verifyLedger, zeroHash } from '../../../src/state/ledger.ts'
import { reviewPaths } from '../../../src/state/own-paths.ts'
import { sha256 } from '../../../src/system/sha256.ts'
import { temporaryRoot } from '../../support/state/temporary-root.ts'
import { runFixture } from './run-fixture.ts'

const now = () => new Date('2026-03-01T10:00:00Z')
const at = now().toISOString()
const ledgerOf = (root: string) => join(root, reviewPaths.ledger)
const linesOf = (root: string) => readFileSync(ledgerOf(root), 'utf8').split('\n')
const note = (root: string, cycle: number) => appendEvent(root, { type: 'cycle-started', cycle }, now)

async function ledgerOfThree(): Promise<string> {
  const root = temporaryRoot()
  for (const cycle of [1, 2, 3]) await note(root, cycle)
  return root
}

it('chains each line to the one before', async () => {
  const root = await ledgerOfThree()
  const [first = '', second = '', third = '', end] = linesOf(root)

  expect([first, second, third].map((line) => JSON.parse(line))).toEqual([
    { seq: 1, at, type: 'cycle-started', prev: zeroHash, cycle: 1 },
    { seq: 2, at, type: 'cycle-started', prev: sha256(Buffer.from(first)), cycle: 2 },
    { seq: 3, at, type: 'cycle-started', prev: sha256(Buffer.from(second)), cycle: 3 },
  ])
  expect(end).toBe('')
  expect(verifyLedger(root)).toEqual({ kind: 'intact', events: 3, head: sha256(Buffer.from(third)), tornBytes: 0 })
})

it.each([
  { what: 'a changed line', change: (text: string) => text.replace('"cycle":2', '"cycle":9'), line: 3 },
  { what: 'a changed time', change: (text: string) => text.replace('2026', '2025'), line: 2 },
  { what: 'a removed line', change: (text: string) => text.replace(/^.*\n/, ''), line: 1 },
  { what: 'a doubled line', change: (text: string) => text.replace(/^(.*\n)/, '$1$1'), line: 2 },
  { what: 'an inserted blank line', change: (text: string) => text.replace('\n', '\n\n'), line: 2 },
  { what: 'a line of garbage', change: (text: string) => text.replace('{"seq":2', 'seq":2'), line: 2 },
  { what: 'swapped lines', change: (text: string) => text.replace(/^(.*\n)(.*\n)/, '$2$1'), line: 1 },
  { what: 'a line without end', change: (text: string) => `${text}${'x'.repeat(2 * 1024 * 1024)}`, line: 4 },
])('finds $what', async ({ change, line }) => {
  const root = await ledgerOfThree()
  writeFileSync(ledgerOf(root), change(readFileSync(ledgerOf(root), 'utf8')))
  expect(verifyLedger(root)).toEqual({ kind: 'broken', line, why: expect.any(String) })
})

it.each([
  { what: 'half a line', tear: (path: string) => truncateSync(path, readFileSync(path).length - 20), torn: 1, seq: 3 },
  { what: 'half a line twice', tear: (path: string) => appendFileSync(path, '{"seq":4,"at\n{"se'), torn: 2, seq: 4 },
  { what: 'a blank line', tear: (path: string) => appendFileSync(path, '\n'), torn: 1, seq: 4 },
  {
    what: 'zeros, as after a power cut',
    tear: (path: string) => appendFileSync(path, Buffer.alloc(4096)),
    torn: 1,
    seq: 4,
  },
  {
    what: 'zeros over half a megabyte',
    tear: (path: string) => appendFileSync(path, Buffer.alloc(500_000)),
    torn: 1,
    seq: 4,
  },
])('takes up the chain after $what', async ({ tear, torn, seq }) => {
  const root = await ledgerOfThree()
  tear(ledgerOf(root))
  expect(verifyLedger(root).kind).toBe('intact')
  const before = readFileSync(ledgerOf(root))
  await note(root, 4)

  expect(verifyLedger(root)).toMatchObject({ kind: 'intact', events: seq - 1 + 2, tornBytes: 0 })
  expect(readFileSync(ledgerOf(root)).subarray(0, before.length).equals(before)).toBe(true)
  const read = readEvents(root)
  expect(read.kind === 'read' && read.events.slice(seq - 1)).toEqual([
    expect.objectContaining({ seq: seq + torn, type: 'torn-line', lines: torn }),
    expect.objectContaining({ seq: seq + torn + 1, type: 'cycle-started', cycle: 4 }),
  ])
})

it('is broken when the torn bytes are changed later', async () => {
  const root = await ledgerOfThree()
  appendFileSync(ledgerOf(root), '{"seq":4')
  await note(root, 4)
  writeFileSync(ledgerOf(root), readFileSync(ledgerOf(root), 'utf8').replace('{"seq":4\n', '{"seq":5\n'))
  expect(verifyLedger(root)).toMatchObject({ kind: 'broken', line: 4 })
})

it('goes on from a cut at any byte', async () => {
  const root = temporaryRoot()
  await note(root, 1)
  await note(root, 2)
  const whole = readFileSync(ledgerOf(root))
  for (let length = 0; length < whole.length; length += 1) {
    writeFileSync(ledgerOf(root), whole.subarray(0, length))
    await note(root, 3)
    expect(verifyLedger(root), `cut at ${length}`).toMatchObject({ kind: 'intact', tornBytes: 0 })
    const read = readEvents(root)
    expect(read.kind === 'read' && read.events.at(-1)?.cycle).toBe(3)
  }
})

it('only closes a whole line that lacks its newline', async () => {
  const root = await ledgerOfThree()
  truncateSync(ledgerOf(root), readFileSync(ledgerOf(root)).length - 1)
  await note(root, 4)
  expect(verifyLedger(root)).toMatchObject({ kind: 'intact', events: 4 })
})

it('starts with a torn line when even the first one was cut short', async () => {
  const root = await ledgerOfThree()
  truncateSync(ledgerOf(root), 10)
  await note(root, 1)
  expect(verifyLedger(root)).toMatchObject({ kind: 'intact', events: 2 })
})

it('reads types of a later version', async () => {
  const root = await ledgerOfThree()
  const prev = sha256(Buffer.from(linesOf(root)[2] ?? ''))
  appendFileSync(ledgerOf(root), `${JSON.stringify({ seq: 4, at, type: 'teleported', prev, where: ['x'] })}\n`)
  await note(root, 5)
  const read = readEvents(root)
  expect(read.kind === 'read' && read.events[3]).toMatchObject({ type: 'teleported', where: ['x'] })
  expect(verifyLedger(root)).toMatchObject({ kind: 'intact', events: 5 })
})

it('records that something happened even when it is too long to say what', async () => {
  const root = temporaryRoot()
  await appendEvent(root, { type: 'drift-found', paths: Array(10_000).fill('src/some/file.ts') }, now)
  await note(root, 1)
  expect(JSON.parse(linesOf(root)[0] ?? '')).toMatchObject({ type: 'drift-found', left_out_bytes: expect.any(Number) })
  expect(verifyLedger(root)).toMatchObject({ kind: 'intact', events: 2 })
})

it('appends at the same price after 100,000 lines', async () => {
  const root = temporaryRoot()
  mkdirSync(join(root, '.claude/review'), { recursive: true })
  let prev = zeroHash
  const lines = Array.from({ length: 100_000 }, (_, index) => {
    const line = JSON.stringify({
      seq: index + 1,
      at,
      type: 'denied',
      prev,
      tool: 'Write',
      rule: 'plan-first',
      reason: 'x',
    })
    prev = sha256(Buffer.from(line))
    return line
  })
  writeFileSync(ledgerOf(root), `${lines.join('\n')}\n`)

  const start = performance.now()
  for (let n = 1; n <= 20; n += 1) await note(root, n)
  expect((performance.now() - start) / 20).toBeLessThan(60)
  expect(verifyLedger(root)).toMatchObject({ kind: 'intact', events: 100_020 })
})

it('keeps every line of 20 processes that append at once', async () => {
  const root = temporaryRoot()
  const writers = Array.from({ length: 20 }, (_, index) => `writer ${index}`)
  await Promise.all(writers.map((name) => runFixture('append-events', root, '10', name)))

  expect(verifyLedger(root)).toMatchObject({ kind: 'intact', events: 200 })
  const read = readEvents(root)
  const said = read.kind === 'read' ? read.events.map((event) => `${event.tool} ${event.rule}`) : []
  expect(new Set(said).size).toBe(200)
})
