import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { FaultKind } from './fault-kinds.ts'
import type { Cell } from './judge-cell.ts'
import { runTable } from './run-table.ts'
import type { Scene } from './scenes.ts'
import { faultTrial } from './trials.ts'
import type { World } from './worlds.ts'

type Row = {
  readonly does: string
  /** In a program that ends well, with 2, while nothing fails. `fs`, `work` and `plan` (its bytes) are given. */
  readonly program: string
  readonly kind: FaultKind
  readonly name: string
  readonly target: RegExp
  /** null: nothing is found, for there is nothing wrong with it. */
  readonly found: RegExp | null
}

const onPlan = { kind: 'EIO', name: 'readFile', target: /docs\/plan\.md$/ } as const
const readPlan = "fs.readFileSync(work + '/docs/plan.md')"
const settings = "work + '/.claude/settings.json'"

/** Hooks as nobody should write them. A judge that finds nothing in these finds nothing. */
const rows: readonly Row[] = [
  {
    does: 'denies, and says why',
    program: `try { ${readPlan} } catch (error) { console.error(error.message) }\nprocess.exitCode = 2`,
    ...{ ...onPlan, found: null },
  },
  {
    does: 'opens the gate where the plan cannot be read',
    program: `try { ${readPlan}; process.exitCode = 2 } catch (error) { console.error(error.message) }`,
    ...{ ...onPlan, found: /a call that must be denied was answered with 0/ },
  },
  {
    does: 'allows in so many words',
    program: `try { ${readPlan} } catch { console.log('{"permissionDecision":"allow"}') }\nprocess.exitCode = 2`,
    ...{ ...onPlan, found: /it allowed the call/ },
  },
  {
    does: 'gives an approval where the plan cannot be read',
    program: `try { ${readPlan} } catch {
  const plan_hash = require('node:crypto').createHash('sha256').update(plan).digest('hex')
  fs.writeFileSync(work + '/.claude/review/approval.json', JSON.stringify({ is_optimal: true, plan_hash }))
}
process.exitCode = 2`,
    ...{ ...onPlan, found: /an approval that nobody gave/ },
  },
  {
    does: 'ends without a word of the cause',
    program: `try { ${readPlan} } catch { console.error('Something went wrong.') }\nprocess.exitCode = 2`,
    ...{ ...onPlan, found: /the cause is not named/ },
  },
  {
    does: 'shows a stack',
    program: `try { ${readPlan} } catch (error) { console.error(error.stack) }\nprocess.exitCode = 2`,
    ...{ ...onPlan, found: /a stack is shown/ },
  },
  {
    does: 'writes a file of the user’s in place',
    program: `fs.writeFileSync(${settings}, String(fs.readFileSync(${settings})))\nprocess.exitCode = 2`,
    ...{ kind: 'SIGKILL', name: 'writeFile', target: /settings\.json$/, found: /is neither as it was nor/ },
  },
  {
    does: 'removes a file of the user’s before it is written anew',
    program: `const text = fs.readFileSync(${settings})
fs.rmSync(${settings})
fs.writeFileSync(${settings}, text)
process.exitCode = 2`,
    ...{ kind: 'ENOSPC', name: 'writeFile', target: /settings\.json$/, found: /is neither as it was nor/ },
  },
  {
    does: 'is in its own way the next time',
    program: `fs.mkdirSync(work + '/.claude/review/busy')
fs.rmdirSync(work + '/.claude/review/busy')
process.exitCode = 2`,
    ...{ kind: 'SIGKILL', name: 'rmdir', target: /busy$/, found: /the next run ended with 1/ },
  },
  {
    does: 'leaves half of a file lying about',
    program: `const half = work + '/docs/.plan.' + process.pid + '.tmp'
fs.writeFileSync(half, 'half')
fs.rmSync(half)
process.exitCode = 2`,
    ...{ kind: 'SIGKILL', name: 'rm', target: /\.tmp$/, found: /left lying about/ },
  },
  {
    does: 'forgets the record',
    program: `try { ${readPlan} } catch (error) {
  console.error(error.message)
  fs.writeFileSync(work + '/.claude/review/events.jsonl', '')
}
process.exitCode = 2`,
    ...{ ...onPlan, found: /not on record, ever: / },
  },
]

it('finds what is wrong with a hook, and nothing in one that is right', async () => {
  const cells = await runTable(rows.map(sceneOf), (_, { scene, operations }) => {
    const { kind, name, target } = rows.find(({ does }) => does === scene.name) as Row
    const at = operations.findIndex((operation) => operation.name === name && target.test(operation.target)) + 1
    return [faultTrial({ kind, at })]
  })
  const found = rows.map(({ does }) => {
    const { hit, problems } = cells.find(({ scene }) => scene === does) as Cell
    return { does, met: hit !== null, problems: problems.join('\n') }
  })
  expect(found).toEqual(
    rows.map(({ does, found }) => ({ does, met: true, problems: found === null ? '' : expect.stringMatching(found) })),
  )
}, 300_000)

const sceneOf = ({ does, program, kind }: Row): Scene => ({
  name: does,
  start: 'open',
  // Killed, it could answer only by the shell that it is started with, which is left out here.
  ...(kind === 'EIO' ? { denies: true } : { exits: 2 }),
  gate: 'closed',
  begin: (world, injector) => ({
    file: process.execPath,
    args: [...(injector === null ? [] : ['--require', injector]), writeProgram(world, program)],
    cwd: world.work,
    env: world.env,
    input: '',
  }),
})

function writeProgram({ work, home }: World, program: string): string {
  const file = join(home, 'hook.cjs')
  writeFileSync(
    file,
    `const fs = require('node:fs')
const work = ${JSON.stringify(work)}
const plan = ${JSON.stringify(readFileSync(join(work, 'docs/plan.md'), 'utf8'))}
${program}
`,
  )
  return file
}
