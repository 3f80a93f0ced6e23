import { appendFileSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { LedgerEntry } from '../../../src/schemas/records.ts'
import { appendEvent, eventsFromEnd } from '../../../src/state/ledger.ts'
import { reviewDir, reviewPaths } from '../../../src/state/own-paths.ts'
import { fillLedger } from '../../harness/load/fill-ledger.ts'
import { temporaryRoot } from '../../support/state/temporary-root.ts'

const ledgerOf = (root: string): string => join(root, reviewPaths.ledger)
const started = (cycle: number): LedgerEntry => ({ type: 'cycle-started', cycle })
const revoked = (why: string): LedgerEntry => ({ type: 'approval-revoked', why })
const told = (root: string, types: readonly string[] | null) =>
  [...eventsFromEnd(root, types)].map(({ type, cycle, why }) => [type, cycle ?? why])

/** Longer than what is read at once, so that lines begin in one piece and end in the next. */
const many = 5_000
const long = (root: string): void => fillLedger(root, many, (i) => (i === 7 ? revoked('seven') : started(i)))
const rest = Array.from({ length: many }, (_, i) => (i === 7 ? ['approval-revoked', 'seven'] : ['cycle-started', i]))

it.each<{ what: string; make: (root: string) => void; types: readonly string[] | null; expected: unknown[][] }>([
  { what: 'no ledger', make: () => {}, types: null, expected: [] },
  { what: 'an empty one', make: (root) => put(root, ''), types: null, expected: [] },
  { what: 'a long one', make: long, types: null, expected: rest.toReversed() },
  {
    what: 'one event far from its end',
    make: long,
    types: ['approval-revoked', 'approved'],
    expected: [['approval-revoked', 'seven']],
  },
  { what: 'no event of the type', make: long, types: ['approved'], expected: [] },
  {
    what: 'a type that another event only mentions',
    make: (root) => fillLedger(root, 1, () => revoked('"type":"approved"')),
    types: ['approved'],
    expected: [],
  },
  {
    what: 'a torn line at the end',
    make: (root) => {
      fillLedger(root, 2, started)
      appendFileSync(ledgerOf(root), '{"seq":3,"at":"2026')
    },
    types: null,
    expected: [
      ['cycle-started', 1],
      ['cycle-started', 0],
    ],
  },
  {
    what: 'no newline at the end',
    make: (root) => {
      fillLedger(root, 1, started)
      put(root, readFileSync(ledgerOf(root), 'utf8').trimEnd())
    },
    types: null,
    expected: [['cycle-started', 0]],
  },
  {
    what: 'megabytes of something else before the end',
    make: (root) => {
      put(root, `${'x'.repeat(3_000_000)}\n`)
      const other = temporaryRoot()
      fillLedger(other, 1, started)
      appendFileSync(ledgerOf(root), readFileSync(ledgerOf(other)))
    },
    types: null,
    expected: [['cycle-started', 0]],
  },
  {
    what: 'a link in its place',
    make: (root) => {
      fillLedger(root, 1, started)
      renameSync(ledgerOf(root), join(root, 'elsewhere'))
      symlinkSync(join(root, 'elsewhere'), ledgerOf(root))
    },
    types: null,
    expected: [],
  },
])('$what', ({ make, types, expected }) => {
  const root = temporaryRoot()
  make(root)
  expect(told(root, types)).toEqual(expected)
})

it('finds what was appended by the ledger itself', async () => {
  const root = temporaryRoot()
  await appendEvent(root, started(1))
  await appendEvent(root, revoked('a — ü'))
  expect(told(root, ['approval-revoked'])).toEqual([['approval-revoked', 'a — ü']])
})

function put(root: string, text: string): void {
  mkdirSync(join(root, reviewDir), { recursive: true })
  writeFileSync(ledgerOf(root), text)
}

it('looks no further than it was told to', () => {
  const root = temporaryRoot()
  long(root)
  expect([...eventsFromEnd(root, ['approval-revoked'], 64 * 1024)]).toEqual([])
  const near = [...eventsFromEnd(root, ['cycle-started'], 64 * 1024)]
  expect(near[0]).toMatchObject({ cycle: many - 1 })
  expect(near.length).toBeGreaterThan(100)
  expect(near.length).toBeLessThan(many / 2)
})
