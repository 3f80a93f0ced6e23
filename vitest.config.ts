import { delimiter } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** As after `npm i -g`: messages then say `plan-gate status`, wherever the tests run. */
const env = { PATH: [fileURLToPath(new URL('test/support/bin', import.meta.url)), process.env.PATH].join(delimiter) }
const limits = { testTimeout: 30_000, hookTimeout: 120_000, env }

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
          name: 'clients',
          include: ['test/clients/**/*.test.ts'],
          globalSetup: ['test/support/global-setup.ts'],
        },
      },
    ],
  },
})
