import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readApproval, writeApproval } from '../../../src/state/approval.ts'
import { endCycle, listCycles, withLock } from '../../../src/state/cycles.ts'
import { ensureReviewDir } from '../../../src/state/files.ts'
import { appendEvent, readEvents, verifyLedger } from '../../../src/state/ledger.ts'
import { reviewPaths } from '../../../src/state/own-paths.ts'
import {
  clearProgress,
  listRevisions,
  readCounter,
  readProgress,
  readRevision,
  readThread,
  saveAnnotated,
  savePass,
  saveResult,
  saveSnapshot,
  writeCounter,
  writeProgress,
  writeThread,
} from '../../../src/state/revisions.ts'
import { appendDenial, listSessions, pruneSessions, readDenials, recordSession } from '../../../src/state/sessions.ts'
import { filesUnder, temporaryRoot } from '../../support/state/temporary-root.ts'

const thread = '0199a213-81c0-7800-8aa1-bbab2a035a53'
const now = new Date('2026-03-01T10:00:00Z')
const progress = {
  pass: 1,
  passes: 3,
  backend: 'codex',
  started_at: '',
  deadline_at: '',
  revision: 1,
  pid: process.pid,
}
const denial = { tool: 'Write', target: 'src/a.ts', rule: 'plan-first', reason: '' }
const heartbeat = { session_id: 'a', client_version: null, source: 'startup', cwd: '/' }

/** Everything that writes, with the names on its way. */
const writers: readonly { name: string; trapped: readonly string[]; write: (root: string) => unknown }[] = [
  {
    name: 'writeApproval',
    trapped: [reviewPaths.approval],
    write: (root) => writeApproval(root, { is_optimal: true, plan_hash: 'a'.repeat(64) }),
  },
  { name: 'writeThread', trapped: [reviewPaths.thread], write: (root) => writeThread(root, thread) },
  { name: 'writeCounter', trapped: [reviewPaths.counter], write: (root) => writeCounter(root, 1) },
  { name: 'writeProgress', trapped: [reviewPaths.progress], write: (root) => writeProgress(root, progress) },
  {
    name: 'saveSnapshot',
    trapped: ['snapshot.md', 'codex.json', 'annotated.md'].map((part) => `.claude/review/plan_v1.${part}`),
    write: (root) => saveSnapshot(root, 1, Buffer.from('plan')),
  },
  {
    name: 'saveResult',
    trapped: ['.claude/review/plan_v1.codex.json'],
    write: (root) => saveResult(root, 1, { verdict: 'APPROVED' }),
  },
  {
    name: 'saveAnnotated',
    trapped: ['.claude/review/plan_v1.annotated.md'],
    write: (root) => saveAnnotated(root, 1, 'text'),
  },
  {
    name: 'savePass',
    trapped: [reviewPaths.passes, `${reviewPaths.passes}/plan_v1.pass-1.json`],
    write: (root) => savePass(root, 1, 1, {}),
  },
  {
    name: 'appendEvent',
    trapped: [reviewPaths.ledger, reviewPaths.ledgerLock],
    write: (root) => appendEvent(root, { type: 'uninstalled', version: '1' }),
  },
  {
    name: 'recordSession',
    trapped: [reviewPaths.sessions, `${reviewPaths.sessions}/a`, `${reviewPaths.sessions}/a/session.json`],
    write: (root) => recordSession(root, heartbeat, now),
  },
  { name: 'withLock', trapped: [reviewPaths.lock], write: (root) => withLock(root, () => {}, { waitMs: 100 }) },
  {
    name: 'endCycle',
    trapped: [reviewPaths.history, `${reviewPaths.history}/cycle-0001.partial`],
    write: async (root) => {
      saveSnapshot(root, 7, Buffer.from('plan'))
      await endCycle(root, 'test')
    },
  },
]

const traps = writers.flatMap(({ name, trapped, write }) =>
  ['.claude', '.claude/review', '.claude/review/.gitignore', ...trapped]
    // Once the folder ignores itself, nobody looks at that file again.
    .filter((path) => path !== '.claude/review/.gitignore' || name === 'writeApproval')
    .map((path) => ({ name, path, write })),
)

describe.each(['a folder', 'a file', 'nothing'] as const)('a link that leads to %s', (leadsTo) => {
  it.each(traps)('in place of $path is not followed by $name', async ({ path, write }) => {
    const { root, outside } = plant(path, leadsTo)
    const before = filesUnder(outside)
    const ignoring = path.endsWith('.gitignore')

    const outcome = await Promise.resolve(root)
      .then(write)
      .then(
        () => 'went on',
        () => 'refused',
      )
    expect(outcome).toBe(ignoring ? 'went on' : 'refused')
    expect(filesUnder(outside)).toEqual(before)
    expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('untouched')
  })
})

it.each(['.claude', '.claude/review', reviewPaths.sessions])('no reader follows a link in place of %s', (path) => {
  const { root, outside } = plant(path, 'a folder')
  const real = temporaryRoot()
  fill(real)
  rmSync(outside, { recursive: true })
  symlinkSync(join(real, path), outside)

  expect(listSessions(root)).toEqual([])
  expect(readDenials(root, 'a')).toEqual([])
  expect(appendDenial(root, 'a', denial)).toEqual({ kind: 'refused', why: expect.stringContaining('symbolic link') })
  pruneSessions(root, 0)
  clearProgress(root)
  if (path !== reviewPaths.sessions) {
    const refused = { kind: 'refused', why: `${path} is a symbolic link, not a directory` }
    expect([readApproval(root), readThread(root), readProgress(root)]).toEqual([refused, refused, refused])
    expect([readEvents(root), verifyLedger(root)]).toEqual([refused, refused])
    expect(readRevision(root, 1)).toEqual({ snapshot: refused, result: refused })
    expect(readCounter(root)).toEqual({ value: 0, why: refused.why })
    expect([listRevisions(root), listCycles(root)]).toEqual([[], []])
  }
  expect(listSessions(real)).toHaveLength(1)
  expect(readProgress(real).kind).toBe('running')
})

it('an approval does not outlive its cycle because the archive cannot be made', async () => {
  const { root } = plant(reviewPaths.history, 'a folder')
  writeApproval(root, { is_optimal: true, plan_hash: 'a'.repeat(64) })

  await expect(endCycle(root, 'test')).rejects.toThrow('.claude/review/history is a symbolic link')
  expect(readApproval(root)).toEqual({ kind: 'absent' })
})

function plant(path: string, leadsTo: 'a folder' | 'a file' | 'nothing'): { root: string; outside: string } {
  const root = temporaryRoot()
  const outside = temporaryRoot()
  writeFileSync(join(outside, 'file'), 'untouched')
  mkdirSync(dirname(join(root, path)), { recursive: true })
  symlinkSync(
    { 'a folder': outside, 'a file': join(outside, 'file'), nothing: join(outside, 'no') }[leadsTo],
    join(root, path),
  )
  return { root, outside }
}

function fill(root: string): void {
  ensureReviewDir(root)
  recordSession(root, heartbeat, now)
  writeProgress(root, progress)
  writeThread(root, thread)
  saveSnapshot(root, 1, Buffer.from('plan'))
}
