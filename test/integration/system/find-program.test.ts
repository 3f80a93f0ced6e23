import { chmodSync, mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, it } from 'vitest'
import { locateProgram } from '../../../src/system/environment.ts'
import { fakePrograms } from '../../support/run-cli.ts'
import { temporaryFolder } from '../../support/temporary-repo.ts'

/** Folders on PATH: one with a folder of the program's name, one with a file that may not be run, one with the program. */
type Places = { empty: string; locked: string; whole: string }

function makePlaces(): Places {
  const empty = temporaryFolder()
  mkdirSync(join(empty, 'tool'))
  const locked = fakePrograms(temporaryFolder(), { tool: '' })
  chmodSync(join(locked, 'tool'), 0o644)
  return { empty, locked, whole: fakePrograms(temporaryFolder(), { tool: '' }) }
}

const notOnPath = { path: null, why: '`tool` is not on PATH' }

it.each<{ what: string; name?: (at: Places) => string; path: (at: Places) => string[]; is: (at: Places) => object }>([
  {
    what: 'the first that can be run',
    path: ({ empty, locked, whole }) => [empty, locked, whole],
    is: ({ whole }) => ({ path: join(whole, 'tool') }),
  },
  {
    what: 'there, and not to be run',
    path: ({ locked, empty }) => [locked, empty],
    is: ({ locked }) => ({ path: null, why: `${join(locked, 'tool')} cannot be started (EACCES)` }),
  },
  { what: 'a folder of that name', path: ({ empty }) => [empty], is: () => notOnPath },
  { what: 'no PATH', path: () => [], is: () => notOnPath },
  { what: 'folders that are not absolute', path: () => ['.', ''], is: () => notOnPath },
  {
    what: 'a path',
    name: ({ whole }) => join(whole, 'tool'),
    path: () => [],
    is: ({ whole }) => ({ path: join(whole, 'tool') }),
  },
  {
    what: 'a path to nothing',
    name: () => './nowhere',
    path: ({ whole }) => [whole],
    is: () => ({ path: null, why: './nowhere is not there' }),
  },
])('$what', ({ name = () => 'tool', path, is }) => {
  const places = makePlaces()
  expect(locateProgram(name(places), { PATH: path(places).join(delimiter) })).toEqual(is(places))
})
