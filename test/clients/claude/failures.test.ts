import { chmodSync, copyFileSync, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkClaude } from '../../../src/install/prerequisites.ts'
import { hooksDir } from '../../../src/state/own-paths.ts'
import { claudeBinary } from '../../support/claude-clients.ts'
import { type GatedWorktree, gatedWorktree } from '../../support/gated-worktree.ts'
import { runClaude } from '../../support/run-claude.ts'

const bundle = `${hooksDir}/pre-tool-use.mjs`
const real = `${hooksDir}/real.mjs`

/** The hook as it is, started under a condition: a module that runs before it. */
const after = (condition: string) => (worktree: GatedWorktree) => {
  renameSync(worktree.at(bundle), worktree.at(real))
  writeFileSync(
    worktree.at(bundle),
    `import fs from 'node:fs'\nimport { syncBuiltinESMExports } from 'node:module'\n${condition}\nawait import('../../claude/real.mjs')\n`,
  )
}
const program = (code: string) => (worktree: GatedWorktree) => writeFileSync(worktree.at(bundle), code)

const full = (fd: string): string =>
  `const write = fs.writeSync\nfs.writeSync = (fd, ...rest) => { if (${fd}) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }); return write(fd, ...rest) }\nsyncBuiltinESMExports()`

/** Each way in which the gate's own program can fail, as the real client sees it: the tool must not run in any. */
const failures: [name: string, cause: (worktree: GatedWorktree) => void][] = [
  ['the hook file is missing', (worktree) => rmSync(worktree.at(bundle))],
  ['the hook file is empty of sense', program('{')],
  ['all of .claude/hooks is gone', (worktree) => rmSync(worktree.at('.claude/hooks'), { recursive: true })],
  [
    'node is missing',
    (worktree) => edit(worktree, '.claude/settings.json', (text) => text.replaceAll(process.execPath, '/nowhere/node')),
  ],
  ['it crashes', program("throw new Error('crash')")],
  ['it crashes after it has said something', program("console.log('{\"hookSpec'); process.exit(1)")],
  ['it ends with 1', program('process.exit(1)')],
  ['it is killed', program("process.kill(process.pid, 'SIGKILL'); setInterval(() => {}, 1000)")],
  ['it aborts, as node does when it runs out of memory', program('process.abort()')],
  ['something prints before its answer', after("fs.writeSync(1, 'npm warn something\\n')")],
  ['the disk is full while it answers', after(full('fd === 1'))],
  ['the disk is full while it takes notes', after(full('fd > 2'))],
  [
    'nothing can be opened',
    after(
      "fs.openSync = () => { throw Object.assign(new Error('too many open files'), { code: 'EMFILE' }) }; syncBuiltinESMExports()",
    ),
  ],
  ['the configuration is garbage', (worktree) => worktree.write('plan-gate.yaml', '\u0000{{{')],
  ['the compiled configuration is garbage', (worktree) => worktree.write(`${hooksDir}/config.json`, '{"version":1')],
  [
    'the review folder is a file',
    (worktree) => {
      rmSync(worktree.at('.claude/review'), { recursive: true })
      writeFileSync(worktree.at('.claude/review'), '')
    },
  ],
]

describe.each(['newest', 'oldest'] as const)('%s Claude Code, when the gate’s own program fails', (client) => {
  let worktree: GatedWorktree
  beforeEach(async () => {
    worktree = await gatedWorktree()
  })
  afterEach(() => worktree.remove())

  const tryToWrite = () =>
    runClaude({
      client,
      cwd: worktree.root,
      turns: [{ tools: [{ name: 'Write', input: { file_path: worktree.at('canary.txt'), content: 'ran' } }] }],
    })

  it('the control group: without the gate the tool runs', async () => {
    rmSync(worktree.at('.claude'), { recursive: true })
    await tryToWrite()
    expect(existsSync(worktree.at('canary.txt'))).toBe(true)
  })

  it.each(failures)('%s: the tool does not run', async (_, cause) => {
    cause(worktree)
    const { toolResults } = await tryToWrite()
    expect([existsSync(worktree.at('canary.txt')), toolResults.map(({ isError }) => isError)]).toEqual([false, [true]])
  })

  it('it hangs: the tool does not run from 2.1.295 on; before, doctor says so', async () => {
    program('setInterval(() => {}, 1000)')(worktree)
    await tryToWrite()
    if (client === 'newest') return expect(existsSync(worktree.at('canary.txt'))).toBe(false)
    const folder = worktree.at('bin')
    worktree.write('bin/claude', `#!/bin/sh\nexec '${await claudeBinary(client)}' "$@"\n`)
    chmodSync(`${folder}/claude`, 0o755)
    const path = process.env.PATH
    process.env.PATH = `${folder}:${path}`
    const row = await checkClaude(true).finally(() => {
      process.env.PATH = path
    })
    expect(row).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining('allows a call whose hook times out'),
    })
  }, 40_000)
})

function edit(worktree: GatedWorktree, path: string, change: (text: string) => string): void {
  const before = worktree.read(path)
  const text = change(before)
  if (text === before) throw new Error(`nothing changed in ${path}`)
  copyFileSync(worktree.at(path), `${worktree.at(path)}.bak`)
  writeFileSync(worktree.at(path), text)
}
