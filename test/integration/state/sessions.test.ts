import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { reviewPaths } from '../../../src/state/own-paths.ts'
import { clearProgress, readProgress, writeProgress } from '../../../src/state/revisions.ts'
import {
  appendDenial,
  listSessions,
  pruneSessions,
  readDenials,
  recordSession,
  sessionFolder,
} from '../../../src/state/sessions.ts'
import { filesUnder, temporaryRoot } from '../../support/state/temporary-root.ts'
import { runFixture } from './run-fixture.ts'

const at = (seconds: number) => new Date(Date.UTC(2026, 2, 1, 10, 0, seconds))
const heartbeat = (session_id: string) => ({ session_id, client_version: '2.1.300', source: 'startup', cwd: '/w' })
const denial = { tool: 'Write', target: 'src/a.ts', rule: 'plan-first', reason: 'No plan.' }

it.each(['', '.', '..', '../../../etc', 'a/b', 'a\\b', 'a\0', 'é', 'a'.repeat(65)])(
  'a session called "%s" stays inside',
  (id) => {
    expect(sessionFolder(id)).toMatch(/^\.claude\/review\/sessions\/[0-9a-f]{64}$/)
  },
)

it('a heartbeat keeps the start, and is silent while there is nothing new', () => {
  const root = temporaryRoot()
  const seen = () => listSessions(root).map(({ session }) => session)
  recordSession(root, heartbeat('a'), at(0))
  recordSession(root, heartbeat('a'), at(5))
  expect(seen()).toEqual([{ ...heartbeat('a'), started_at: at(0).toISOString(), last_seen_at: at(0).toISOString() }])
  recordSession(root, { ...heartbeat('a'), source: 'resume' }, at(6))
  recordSession(root, { ...heartbeat('a'), source: 'resume' }, at(40))
  expect(seen()).toEqual([
    { ...heartbeat('a'), source: 'resume', started_at: at(0).toISOString(), last_seen_at: at(40).toISOString() },
  ])
})

it('lists the newest first and keeps fifty', () => {
  const root = temporaryRoot()
  for (let n = 0; n < 55; n += 1) recordSession(root, heartbeat(`s${n}`), at(n))
  writeFileSync(join(root, reviewPaths.sessions, 'a-file'), '')
  appendDenial(root, 'only-denials', denial)
  pruneSessions(root)
  const sessions = listSessions(root)
  expect(sessions).toHaveLength(50)
  expect(sessions[0]).toMatchObject({ folder: sessionFolder('only-denials'), session: null })
  expect(sessions[1]?.session?.session_id).toBe('s54')
  expect(readdirSync(join(root, reviewPaths.sessions))).not.toContain('s5')
})

it('truncates a denial to one line of 4 KB', () => {
  const root = temporaryRoot()
  for (const text of ['\0'.repeat(9_000), '😀'.repeat(9_000), 'a\nb"'.repeat(9_000)]) {
    appendDenial(root, 'a', { ...denial, tool: text, target: text, rule: text, reason: text })
  }
  const lines = readFileSync(join(root, sessionFolder('a'), 'denials.jsonl'), 'utf8').split('\n')
  expect(lines.map((line) => Buffer.byteLength(line) < 4096)).toEqual([true, true, true, true])
  expect(readDenials(root, 'a')).toHaveLength(3)
})

it('keeps every denial of 8 processes that append at once', async () => {
  const root = temporaryRoot()
  await Promise.all(Array.from({ length: 8 }, (_, n) => runFixture('append-denials', root, '100', `tool ${n}`)))
  const lines = readFileSync(join(root, sessionFolder('one-session'), 'denials.jsonl'), 'utf8')
    .trim()
    .split('\n')
  expect(lines).toHaveLength(800)
  const denials = readDenials(root, 'one-session')
  expect(new Set(denials.map(({ tool, rule }) => `${tool} ${rule}`)).size).toBe(800)
})

it('distinguishes a running review from one whose process is gone', async () => {
  const root = temporaryRoot()
  const { stdout } = await runFixture('print-pid')
  const progress = {
    pass: 2,
    passes: 3,
    backend: 'codex',
    started_at: 'x',
    deadline_at: 'y',
    revision: 1,
    pid: process.pid,
  }
  const gone = { ...progress, pid: Number(stdout) }

  expect(readProgress(root)).toEqual({ kind: 'absent' })
  writeProgress(root, progress)
  expect(readProgress(root)).toEqual({ kind: 'running', progress })
  writeProgress(root, gone)
  expect(readProgress(root)).toEqual({ kind: 'died', progress: gone })
  clearProgress(root)
  clearProgress(root)
  expect(readProgress(root)).toEqual({ kind: 'absent' })
  mkdirSync(join(root, reviewPaths.progress))
  expect(readProgress(root).kind).toBe('refused')
  expect(filesUnder(join(root, '.claude/review')).filter((path) => path.endsWith('.tmp'))).toEqual([])
})
