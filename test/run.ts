import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * `npm test` (the projects `unit` and `smoke`) and `npm run test:all` (everything): builds what the tests run, runs them,
 * and ends with one plain line from the real counts. Other arguments go on to vitest: `npm test -- test/unit/gate`.
 */
const projects = ['unit', 'smoke', 'integration', 'clients']
const args = process.argv.slice(2)
const chosen = args.filter((arg) => projects.includes(arg)).flatMap((name) => ['--project', name])
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
        ...chosen,
        ...args.filter((arg) => !projects.includes(arg)),
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
