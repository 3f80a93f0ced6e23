import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { hookFiles } from '../../src/protocol/hook-entries.ts'

const dist = fileURLToPath(new URL('../../dist/', import.meta.url))
const hook = (name: string): string => join(dist, 'hooks', `${name}.mjs`)
const bytes = (path: string): number => statSync(path).size

/** Words that a minified bundle keeps only when the package is in it. */
const marks = {
  'the ajv run time': /ajv\/dist|MissingRefError|strictSchema/,
  yaml: /YAMLParseError|YAMLParseError|isAlias/,
  execa: /ExecaError|forceKillAfterDelay/,
  commander: /CommanderError/,
  picomatch: /\bmakeRe\b/,
  'graceful-fs': /graceful-fs/,
  'proper-lockfile': /ECOMPROMISED/,
} as const

const builtins = new Set(builtinModules)
const importsOf = (text: string): string[] =>
  [...text.matchAll(/(?:from|import)\s*"([^"]+)"/g)].map(([, name = '']) => name)

describe('dist', () => {
  it('has one bundle per event and the compiler of the configuration', () => {
    expect(readdirSync(join(dist, 'hooks')).sort()).toEqual(
      [...hookFiles, 'compile-config'].map((name) => `${name}.mjs`).sort(),
    )
  })

  it.each([...hookFiles, 'compile-config'])('%s.mjs needs nothing but node', (name) => {
    const foreign = importsOf(readFileSync(hook(name), 'utf8')).filter(
      (module) => !builtins.has(module.replace(/^node:/, '')),
    )
    expect(foreign).toEqual([])
  })

  it('knows each mark: they are found where the package is', () => {
    const cli = readFileSync(join(dist, 'cli.mjs'), 'utf8')
    expect(
      Object.entries(marks).filter(
        ([name, mark]) => !['graceful-fs', 'the ajv run time'].includes(name) && !mark.test(cli),
      ),
    ).toEqual([])
  })

  it.each(Object.entries(marks))('keeps %s out of the gate', (_, mark) => {
    expect(readFileSync(hook('pre-tool-use'), 'utf8')).not.toMatch(mark)
  })

  it('loads no node module in the gate that costs milliseconds', () => {
    const costly = ['crypto', 'child_process', 'http', 'https', 'net', 'stream', 'worker_threads', 'module', 'readline']
    const loaded = importsOf(readFileSync(hook('pre-tool-use'), 'utf8')).map((name) => name.replace(/^node:/, ''))
    expect(loaded.filter((name) => costly.includes(name))).toEqual([])
  })

  it('stays small: the gate under 200 kB, everything that is copied into a worktree under 1.5 MB', () => {
    const copied = readdirSync(join(dist, 'hooks')).reduce((sum, name) => sum + bytes(join(dist, 'hooks', name)), 0)
    expect([bytes(hook('pre-tool-use')) < 200_000, copied < 1_500_000]).toEqual([true, true])
  })

  it('publishes the schemas that people use', () => {
    for (const name of ['config', 'approval']) {
      const schema = JSON.parse(readFileSync(join(dist, 'schemas', `${name}.schema.json`), 'utf8')) as {
        $schema: string
        title: string
      }
      expect(schema).toMatchObject({
        $schema: expect.stringContaining('json-schema.org'),
        title: expect.stringContaining('plan-gate'),
      })
    }
  })

  it('carries the licences of what is bundled', () => {
    expect(existsSync(join(dist, 'THIRD_PARTY_LICENSES.txt'))).toBe(true)
    const licences = readFileSync(join(dist, 'THIRD_PARTY_LICENSES.txt'), 'utf8')
    for (const name of ['commander', 'execa', 'yaml', 'picomatch', 'proper-lockfile'])
      expect(licences).toContain(`== ${name} `)
  })
})
