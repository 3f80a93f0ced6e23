import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { LedgerEvent } from '../../../src/schemas/records.ts'
import { readEvents, verifyLedger } from '../../../src/state/ledger.ts'
import { reviewPaths } from '../../../src/state/own-paths.ts'
import { fireHook } from './run-measured.ts'
import { must } from './scenario.ts'

/**
 * After each load: the chain of the record holds, nobody is approved who was not, and the gate is closed where it must
 * be and open where it may. Answers what the record holds.
 */
export async function mustBeWhole(root: string, { approved }: { approved: boolean }): Promise<readonly LedgerEvent[]> {
  const isThere = existsSync(join(root, reviewPaths.approval))
  must(approved || !isThere, 'there is an approval that nobody gave')
  must(!approved || isThere, 'the approval was lost')
  const check = verifyLedger(root)
  must(check.kind === 'intact' || check.kind === 'absent', `the chain of the record is ${check.kind}`)
  for (const [tool_name, tool_input] of changes(root)) {
    const event = { hook_event_name: 'PreToolUse', tool_name, tool_input }
    const ran = await fireHook(root, 'pre-tool-use', event, { exitCodes: [approved ? 0 : 2] })
    must(approved === (ran.stdout === ''), `the gate answered ${ran.stdout.slice(0, 300)}`)
  }
  const own = {
    hook_event_name: 'PreToolUse',
    tool_name: 'Write',
    tool_input: { file_path: join(root, reviewPaths.approval) },
  }
  await fireHook(root, 'pre-tool-use', own, { exitCodes: [2] })
  const read = readEvents(root)
  return read.kind === 'read' ? read.events : []
}

const changes = (root: string): readonly (readonly [string, object])[] => [
  ['Write', { file_path: join(root, 'src/not-planned.ts'), content: 'x' }],
  ['Bash', { command: 'rm -rf src' }],
]
