import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * `npm test`: builds what the tests run, runs them, and closes with one plain line from the real counts. Arguments go
 * on to vitest: `npm test -- test/gate`.
 */
const folder = mkdtempSync(join(tmpdir(), 'plan-gate-test-'))
const report = join(folder, 'report.json')
const run = (args: readonly string[]): number => spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1

const built = run(['--import', 'tsx', 'src/build/build.ts'])
const status =
  built === 0
    ? run([
        'node_modules/vitest/vitest.mjs',
        'run',
        '--reporter=default',
        '--reporter=json',
        `--outputFile=${report}`,
        ...process.argv.slice(2),
      ])
    : built

type Counts = {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  numFailedTestSuites: number
  success: boolean
}
const counts = countsIn(report)
rmSync(folder, { recursive: true, force: true })
if (counts === null) {
  console.log('0 passed, 1 failed')
  process.exit(1)
}
// A suite that could not be loaded has no tests to count, and must not look like a success.
const failed = Math.max(counts.numFailedTests, counts.success ? 0 : 1)
const skipped = counts.numPendingTests > 0 ? `, ${counts.numPendingTests} skipped` : ''
console.log(`${counts.numPassedTests} passed, ${failed} failed${skipped}`)
process.exit(status === 0 && failed === 0 ? 0 : 1)

function countsIn(path: string): Counts | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Counts
  } catch {
    return null
  }
}
