import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { forgetGate, registerGate } from '../../../src/state/gates.ts'
import { temporaryFolder } from '../../support/temporary-repo.ts'
import { runFixture } from './run-fixture.ts'

const gitDirs = (root: string) => ({ own: join(root, '.git'), common: join(root, '.git') })

it('registers a gate where the only other one was removed by hand', () => {
  const folder = temporaryFolder()
  const claude = join(folder, '.claude')
  for (const name of ['first', 'second']) {
    const root = join(folder, name)
    mkdirSync(root)
    registerGate(root, gitDirs(root), { files: [] }, claude)
    expect(existsSync(join(claude, 'plan-gate/gates', root, '#gate'))).toBe(true)
    rmSync(root, { recursive: true })
  }
})

it('leaves nothing in a Claude folder that nothing else has used', () => {
  const folder = temporaryFolder()
  const claude = join(folder, '.claude')
  registerGate(folder, gitDirs(folder), { files: [] }, claude)
  forgetGate(folder, claude)
  expect(existsSync(claude)).toBe(false)
})

it('keeps an empty Claude folder that was there before', () => {
  const folder = temporaryFolder()
  const claude = join(folder, '.claude')
  mkdirSync(claude)
  registerGate(folder, gitDirs(folder), { files: [] }, claude)
  forgetGate(folder, claude)
  expect(readdirSync(claude)).toEqual([])
})

it('keeps the gate of each of several installs that run at once, and removes what they have forgotten', async () => {
  const folder = temporaryFolder()
  const checkouts = join(folder, 'checkouts')
  const claude = join(folder, '.claude')
  mkdirSync(checkouts)
  await Promise.all(['a', 'b', 'c'].map((name) => runFixture('register-gates', claude, checkouts, name, '200')))
  expect(readdirSync(join(claude, 'plan-gate/gates', checkouts)).sort()).toEqual(['a-200', 'b-200', 'c-200'])
})
