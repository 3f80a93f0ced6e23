import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bundleFile, bundleNames } from '../../../src/state/own-paths.ts'
import { gatedWorktree } from '../../support/gated-worktree.ts'
import { hookArgs } from '../../support/hook-args.ts'
import { dist } from '../../support/project.ts'

const hook = (name: string): string => join(dist, 'hooks', bundleFile(name))
const textOf = (name: string): string => {
  const bytes = readFileSync(hook(name))
  return (hook(name).endsWith('.br') ? brotliDecompressSync(bytes) : bytes).toString()
}
const bytes = (path: string): number => statSync(path).size

/** Words that a minified bundle keeps only when the package is in it. */
const marks = {
  'the ajv run time': /ajv\/dist|MissingRefError|strictSchema/,
  yaml: /YAMLParseError|YAMLParseError|isAlias/,
  execa: /ExecaError|forceKillAfterDelay/,
  commander: /CommanderError/,
  unbash: /unterminated arithmetic for header/,
  'shell-quote': /Bad substitution: /,
  'simple-git': /allowUnsafeCustomBinary/,
} as const

const builtins = new Set(builtinModules)
/** Static imports; a dynamic one has a parenthesis. */
const importsOf = (text: string): string[] =>
  [...text.matchAll(/(?:^|[;}\n])\s*(?:import|export)\b[^;()"]*?"([^"\\]+)"/g)].map(([, name = '']) => name)

/** The texts of everything that a command of the command line loads before it does anything. */
function loadedWith(command: string): string[] {
  const first = readdirSync(join(dist, 'cli')).filter((name) => name.startsWith(`${command}-`))
  const paths = new Set([join(dist, 'cli.mjs'), ...first.map((name) => join(dist, 'cli', name))])
  for (const path of paths)
    for (const name of importsOf(readFileSync(path, 'utf8')))
      if (name.startsWith('.')) paths.add(join(dirname(path), name))
  return [...paths].map((path) => readFileSync(path, 'utf8'))
}

/** A file that node runs before the hook. */
function preload(code: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'preload-')), 'preload.cjs')
  writeFileSync(file, code)
  return file
}

describe('dist', () => {
  it('has one bundle per event, and those that are loaded when needed', () => {
    const bundles = readdirSync(join(dist, 'hooks')).filter((name) => !name.endsWith('.cache'))
    expect(bundles.sort()).toEqual(bundleNames.map(bundleFile).sort())
  })

  it.each(bundleNames)('%s needs nothing but node', (name) => {
    const foreign = importsOf(textOf(name)).filter((module) => !builtins.has(module.replace(/^node:/, '')))
    expect(foreign).toEqual([])
  })

  it('knows each mark: they are found where the package is', () => {
    const parts = readdirSync(join(dist, 'cli')).map((name) => join(dist, 'cli', name))
    const all = [...parts, hook('parse-command')].map((path) => readFileSync(path, 'utf8')).join()
    expect(Object.entries(marks).filter(([name, mark]) => name !== 'the ajv run time' && !mark.test(all))).toEqual([])
  })

  it.each(Object.entries(marks))('keeps %s out of the gate', (_, mark) => {
    expect(readFileSync(hook('pre-tool-use'), 'utf8')).not.toMatch(mark)
  })

  it.each(bundleNames)('keeps simple-git out of the hook %s', (name) => {
    expect(textOf(name)).not.toMatch(marks['simple-git'])
  })

  it.each(['execa', 'yaml', 'unbash', 'simple-git'] as const)('starts a review without %s', (name) => {
    expect(loadedWith('review').some((text) => marks[name].test(text))).toBe(false)
  })

  it.each(['Write', 'Bash'])('loads no part of node that costs milliseconds for a %s', async (tool_name) => {
    const { root, remove } = await gatedWorktree({})
    onTestFinished(remove)
    const call = { hook_event_name: 'PreToolUse', tool_name, tool_input: { file_path: '/x', command: 'git status' } }
    const tell = 'process.on("exit", () => require("fs").writeSync(2, "LOADED " + process.moduleLoadList.join()))'
    const run = spawnSync(process.execPath, hookArgs(root, 'pre-tool-use'), {
      input: JSON.stringify(call),
      env: { CLAUDE_PROJECT_DIR: root, HOME: dist, NODE_OPTIONS: `--require ${preload(tell)}` },
      encoding: 'utf8',
    })
    const loaded = /LOADED (.*)/.exec(run.stderr)?.[1]?.split(',') ?? []
    // The loader's sha256 needs `crypto`, which brings `stream`.
    const costly = ['child_process', 'http', 'net', 'os', 'worker_threads', 'readline', 'zlib']
    expect(loaded).toContain('NativeModule fs')
    expect(loaded.filter((name) => costly.includes(name.replace('NativeModule ', '')))).toEqual([])
  })

  it('stays small: the gate under 60 kB, everything that is copied into a worktree under 1.2 MB', () => {
    const copied = readdirSync(join(dist, 'hooks')).reduce((sum, name) => sum + bytes(join(dist, 'hooks', name)), 0)
    expect([bytes(hook('pre-tool-use')) < 60_000, copied < 1_200_000]).toEqual([true, true])
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
    for (const name of ['commander', 'execa', 'yaml', 'simple-git']) expect(licences).toContain(`== ${name} `)
  })
})
