import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { tailOfTranscript } from '../reflect/tail-of-transcript.ts'
import { makeRedactor } from '../safety/make-redactor.ts'
import type { CompiledConfig } from '../schemas/compiled-config.ts'
import type { EffectiveConfig } from '../schemas/config.ts'
import { debug } from './debug.ts'

/** Far more than is shown of it; a transcript of days is not read from its beginning. */
const mostBytes = 8 * 1024 * 1024

/** How the session ends in Claude Code's own record of it; empty where that cannot be read. */
export function readTranscript(path: string | null | undefined, maxChars: number, { config }: CompiledConfig): string {
  const redactor = makeRedactor((config as EffectiveConfig).review.redaction.patterns)
  return tailOfTranscript(endOf(path), maxChars, (text) => {
    const clean = redactor.text(text)
    return clean.kind === 'redacted' ? clean.text : null
  })
}

function endOf(path: string | null | undefined): string {
  if (path === undefined || path === null || path === '') return ''
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const stat = fstatSync(fd)
      if (!stat.isFile()) return ''
      const bytes = Buffer.alloc(Math.min(stat.size, mostBytes))
      const count = readSync(fd, bytes, 0, bytes.length, stat.size - bytes.length)
      return bytes.toString('utf8', 0, count)
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    debug(`the transcript cannot be read: ${String(error)}`)
    return ''
  }
}
