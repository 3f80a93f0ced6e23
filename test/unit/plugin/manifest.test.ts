import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { harmlessTools } from '../../../src/gate/tools.ts'
import { pluginHooks } from '../../../src/install/hook-entries.ts'
import { project } from '../../support/project.ts'

const jsonOf = (path: string) => JSON.parse(readFileSync(join(project, path), 'utf8'))

it('names the package, and its version', () => {
  const { name, version, description, license } = jsonOf('package.json')
  expect(jsonOf('.claude-plugin/plugin.json')).toMatchObject({ name, version, description, license })
  expect(jsonOf('.claude-plugin/marketplace.json').plugins).toEqual([{ name, source: './', description }])
})

it('has the hooks that the build writes', () => {
  expect(jsonOf('hooks/hooks.json')).toEqual(pluginHooks(harmlessTools))
})
