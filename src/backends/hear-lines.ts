import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

export type Heard = { readonly text: () => string; readonly isCut: () => boolean }

/** Reads a stream to its end and keeps the first bytes of it, and the first characters of each line on the way. */
export function hear(stream: Readable, maxBytes: number, onLine: (line: string) => void): Heard {
  const pieces: Buffer[] = []
  let kept = 0
  let isCut = false
  const lines = lineSplitter(maxBytes, onLine)
  stream.on('data', (piece: Buffer) => {
    const room = maxBytes - kept
    if (piece.length > room) isCut = true
    if (room > 0) pieces.push(piece.subarray(0, room))
    kept += Math.min(room, piece.length)
    lines.push(piece)
  })
  stream.once('close', () => lines.end())
  // A pipe that breaks has no more to say.
  stream.on('error', () => {})
  return { text: () => Buffer.concat(pieces).toString('utf8'), isCut: () => isCut }
}

function lineSplitter(
  maxLength: number,
  onLine: (line: string) => void,
): { push: (piece: Buffer) => void; end: () => void } {
  const decoder = new StringDecoder('utf8')
  let parts: string[] = []
  let length = 0
  const add = (part: string): void => {
    const fitting = part.slice(0, maxLength - length)
    if (fitting === '') return
    parts.push(fitting)
    length += fitting.length
  }
  const flush = (): void => {
    const line = parts.join('')
    parts = []
    length = 0
    onLine(line.endsWith('\r') ? line.slice(0, -1) : line)
  }
  return {
    push: (piece) => {
      const [first = '', ...others] = decoder.write(piece).split('\n')
      add(first)
      for (const part of others) {
        flush()
        add(part)
      }
    },
    end: () => {
      add(decoder.end())
      if (length > 0) flush()
    },
  }
}
