import { writeSync } from 'node:fs'

type Ending = { stdout?: string; stderr?: string; exitCode: number; afterwards?: () => void }

/**
 * Writes and ends. `process.stdout.write` followed by an exit loses what is past the socket's buffer (some 220 kB),
 * and a JSON cut short would let the call through; `writeSync` delivers all of it or throws.
 */
export function endProcess({ stdout, stderr, exitCode, afterwards }: Ending): never {
  if (stderr !== undefined) writeOrGiveUp(2, `${stderr}\n`)
  const delivered = stdout === undefined || writeOrGiveUp(1, stdout)
  try {
    afterwards?.()
  } catch {
    // The answer is given; a note that could not be kept does not change it.
  }
  process.exit(delivered ? exitCode : 2)
}

/**
 * The end that cannot be held up: a pending read in the thread pool can delay `process.exit`. The hook entries turn any
 * end but 0 into a 2 (`|| exit 2`).
 */
export function killOwnProcess(stderr: string): void {
  writeOrGiveUp(2, `${stderr}\n`)
  process.kill(process.pid, 'SIGKILL')
}

function writeOrGiveUp(fd: number, text: string): boolean {
  let bytes = Buffer.from(text)
  const giveUpAt = Date.now() + 2_000
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(fd, bytes))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || Date.now() > giveUpAt) return false
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)
    }
  }
  return true
}
