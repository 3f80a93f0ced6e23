import { chmodSync, mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, it } from 'vitest'
import { lookForProgram } from '../../src/system/find-program.ts'
import { fakePrograms } from '../support/run-cli.ts'
import { temporaryFolder } from '../support/temporary-repo.ts'

/** Three folders on PATH: nothing, a file that may not be run (and a folder of the name), a program. */
const empty = temporaryFolder()
const locked = fakePrograms(temporaryFolder(), { tool: '' })
chmodSync(join(locked, 'tool'), 0o644)
mkdirSync(join(empty, 'folder'))
const whole = fakePrograms(temporaryFolder(), { tool: '' })

it.each<{ what: string; name?: string; path: readonly string[]; found: string | null; why?: string }>([
  { what: 'the first that can be run', path: [empty, locked, whole], found: join(whole, 'tool') },
  { what: 'nowhere', path: [empty], found: null, why: '`tool` is not on PATH' },
  { what: 'no PATH', path: [], found: null, why: '`tool` is not on PATH' },
  {
    what: 'there, and not to be run',
    path: [locked, empty],
    found: null,
    why: `${join(locked, 'tool')} cannot be started (EACCES)`,
  },
  { what: 'a folder of that name', name: 'folder', path: [empty], found: null, why: '`folder` is not on PATH' },
  { what: 'a folder that is not absolute', path: ['.', ''], found: null, why: '`tool` is not on PATH' },
  { what: 'a path', name: join(whole, 'tool'), path: [], found: join(whole, 'tool') },
  { what: 'a path to nothing', name: './nowhere', path: [whole], found: null, why: './nowhere is not there' },
])('$what', ({ name = 'tool', path, found, why }) => {
  expect(lookForProgram(name, { PATH: path.join(delimiter) })).toEqual(
    found === null ? { path: null, why } : { path: found },
  )
})
