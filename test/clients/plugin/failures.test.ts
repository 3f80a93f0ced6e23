import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unpackPackage } from '../../support/plugin-home.ts'
import { rows, tryRow } from './failure-table.ts'

/** A Write without an approved plan: settings · settings and plugin · plugin alone, in a subfolder · launched · launched, with the plugin. */
const table: { readonly [row: string]: string } = {
  'no gate at all': 'OPEN OPEN OPEN - -',
  'the gate as it is': 'held held held held held',
  'the hook ends with 2': 'held held held held held',
  'the hook crashes': 'held held held held held',
  'the hook ends with 1': 'held held held held held',
  'the hook is killed': 'held held held held held',
  'the hook hangs': 'held held held held held',
  'the bundle is missing': 'held held held held held',
  'the bundle is overwritten': 'held held held held held',
  'the bundle is overwritten in the session': 'held held held held held',
  '.claude is removed in the session': 'held held held held held',
  '.claude is missing from the start': 'OPEN held held held held',
  'disableAllHooks in the project': 'OPEN OPEN OPEN held held',
  'disableAllHooks in the project, in the session': 'held held held held held',
  'disableAllHooks in the local settings': 'OPEN OPEN OPEN held held',
  'disableAllHooks in the local settings, in the session': 'held held held held held',
  'the plugin disabled in the project': 'held held OPEN held held',
  'the plugin disabled in the project, in the session': 'held held held held held',
  'the settings are broken': 'OPEN held held held held',
  'hooks.json is emptied in the session': 'held held held held held',
  'the plugin is removed in the session': 'held held held held held',
  'the entry of the gate in the home is removed': 'held held held held held',
  '.git is moved in the session': 'held held held held held',
  'the record of the install is removed': 'held held held held held',
  'the record and the bundles are removed in the session': 'held held held held held',
  'the record of the install is garbage': 'held held held held held',
  'the record of the install is empty': 'held held held held held',
  'node is not on PATH': 'held held held held held',
  'PATH of the project names another node': 'held held OPEN held held',
  'another node that claims the answer': 'held held OPEN held held',
  'NODE_OPTIONS of the project': 'held held held held held',
  'BASH_ENV, ENV and SHELLOPTS of the project': 'held held held held held',
  'the project says that plan-gate started it': 'held held held held held',
  'a repository without a gate in the folder of the session': 'held held held held held',
  'the project names another home': 'held held held held held',
  'the folder of the session is replaced by a link': 'held held held held held',
  'the folder of the session is reached by a link': 'held held held held held',
  'a module in the skills of the folder': 'OPEN OPEN OPEN OPEN OPEN',
  'such a module, switched off in the local settings': 'held held held OPEN OPEN',
  '--setting-sources user': 'OPEN held held held held',
  '--setting-sources project': 'held held OPEN held held',
}

/** What only the newest client is asked: what happens there is decided by our own program, or by the operating system. */
const asElsewhere =
  /^the hook ends|is removed in|is overwritten|from the start|record|NODE_OPTIONS|BASH_ENV|link|repository|local settings$/

let folder: string
let unpacked: string
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'plugin-package-')))
  unpacked = await unpackPackage(folder)
})
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))

describe.each(['newest', 'oldest'] as const)('%s Claude Code, the gate by settings and by the plugin', (client) => {
  it('holds and fails side by side', async () => {
    const asked = rows.filter(({ name }) => client === 'newest' || !asElsewhere.test(name))
    const seen: { [row: string]: string } = {}
    for (let at = 0; at < asked.length; at += 2)
      await Promise.all(
        asked.slice(at, at + 2).map(async (row) => {
          seen[row.name] = await tryRow(client, unpacked, row)
        }),
      )
    expect(seen).toEqual(Object.fromEntries(asked.map(({ name }) => [name, table[name]])))
  }, 600_000)
})

it('the plugin opens no row that is closed without it, and by itself is weaker in these', () => {
  const cells = Object.entries(table).map(([name, row]) => [name, ...row.split(' ')] as const)
  const held = cells.filter(([, settings]) => settings === 'held')
  expect(held.filter(([, , both]) => both !== 'held')).toEqual([])
  expect(cells.filter(([, , , , launched, withPlugin]) => launched !== withPlugin)).toEqual([])
  expect(held.filter(([, , , alone]) => alone !== 'held').map(([name]) => name)).toEqual([
    'the plugin disabled in the project',
    'PATH of the project names another node',
    'another node that claims the answer',
    '--setting-sources project',
  ])
})
