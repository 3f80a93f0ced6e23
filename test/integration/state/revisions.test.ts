import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { writeApproval } from '../../../src/state/approval.ts'
import { endCycle, listCycles } from '../../../src/state/cycles.ts'
import { reviewDir, reviewPaths } from '../../../src/state/own-paths.ts'
import {
  countRevisions,
  listRevisions,
  readCounter,
  readRevision,
  readThread,
  saveAnnotated,
  savePass,
  saveResult,
  saveSnapshot,
  writeCounter,
  writeThread,
} from '../../../src/state/revisions.ts'
import { sha256 } from '../../../src/system/sha256.ts'
import { temporaryRoot } from '../../support/state/temporary-root.ts'

const plan = Buffer.from('# Plan\r\n\0\xff', 'latin1')

it('keeps the exact bytes', () => {
  const root = temporaryRoot()
  saveSnapshot(root, 1, plan)
  saveResult(root, 1, { verdict: 'CHANGES_REQUIRED' })
  saveAnnotated(root, 1, 'F1')
  saveSnapshot(root, 10, Buffer.from('other'))

  expect(listRevisions(root)).toEqual([
    { revision: 1, parts: ['annotated.md', 'codex.json', 'snapshot.md'] },
    { revision: 10, parts: ['snapshot.md'] },
  ])
  expect(readRevision(root, 1)).toEqual({
    snapshot: { kind: 'read', bytes: plan },
    result: { kind: 'read', value: { verdict: 'CHANGES_REQUIRED' } },
  })
})

it('has no old verdict beside a snapshot that took the number again', () => {
  const root = temporaryRoot()
  saveSnapshot(root, 1, plan)
  saveResult(root, 1, { verdict: 'APPROVED' })
  saveAnnotated(root, 1, 'fine')
  const other = Buffer.from('quite another plan')
  saveSnapshot(root, 1, other)
  expect(listRevisions(root)).toEqual([{ revision: 1, parts: ['snapshot.md'] }])
})

it.each([
  { text: null, expected: { value: 0, why: '.claude/review/version_counter does not exist' } },
  { text: '4\n', expected: { value: 4, why: null } },
  { text: '4', expected: { value: 4, why: null } },
  { text: '', expected: { value: 0, why: '.claude/review/version_counter has no number' } },
  { text: '-1', expected: { value: 0, why: '.claude/review/version_counter has no number' } },
  { text: '1e9', expected: { value: 0, why: '.claude/review/version_counter has no number' } },
  { text: '1'.repeat(99), expected: { value: 0, why: '.claude/review/version_counter is larger than 64 bytes' } },
])('a counter file with $text counts $expected.value', ({ text, expected }) => {
  const root = temporaryRoot()
  mkdirSync(join(root, reviewDir), { recursive: true })
  if (text !== null) writeFileSync(join(root, reviewPaths.counter), text)
  expect(readCounter(root)).toEqual(expected)
})

it('counts a result that the counter does not know of', () => {
  const root = temporaryRoot()
  saveSnapshot(root, 3, plan)
  saveResult(root, 3, {})
  saveSnapshot(root, 4, plan)
  writeCounter(root, 1)
  expect(countRevisions(root)).toEqual({ value: 3, why: 'plan_v3 has a result' })
  writeCounter(root, 4)
  expect(countRevisions(root)).toEqual({ value: 4, why: null })
})

it.each([
  {
    text: '0199A213-81C0-7800-8AA1-BBAB2A035A53\n',
    expected: { kind: 'known', id: '0199a213-81c0-7800-8aa1-bbab2a035a53' },
  },
  { text: 'not-a-uuid', expected: { kind: 'refused', why: '.claude/review/codex_thread_id does not hold a UUID' } },
  { text: '', expected: { kind: 'refused', why: '.claude/review/codex_thread_id does not hold a UUID' } },
  {
    text: '0199a213-81c0-7800-8aa1-bbab2a035a53 --last',
    expected: { kind: 'refused', why: '.claude/review/codex_thread_id does not hold a UUID' },
  },
])('a thread file with "$text" is $expected.kind', ({ text, expected }) => {
  const root = temporaryRoot()
  expect(readThread(root)).toEqual({ kind: 'absent' })
  mkdirSync(join(root, reviewDir), { recursive: true })
  writeFileSync(join(root, reviewPaths.thread), text)
  expect(readThread(root)).toEqual(expected)
})

it('ends a cycle: everything of it moves, the thread stays, the counter is 0', async () => {
  const root = temporaryRoot()
  expect(await endCycle(root, 'nothing yet')).toEqual({ kind: 'nothing-to-end' })
  for (const cycle of [1, 2]) {
    saveSnapshot(root, 1, plan)
    saveResult(root, 1, { cycle })
    savePass(root, 1, 1, { context: 'x' })
    writeCounter(root, 1)
    writeThread(root, '0199a213-81c0-7800-8aa1-bbab2a035a53')
    writeApproval(root, { is_optimal: true, plan_hash: sha256(plan) })
    expect(await endCycle(root, 'the plan was changed')).toEqual({ kind: 'ended', cycle })
  }
  expect(await endCycle(root, 'once more')).toEqual({ kind: 'nothing-to-end' })

  expect(readdirSync(join(root, reviewDir)).sort()).toEqual([
    '.gitignore',
    'codex_thread_id',
    'events.jsonl',
    'history',
    'version_counter',
  ])
  expect(readCounter(root)).toEqual({ value: 0, why: null })
  const cycles = listCycles(root)
  expect(cycles.map(({ cycle, kind }) => ({ cycle, kind }))).toEqual([
    { cycle: 1, kind: 'archived' },
    { cycle: 2, kind: 'archived' },
  ])
  expect(cycles.map(({ folder }) => readRevision(root, 1, folder).result)).toEqual([
    { kind: 'read', value: { cycle: 1 } },
    { kind: 'read', value: { cycle: 2 } },
  ])
  expect(readdirSync(join(root, cycles[0]?.folder ?? '')).sort()).toEqual([
    'approval.json',
    'passes',
    'plan_v1.codex.json',
    'plan_v1.snapshot.md',
  ])
})
