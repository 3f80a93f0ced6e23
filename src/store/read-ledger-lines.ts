import { readSync } from 'node:fs'

const chunkBytes = 256 * 1024

/** The lines of a file, without their newlines, as it is read. One longer than `maxBytes` ends it with `too-long`. */
export function* readLedgerLines(fd: number, maxBytes = 1024 * 1024): Generator<Buffer | 'too-long'> {
  const chunk = Buffer.alloc(chunkBytes)
  let rest = Buffer.alloc(0)
  for (let read = readSync(fd, chunk); read > 0; read = readSync(fd, chunk)) {
    let bytes = Buffer.concat([rest, chunk.subarray(0, read)])
    for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a)) {
      yield bytes.subarray(0, end)
      bytes = bytes.subarray(end + 1)
    }
    if (bytes.length > maxBytes) {
      yield 'too-long'
      return
    }
    rest = bytes
  }
  if (rest.length > 0) yield rest
}
