import { closeSync, constants, fsyncSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { LedgerEntry } from '../schemas/ledger-event.ts'
import { ensureReviewDir } from './ensure-review-dir.ts'
import { holdLock } from './hold-lock.ts'
import { openRegular } from './open-regular.ts'
import { hashOf, maxLineBytes } from './parse-ledger-line.ts'
import { type LedgerTail, readLedgerTail } from './read-ledger-tail.ts'
import { reviewDir, reviewPaths } from './review-paths.ts'
import { noStep, type Step } from './step.ts'
import { errnoOf, StoreError } from './store-error.ts'
import { syncFolder } from './sync-folder.ts'

export type AppendOptions = { now?: () => Date; waitMs?: number; step?: Step }

/**
 * One more line in `events.jsonl`. The ledger has its own lock, held for milliseconds: a review that holds the other one
 * for minutes does not keep the rest from being recorded.
 */
export async function appendEvent(root: string, entry: LedgerEntry, options: AppendOptions = {}): Promise<void> {
  const { now = () => new Date(), waitMs = 10_000, step = noStep } = options
  ensureReviewDir(root, reviewDir, step)
  const work = () => append(root, entry, now().toISOString(), step)
  const held = await holdLock(join(root, reviewPaths.ledgerLock), work, { waitMs })
  if (held.kind === 'busy') throw new StoreError(reviewPaths.ledger, `was locked for ${held.waitedMs} ms`, 'Try again.')
}

function append(root: string, entry: LedgerEntry, at: string, step: Step): void {
  const path = reviewPaths.ledger
  const opened = openRegular(root, path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT)
  if (opened.kind === 'absent') throw new StoreError(path, 'cannot be made')
  if (opened.kind === 'refused') throw new StoreError(path, `cannot be written: ${opened.why}`)
  try {
    step(`append to ${path}`)
    writeFully(opened.fd, nextBytes(readLedgerTail(opened.fd, opened.size), entry, at))
    step(`sync ${path}`)
    fsyncSync(opened.fd)
  } catch (error) {
    throw new StoreError(path, `cannot be written (${errnoOf(error)})`, undefined, error)
  } finally {
    closeSync(opened.fd)
  }
  if (opened.size === 0) syncFolder(join(root, reviewDir))
}

/** A torn line stays as it is; it is closed, and an event that covers it takes up the chain. */
function nextBytes({ last, torn, closed }: LedgerTail, entry: LedgerEntry, at: string): Buffer {
  const mend: LedgerEntry = { type: 'torn-line', after: last.hash, lines: torn.lines, bytes: torn.bytes.length }
  const mended =
    torn.lines === 0 ? undefined : lineOf({ seq: last.seq + torn.lines + 1, at, prev: hashOf(torn.bytes) }, mend)
  const seq = mended ? last.seq + torn.lines + 2 : last.seq + 1
  const line = lineOf({ seq, at, prev: mended ? hashOf(mended) : last.hash }, entry)
  return Buffer.concat(
    [closed ? '' : '\n', mended ?? '', mended ? '\n' : '', line, '\n'].map((part) => Buffer.from(part)),
  )
}

type LinePlace = { seq: number; at: string; prev: string }

function lineOf({ seq, at, prev }: LinePlace, { type, ...fields }: LedgerEntry): Buffer {
  const line = Buffer.from(JSON.stringify({ seq, at, type, prev, ...fields }))
  if (line.length < maxLineBytes) return line
  // That it happened is worth more than nothing: a drift of ten thousand files, say.
  return Buffer.from(JSON.stringify({ seq, at, type, prev, left_out_bytes: line.length }))
}

/** The kernel may take a part, on a full disk for one; the next append then finds a torn line. */
function writeFully(fd: number, bytes: Buffer): void {
  let done = 0
  while (done < bytes.length) done += writeSync(fd, bytes, done)
}
