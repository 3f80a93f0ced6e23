import { describe, expect, it } from 'vitest'
import { findChangedKeys, type RepositorySetup } from '../../../../src/gate/working-tree.ts'

const config = '/r/.git/config'
const setup = (text: string, hooks: RepositorySetup['hooks'] = {}): RepositorySetup => ({
  configs: { [config]: text },
  hooks,
})
const driver = '[diff "x"]\n\tcommand = ./run\n'

describe('what git may run is untrusted', () => {
  it.each<{ name: string; before: RepositorySetup; now: RepositorySetup; expected: readonly string[] }>([
    { name: 'not where nothing changed', before: setup(driver), now: setup(driver), expected: [] },
    { name: 'where a key is new', before: setup(''), now: setup(driver), expected: ['diff.x.command'] },
    {
      name: 'where it has another value',
      before: setup(driver),
      now: setup(driver.replace('run', 'ran')),
      expected: ['diff.x.command'],
    },
    { name: 'not where it is gone', before: setup(driver), now: setup(''), expected: [] },
    { name: 'not for a key that runs nothing', before: setup(''), now: setup('[user]\n\tname = Ada\n'), expected: [] },
    {
      name: 'where a key is not known to be harmless',
      before: setup(''),
      now: setup(
        '[format]\n\tpretty = %G?\n[mailmap]\n\tfile = pipe\n[branch]\n\tsort = signature\n[new]\n\tkey = x\n',
      ),
      expected: ['format.pretty', 'mailmap.file', 'branch.sort', 'new.key'],
    },
    {
      name: 'not for what git itself writes when a branch is made, pushed or fetched',
      before: setup(''),
      now: setup(
        '[branch "x"]\n\tremote = origin\n\tmerge = refs/heads/x\n[remote "o"]\n\turl = u\n\tfetch = f\n[submodule "s"]\n\tactive = true\n\turl = u\n',
      ),
      expected: [],
    },
    {
      name: 'where a hook is new',
      before: setup(''),
      now: setup('', { '/r/.git/hooks/pre-commit': 'a' }),
      expected: ['the hook pre-commit'],
    },
    {
      name: 'where a hook that was there is another',
      before: setup('', { '/r/.git/hooks/pre-commit': 'a' }),
      now: setup('', { '/r/.git/hooks/pre-commit': 'b' }),
      expected: ['the hook pre-commit'],
    },
    {
      name: 'not where a hook is as it was, or gone',
      before: setup('', { '/r/.git/hooks/pre-commit': 'a', '/r/.git/hooks/post-merge': 'a' }),
      now: setup('', { '/r/.git/hooks/pre-commit': 'a' }),
      expected: [],
    },
    {
      name: 'where a file of configuration cannot be read',
      before: setup(''),
      now: setup('[core\n'),
      expected: [`${config} (it cannot be read)`],
    },
  ])('$name', ({ before, now, expected }) => {
    expect(findChangedKeys(before, now)).toEqual(expected)
  })
})
