import { closeSync, read } from 'node:fs'

export type Stdin = { kind: 'read'; text: string } | { kind: 'too-large' } | { kind: 'failed'; why: string }

const limit = 64 * 1024 * 1024

/**
 * All of standard input, from file descriptor 0: Claude Code gives hooks a socket, which `/dev/stdin` cannot open, and
 * `process.stdin` costs 2 ms to build. Asynchronous, so that the hook's own deadline can fire while nothing arrives.
 */
export function readStdin(): Promise<Stdin> {
  const chunks: Buffer[] = []
  let size = 0
  return new Promise((resolve) => {
    const next = (): void => {
      const chunk = Buffer.allocUnsafe(65_536)
      read(0, chunk, 0, chunk.length, null, (error, count) => {
        if (error?.code === 'EAGAIN') return void setTimeout(next, 1)
        if (error && error.code !== 'EOF') return resolve({ kind: 'failed', why: error.code ?? error.message })
        if (error || count === 0) return resolve({ kind: 'read', text: Buffer.concat(chunks).toString('utf8') })
        size += count
        if (size > limit) {
          closeSync(0)
          return resolve({ kind: 'too-large' })
        }
        chunks.push(chunk.subarray(0, count))
        if (chunks.length === 1 && isWholeLine(chunk, count))
          return resolve({ kind: 'read', text: chunk.toString('utf8', 0, count) })
        next()
      })
    }
    next()
  })
}

/**
 * Claude Code writes one line of JSON. Where it has arrived whole, its end need not be waited for; half of it, or more
 * than one line, is no JSON.
 */
function isWholeLine(chunk: Buffer, count: number): boolean {
  if (chunk[count - 1] !== newline) return false
  try {
    JSON.parse(chunk.toString('utf8', 0, count))
    return true
  } catch {
    return false
  }
}

const newline = 0x0a
