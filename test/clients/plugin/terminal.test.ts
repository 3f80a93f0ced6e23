import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { unpackPackage } from '../../support/plugin-home.ts'
import { byTmux, hasTmux } from '../../support/tmux.ts'
import { inTerminal, rows, tryCell } from './failure-table.ts'

let folder: string
let unpacked: string
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'plugin-terminal-')))
  unpacked = await unpackPackage(folder)
})
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))

/** By settings · by settings and plugin · by the plugin alone, in a subfolder: as in print mode. */
const table: { readonly [row: string]: string } = {
  'no gate at all': 'OPEN OPEN OPEN',
  'the gate as it is': 'held held held',
  'the hook crashes': 'held held held',
  'the hook hangs': 'held held held',
  'the bundle is overwritten in the session': 'held held held',
  'disableAllHooks in the project': 'OPEN OPEN OPEN',
  'disableAllHooks in the project, in the session': 'held held held',
  'the plugin disabled in the project, in the session': 'held held held',
  'hooks.json is emptied in the session': 'held held held',
}
/** Where the oldest client may differ. */
const ofOldest = /as it is|in the project/

it.skipIf(!hasTmux).each(['newest', 'oldest'] as const)(
  `%s Claude Code in a terminal holds where it holds in print mode ${byTmux}`,
  async (client) => {
    const asked = rows.filter(({ name }) => name in table && (client === 'newest' || ofOldest.test(name)))
    const seen: { [row: string]: string } = {}
    for (const row of asked) {
      const deliveries = ['settings', 'both', 'plugin'] as const
      const outcomes = deliveries.map((delivery) => tryCell(client, unpacked, row, delivery, inTerminal))
      seen[row.name] = (await Promise.all(outcomes)).join(' ')
    }
    expect(seen).toEqual(Object.fromEntries(asked.map(({ name }) => [name, table[name]])))
  },
  300_000,
)
