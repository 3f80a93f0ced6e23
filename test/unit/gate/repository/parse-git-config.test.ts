import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseGitConfig } from '../../../../src/gate/drift.ts'

/** git itself says which keys a file has. */
function keysByGit(text: string): string[] | null {
  const dir = mkdtempSync(join(tmpdir(), 'git-config-'))
  try {
    writeFileSync(join(dir, 'config'), text)
    const run = spawnSync('git', ['config', '--file', join(dir, 'config'), '--list', '--null', '--name-only'], {
      encoding: 'utf8',
    })
    return run.status === 0 ? run.stdout.split('\0').slice(0, -1) : null
  } finally {
    rmSync(dir, { recursive: true })
  }
}
const keys = (text: string): string[] | null => parseGitConfig(text)?.map(({ key }) => key) ?? null

const texts: string[] = [
  '',
  '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n',
  '[core]\r\n\tbare = false\r\n',
  '[remote "origin"]\n\turl = git@example.com:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n',
  '[diff "My Driver"]\n\ttextconv = cat\n',
  '[a "b\\"c\\\\d"]\nx = 1',
  '[core] fsmonitor = ./evil\n',
  '[core]\n\tfsmonitor\n',
  '[core]\n\tfsmonitor = ./e\\\nvil\n\tbare = false\n',
  '[core]\n# comment\n; comment\n\teditor = "a # b" # c\n',
  '[alias]\n\tst = "!f() { echo; }; f"\n',
  '[Core]\n\tFsMonitor = true\n',
  '[branch "x.y"]\n\tremote=.\n',
  '[sub.section]\nkey = v\n',
  '\ufeff[core]\nbare = true\n',
]

describe('parseGitConfig', () => {
  it.each(texts)('names the keys of %j as git does, or gives up', (text) => {
    const mine = keys(text)
    if (mine !== null) expect(mine).toEqual(keysByGit(text))
  })

  it('reads what git itself writes', () => {
    for (const text of texts.slice(0, 12)) expect(keys(text)).not.toBeNull()
  })

  it.each(['x = 1', '[core\nx = 1', '[core]\n1x = 2', '[core]\nx y = 2', '[unreadable'])('gives up on %j', (text) => {
    expect(parseGitConfig(text)).toBeNull()
  })

  it('never names other keys than git', () => {
    const piece = fc.constantFrom(
      '[core]',
      '[a "b"]',
      '[diff "x"',
      '\n',
      '\t',
      ' ',
      'fsmonitor',
      'textconv',
      '=',
      '"',
      '\\',
      '#',
      ';',
      'x',
      '\\\n',
      '\r\n',
      ']',
      '.',
    )
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join('')),
        (text) => {
          const mine = keys(text)
          const theirs = mine === null ? null : keysByGit(text)
          // Where git refuses the file it runs nothing.
          if (mine !== null && theirs !== null) expect(mine).toEqual(theirs)
        },
      ),
      { numRuns: 400, seed: 7 },
    )
  })
})
