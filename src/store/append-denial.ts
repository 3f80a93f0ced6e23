import { closeSync, constants, writeSync } from 'node:fs'
import type { Denial } from '../schemas/denial.ts'
import { ensureReviewDir } from './ensure-review-dir.ts'
import { type OpenedRegular, openRegular } from './open-regular.ts'
import { sessionFolder } from './session-folder.ts'
import { errnoOf } from './store-error.ts'

export type DenialAppend = { kind: 'appended' } | { kind: 'refused'; why: string }

const maxLineBytes = 4 * 1024
const maxFileBytes = 4 * 1024 * 1024

/**
 * On the gate's hot path: no lock, no fsync. Short lines in one O_APPEND write do not interleave. A log that cannot be
 * written must not change the answer, hence a value and no error.
 */
export function appendDenial(root: string, sessionId: string, denial: Denial): DenialAppend {
  const folder = sessionFolder(sessionId)
  const path = `${folder}/denials.jsonl`
  try {
    const opened = openForAppending(root, folder, path)
    if (opened.kind === 'absent') return { kind: 'refused', why: `${path} cannot be made` }
    if (opened.kind === 'refused') return opened
    try {
      if (opened.size > maxFileBytes) return { kind: 'refused', why: `${path} is full` }
      writeSync(opened.fd, `${shortLine(denial)}\n`)
    } finally {
      closeSync(opened.fd)
    }
    return { kind: 'appended' }
  } catch (error) {
    return { kind: 'refused', why: error instanceof Error ? error.message : errnoOf(error) }
  }
}

/** The folder is there nearly always, so it is made only when it turns out to be missing. */
function openForAppending(root: string, folder: string, path: string): OpenedRegular {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT
  const opened = openRegular(root, path, flags)
  if (opened.kind !== 'absent') return opened
  ensureReviewDir(root, folder)
  return openRegular(root, path, flags)
}

/** Cut by halves: how long a character becomes in JSON and UTF-8 is seen only when it is there. */
function shortLine(denial: Denial): string {
  const line = JSON.stringify(denial)
  if (Buffer.byteLength(line) < maxLineBytes) return line
  return shortLine({
    at: half(denial.at),
    tool: half(denial.tool),
    target: half(denial.target),
    rule: half(denial.rule),
    reason: half(denial.reason),
  })
}

const half = (text: string): string => (text.length > 128 ? text.slice(0, text.length / 2) : text)
