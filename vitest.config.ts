import { accessSync, constants, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** As after `npm i -g`: messages then say `plan-gate status`, wherever the tests run. */
const PATH = [fileURLToPath(new URL('test/support/bin', import.meta.url)), process.env.PATH].join(delimiter)
/** In memory, where there is room: plan-gate writes through to the disk, which took half of the time of the tests. */
const TMPDIR = isRoomy('/dev/shm') ? '/dev/shm' : tmpdir()
const limits = { testTimeout: 30_000, hookTimeout: 120_000, env: { PATH, TMPDIR } }

export default defineConfig({
  test: {
    // Two cores and real child processes: a third worker saves a tenth of the time, and lets what waits for a terminal wait.
    maxWorkers: 2,
    projects: [
      { test: { ...limits, name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      { test: { ...limits, name: 'smoke', include: ['test/smoke/**/*.test.ts'] } },
      { test: { ...limits, name: 'integration', include: ['test/{integration,harness}/**/*.test.ts'] } },
      {
        test: {
          ...limits,
          // The sandbox of Codex has a /dev of its own, without what lies there.
          env: { PATH },
          name: 'clients',
          include: ['test/clients/**/*.test.ts'],
          globalSetup: ['test/support/global-setup.ts'],
        },
      },
    ],
  },
})

/** For some gigabytes, and for programs: a container may have a small one, or one that runs none. */
function isRoomy(folder: string): boolean {
  const probe = join(folder, `plan-gate-probe-${process.pid}`)
  try {
    writeFileSync(probe, '', { mode: 0o700 })
    accessSync(probe, constants.X_OK)
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize > 4e9
  } catch {
    return false
  } finally {
    rmSync(probe, { force: true })
  }
}
