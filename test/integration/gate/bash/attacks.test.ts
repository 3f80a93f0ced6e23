import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ruleFor } from '../../../support/gate/bash/check-with-parser.ts'
import { snapshotTree } from '../../../support/snapshot-tree.ts'
import { type Attack, attacks } from './rows/attacks.ts'
import { makeThrowawayRepo } from './throwaway-repo.ts'

const isInstalled = (program: string): boolean => spawnSync(program, ['--version']).error === undefined
const absent = ['zsh', 'rg', 'tree', 'file', 'jq'].filter((program) => !isInstalled(program))
/** Which of the programs that may be missing an attack needs. */
const needs = ({ command, does }: Attack): string | undefined =>
  absent.find((program) => command.startsWith(`${program} `) || (does === 'zsh' && program === 'zsh'))

describe('an attack', () => {
  const place = makeThrowawayRepo()
  afterAll(place.remove)
  const evil = '#!/bin/sh\necho pwned >> "$EVIL_TARGET"\n'
  for (const name of ['evil', 'git-x']) {
    writeFileSync(join(place.repo, name), evil)
    chmodSync(join(place.repo, name), 0o755)
  }

  it('is one of many', () => {
    expect(new Set(attacks.map(({ command }) => command)).size).toBe(attacks.length)
    expect(attacks.length).toBeGreaterThan(150)
  })

  it.each(attacks)('$idea is stopped by $stoppedBy: $command', ({ command, stoppedBy }) => {
    expect(ruleFor(command)).toBe(stoppedBy)
  })

  // What is stopped must be worth stopping: without the gate it does change something.
  const writing = attacks.filter(({ does }) => does !== 'other')
  it.skip.each(writing.filter((attack) => needs(attack) !== undefined))(
    `$idea would write: NOT CHECKED, of ${absent.join(', ')} one is not installed`,
    () => {},
  )
  it.each(writing.filter((attack) => needs(attack) === undefined))(
    '$idea would write, in a shell without a gate',
    ({ command, does }) => {
      const copy = `${place.base}-copy`
      cpSync(place.base, copy, { recursive: true, verbatimSymlinks: true })
      try {
        const before = snapshotTree(copy, isIndex)
        const env = {
          ...place.env,
          HOME: join(copy, 'home'),
          TMPDIR: join(copy, 'tmp'),
          EVIL_TARGET: join(copy, 'repo', 'pwned'),
        }
        const [shell = '', ...args] = does === 'zsh' ? ['zsh', '-f', '-c'] : ['bash', '-c']
        spawnSync(shell, [...args, command], { cwd: join(copy, 'repo'), env, timeout: 5_000, input: '' })
        expect(snapshotTree(copy, isIndex)).not.toEqual(before)
      } finally {
        rmSync(copy, { recursive: true, force: true })
      }
    },
  )
})

const isIndex = (path: string): boolean => path === 'repo/.git/index'
