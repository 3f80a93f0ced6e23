import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { defaultConfig } from '../../../src/config/schema.ts'
import { routeFacts } from '../../../src/reviewers/create.ts'
import { temporaryFolder, write } from '../../support/temporary-repo.ts'

const noCodex = { holds: false, why: '`codex` is not on PATH' }
const noRights = { holds: false, why: expect.stringMatching(/\/bin\/codex cannot be started \(EACCES\)$/) }
const noKey = { holds: false, why: 'OPENAI_API_KEY is not set' }
const yes = { holds: true }
const noProgram = (name: string) => ({ holds: false, why: `hounfour.model_invoke, "${name}", is not an executable` })

it.each<{
  name: string
  programs?: readonly string[]
  files?: readonly string[]
  key?: string
  invoke?: string
  expected: object
}>([
  { name: 'nothing', expected: { codex: noCodex, key: noKey, invoke: noProgram('model-invoke') } },
  {
    name: 'everything on PATH',
    programs: ['bin/codex', 'bin/model-invoke'],
    key: 'not-a-key',
    expected: { codex: yes, key: yes, invoke: yes },
  },
  {
    name: 'files that are not executable, and an empty key',
    files: ['bin/codex', 'bin/model-invoke'],
    key: '',
    expected: { codex: noRights, key: noKey, invoke: noProgram('model-invoke') },
  },
  {
    name: 'folders of these names, and a blank key',
    files: ['bin/codex/x', 'bin/model-invoke/x'],
    key: '  ',
    expected: { codex: noCodex, key: noKey, invoke: noProgram('model-invoke') },
  },
  {
    name: 'a path, seen from the root of the worktree',
    programs: ['tools/invoke'],
    invoke: './tools/invoke',
    expected: { codex: noCodex, key: noKey, invoke: yes },
  },
  {
    name: 'a path where nothing is',
    programs: ['invoke'],
    invoke: 'tools/invoke',
    expected: { codex: noCodex, key: noKey, invoke: noProgram('tools/invoke') },
  },
])('$name', async ({ programs = [], files = [], key, invoke, expected }) => {
  const root = temporaryFolder()
  mkdirSync(join(root, 'bin'))
  write(root, Object.fromEntries([...programs, ...files].map((path) => [path, '#!/bin/sh\n'])))
  for (const path of programs) chmodSync(join(root, path), 0o755)
  const hounfour = { ...defaultConfig.hounfour, ...(invoke === undefined ? {} : { model_invoke: invoke }) }
  const env = { PATH: join(root, 'bin'), ...(key === undefined ? {} : { OPENAI_API_KEY: key }) }
  const facts = routeFacts({ hounfour }, env, root)
  expect({
    codex: await facts.codex(),
    key: await facts.key('OPENAI_API_KEY'),
    invoke: await facts.modelInvoke(),
  }).toEqual(expected)
})

it('flatline routing is what the configuration says', () => {
  const on = { hounfour: { ...defaultConfig.hounfour, flatline_routing: true } }
  expect([routeFacts(defaultConfig, {}).flatlineRouting, routeFacts(on, {}).flatlineRouting]).toEqual([false, true])
})
