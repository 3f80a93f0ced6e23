/** What was paid for, so that it is never paid for again: a line for each review, and for each answer of the judge. */

import { closeSync, constants, fsyncSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type CalibrationLine, calibrationLineSchema } from '../schemas/calibration.ts'
import { accepts } from '../schemas/schema.ts'
import { ensureFolder, lstatEntry, openRegular, readRegular } from '../state/files.ts'
import { parseJson } from '../text/json.ts'

export type Journal = {
  readonly lines: () => readonly CalibrationLine[]
  readonly append: (line: CalibrationLine) => void
}

const maxBytes = 256 * 1024 * 1024

/** A last line that was torn by a crash is left out, and so is what an older version has written otherwise. */
export function openJournal(root: string, folder: string, name: string): Journal {
  const path = `${folder}/${name}`
  const read = readRegular(root, path, maxBytes)
  const text = read.kind === 'read' ? read.bytes.toString('utf8') : ''
  const lines = text
    .split('\n')
    .slice(0, -1)
    .map(parseJson)
    .filter((line): line is CalibrationLine => accepts(calibrationLineSchema, line))
  let isTorn = text !== '' && !text.endsWith('\n')
  return {
    lines: () => lines,
    append: (line) => {
      ensureFolder(root, folder)
      const opened = openRegular(root, path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT)
      if (opened.kind !== 'opened') throw new Error(`${path} cannot be written`)
      try {
        const bytes = Buffer.from(`${isTorn ? '\n' : ''}${JSON.stringify(line)}\n`)
        for (let at = 0; at < bytes.length; ) at += writeSync(opened.fd, bytes, at)
        fsyncSync(opened.fd)
        isTorn = false
      } finally {
        closeSync(opened.fd)
      }
      lines.push(line)
    },
  }
}

/** What was paid for is never deleted: only the one that was set aside before makes room. */
export function setJournalAside(root: string, folder: string, name: string): void {
  const path = `${folder}/${name}`
  if (lstatEntry(root, path).kind === 'entry') renameSync(join(root, path), join(root, `${path}.old`))
}
