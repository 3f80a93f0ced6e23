import { delimiter } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** As after `npm i -g`: messages then say `plan-gate status`, wherever the tests run. */
const env = { PATH: [fileURLToPath(new URL('test/support/bin', import.meta.url)), process.env.PATH].join(delimiter) }
const limits = { testTimeout: 30_000, hookTimeout: 120_000, env }

export default defineConfig({
  test: {
    // Two cores, of which two workers use half: real clients wait for their servers and timers.
    maxWorkers: 3,
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
