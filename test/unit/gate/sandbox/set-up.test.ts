import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { removeSandbox } from '../../../../src/gate/sandbox/prepare.ts'
import { readMode, whyNoSandbox } from '../../../../src/gate/sandbox/rules.ts'
import { setUpSandbox } from '../../../../src/gate/sandbox/set-up.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'set-up-'))
  mkdirSync(join(root, '.git'))
  mkdirSync(join(root, 'bin'))
  vi.stubEnv('PATH', join(root, 'bin'))
})
afterEach(() => {
  vi.unstubAllEnvs()
  removeSandbox(join(root, '.git'))
  rmSync(root, { recursive: true, force: true })
})

const setUp = () => {
  const gitDir = join(root, '.git')
  return setUpSandbox(root, { own: gitDir, common: gitDir, mainRoot: root }, { rehearse: [], approved: 'protect' })
}

it('without an engine the list decides, and says why', async () => {
  expect(await setUp()).toMatchObject({ kind: 'fails' })
  expect([readMode(join(root, '.git')), whyNoSandbox(join(root, '.git'))]).toEqual([
    'list',
    expect.stringMatching(/\w/),
  ])
})

it.runIf(process.platform === 'linux')(
  'without a HOME the install goes on, and the list decides (Linux only)',
  async () => {
    writeFileSync(join(root, 'bin/bwrap'), '#!/bin/sh\necho --disable-userns\n')
    chmodSync(join(root, 'bin/bwrap'), 0o755)
    vi.stubEnv('HOME', join(root, 'nowhere'))
    expect(await setUp()).toEqual({ kind: 'fails', why: expect.stringMatching(/cannot be set up here .*nowhere/) })
    expect(readMode(join(root, '.git'))).toBe('list')
  },
)
