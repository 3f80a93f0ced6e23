/** What the fixtures of programs that review have in common. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Question } from '../../src/schemas/review.ts'

/** A fake key, composed so that no scanner takes it for one. */
export const fakeKey = ['fake', 'key', 'of', 'the', 'tests'].join('-')

export const plainQuestion: Question = {
  system: 'You review plans.',
  user: 'The plan: do it.',
  model: null,
  effort: null,
  schema: null,
  thread: { kind: 'none' },
  root: null,
  timeoutMs: 25_000,
  subject: { type: 'plan', content: 'do it' },
}

export const writerIn =
  (folder: string) =>
  (path: string, text: string): string => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
    return join(folder, path)
  }

/** The same for a shell script that can be run. */
export const scriptWriterIn =
  (folder: string) =>
  (path: string, text: string): string => {
    const file = writerIn(folder)(path, `#!/bin/sh\n${text}\n`)
    chmodSync(file, 0o755)
    return file
  }

/** What has ended and was not fetched by its parent yet counts as gone. */
export function processesNaming(folder: string): string[] {
  const rows = execFileSync('ps', ['-A', '-ww', '-o', 'stat=,args='], { encoding: 'utf8', maxBuffer: 64 << 20 })
  return rows.split('\n').filter((row) => row.includes(folder) && !row.startsWith('Z'))
}
