import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fails, openFail, pass, type ReflectWorktree, reflectWorktree, unsure } from './reflect-worktree.ts'

/** Run inside the hook: writes down which modules it loads, which locks it takes and which parts of node it needs. */
function watching({ home }: ReflectWorktree): { env: { NODE_OPTIONS: string }; seen: () => string[] } {
  const log = join(home, 'seen.log')
  const preload = join(home, 'preload.cjs')
  writeFileSync(
    preload,
    `const fs = require('node:fs')
const note = (text) => fs.appendFileSync(${JSON.stringify(log)}, text + '\\n')
for (const name of ['mkdir', 'mkdirSync']) {
  const mkdir = fs[name]
  fs[name] = (path, ...rest) => {
    if (String(path).endsWith('.lock')) note('locks ' + require('node:path').basename(path))
    return mkdir(path, ...rest)
  }
}
const readFile = fs.readFileSync
fs.readFileSync = (path, ...rest) => {
  if (/[.]mjs([.]br)?$/.test(path)) note('loads ' + require('node:path').basename(path))
  return readFile(path, ...rest)
}
const rename = fs.renameSync
fs.renameSync = (from, to) => {
  note('writes ' + require('node:path').basename(to))
  return rename(from, to)
}
const { spawn, spawnSync } = require('node:child_process')
require('node:child_process').spawn = (...args) => { note('starts a program'); return spawn(...args) }
require('node:child_process').spawnSync = (...args) => { note('starts a program'); return spawnSync(...args) }
require('node:module').syncBuiltinESMExports()
`,
  )
  return {
    env: { NODE_OPTIONS: `--no-warnings --require ${preload}` },
    seen: () => {
      const lines = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []
      rmSync(log, { force: true })
      return [...new Set(lines)].filter((line) => line !== '').sort()
    },
  }
}

describe('the same change once more', () => {
  it.each([
    { name: 'PASS', turn: pass, told: false },
    { name: 'FAIL', turn: fails('it is wrong.'), told: true },
    { name: 'UNCERTAIN', turn: unsure('who calls it?'), told: true },
  ])('after a $name loads little, locks and writes nothing, and asks nobody', async ({ name, turn, told }) => {
    const worktree = await reflectWorktree([turn])
    worktree.putState({ fails: { fails: [openFail('src/b.ts'), openFail('src/c.ts')] } })
    const { env, seen } = watching(worktree)
    const edit = () => worktree.edit('src/app.ts', 'one\n', {}, env)
    await edit()
    // What is watched for does happen when somebody is asked.
    expect(seen()).toEqual(
      expect.arrayContaining(['loads reviews.mjs.br', 'locks reflect.lock', 'starts a program', 'writes reflect.json']),
    )
    // The first time, what is known of an UNCERTAIN becomes something open.
    if (name === 'UNCERTAIN') await edit()
    seen()
    const before = statSync(worktree.statePath)
    for (const again of [await edit(), await edit()]) {
      expect(again.exitCode).toBe(0)
      expect(again.model?.includes('This verdict is cached') ?? false).toBe(told)
    }
    expect(seen()).toEqual(['loads post-tool-use.mjs'])
    const after = statSync(worktree.statePath)
    expect([after.ino, after.mtimeMs]).toEqual([before.ino, before.mtimeMs])
    expect(worktree.api.requests).toHaveLength(1)
  })

  it('costs nothing of this where nobody follows', async () => {
    const worktree = await reflectWorktree([pass], { reflect: false })
    const { env, seen } = watching(worktree)
    await worktree.edit('src/app.ts', 'one\n', {}, env)
    seen()
    await worktree.edit('src/app.ts', 'one\n', {}, env)
    expect(seen()).toEqual(['loads post-tool-use.mjs'])
  })
})
