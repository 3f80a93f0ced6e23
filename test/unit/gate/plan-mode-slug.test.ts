import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { planModeSlug } from '../../../src/gate/transcript.ts'

let home: string
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'transcripts-')))
  mkdirSync(join(home, 'projects/x'), { recursive: true })
  vi.stubEnv('CLAUDE_CONFIG_DIR', home)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(home, { recursive: true, force: true })
})

const line = (slug: string, more: object = {}): string =>
  JSON.stringify({ type: 'user', sessionId: 's1', slug, ...more })
const transcript = (...lines: string[]): string => {
  const path = join(home, 'projects/x/s1.jsonl')
  writeFileSync(path, `${lines.join('\n')}\n`)
  return path
}
const filler = `${JSON.stringify({ type: 'assistant', sessionId: 's1', text: 'x'.repeat(1000) })}\n`
  .repeat(2_000)
  .trim()

it.each<[string, string[], string | null]>([
  ['the last of this session', [line('one'), line('two')], 'two'],
  ['not that of the session that was resumed', [line('one'), line('two', { sessionId: 's0' })], 'one'],
  [
    'not what a message says',
    [line('one'), JSON.stringify({ sessionId: 's1', text: line('two'), message: { slug: 'x' } })],
    'one',
  ],
  ['the first lines of a long transcript', [line('one'), filler], 'one'],
  ['the last lines of a long transcript', [line('one'), filler, line('two')], 'two'],
  ['none', ['{"type":"mode"}', '{"slug":', ''], null],
])('the slug is %s', (_, lines, expected) => {
  expect(planModeSlug(transcript(...lines), 's1')).toBe(expected)
})

it('a file elsewhere is no transcript, nor is a link to one', () => {
  const path = transcript(line('one'))
  for (const other of [join(home, 'other.jsonl'), join(home, 'projects-of-somebody.jsonl')]) {
    writeFileSync(other, `${line('one')}\n`)
    expect(planModeSlug(other, 's1')).toBeNull()
  }
  symlinkSync(join(home, 'other.jsonl'), join(home, 'projects/x/link.jsonl'))
  expect(planModeSlug(join(home, 'projects/x/link.jsonl'), 's1')).toBeNull()
  expect([
    planModeSlug(path, undefined),
    planModeSlug(null, 's1'),
    planModeSlug(join(home, 'projects/x'), 's1'),
  ]).toEqual([null, null, null])
})
