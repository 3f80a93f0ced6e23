import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type CommittedThing, committedThings } from '../../support/committed-things.ts'
import { launchPlace } from '../../support/launch-place.ts'
import type { ToolUse } from '../../support/servers/messages-api.ts'

/**
 * Promise: of all that a repository can commit, nothing runs in a session that plan-gate starts and nobody agreed to, no
 * variable is set, and no call is rewritten. What each of them does otherwise is measured in the same run, where print
 * mode shows it.
 */
const flags = (mode = 'bypassPermissions'): string[] => ['-p', 'Go.', '--permission-mode', mode]

const turnsOf = ({ calls = [] }: CommittedThing, root: string) => [
  ...calls.map((call) => ({ tools: [below(root, call)] })),
  { text: 'done' },
]

const below = (root: string, { name, input }: ToolUse): ToolUse => {
  const { file_path } = input as { file_path?: string }
  return {
    name,
    input: file_path === undefined || isAbsolute(file_path) ? input : { ...input, file_path: join(root, file_path) },
  }
}

const marks = ['ran', 'src/evil.ts']
const marksIn = (root: string): string[] => marks.filter((path) => existsSync(join(root, path)))

/** bootstrap does not open a worktree: no hook would run there, or there is no place for it. */
const refused = new Set([
  'a hook of a type that is not known',
  'hooks in another form',
  'the setting disableAllHooks',
  'settings that are no JSON',
  'settings that are a list',
  'settings that are a link',
  'the variable LD_PRELOAD',
  'the variable CLAUDE_CODE_SIMPLE',
  'a hook that looks like ours',
  'a hook without a shell that looks like ours',
  'skills that are a link',
  'a .claude that is a link',
])

const shown = committedThings.filter(({ shows }) => shows === 'ran' || shows === 'evil')

describe.each(['newest', 'oldest'] as const)('with the %s Claude Code', (client) => {
  // What print mode cannot show is covered by the unit test of the inventory; some of it here, too.
  const rows =
    client === 'newest'
      ? committedThings.filter((thing, index) => shown.includes(thing) || refused.has(thing.name) || index % 4 === 0)
      : shown.filter((_, index) => index % 4 === 0)

  it.each(rows)(
    '$name',
    async (thing) => {
      const place = launchPlace(thing.files, thing.links)
      onTestFinished(place.remove)
      const launched = await place.run(['bootstrap', '--name', 'work', '--reviewer', 'checklist'], {
        client,
        turns: turnsOf(thing, place.worktree),
        flags: ['-p', '--permission-mode', thing.permissionMode ?? 'bypassPermissions'],
      })
      if (refused.has(thing.name)) {
        expect([launched.exitCode, launched.requests, existsSync(place.worktree)]).toEqual([2, [], false])
        expect(launched.stderr).toMatch(
          /because of \.claude\/settings\.json|cannot install here|cannot be changed|is committed in this repository/,
        )
        return
      }
      // Of a subagent that ends late the model is told, and says so once more.
      const said = new Set(launched.stdout.split('\n\n'))
      expect([launched.exitCode, [...said], marksIn(place.worktree)]).toEqual([0, ['done'], []])
      if (client !== 'newest' || !shown.includes(thing)) return
      // By hand the gate stays closed over it.
      await place.claude(flags(thing.permissionMode), { client, cwd: place.worktree })
      const { closed } = JSON.parse((await place.run(['status', '--json'], { cwd: place.worktree })).stdout)
      expect(closed).toEqual([{ session: expect.anything(), why: expect.stringContaining(thing.items[0] ?? '?') }])
      if (shown.indexOf(thing) % 2 === 1) return
      // What it is made for, beside the gate.
      await place.claude(flags(thing.permissionMode), { client, cwd: place.repo, turns: turnsOf(thing, place.repo) })
      expect(marksIn(place.repo)).toEqual([thing.shows === 'ran' ? 'ran' : 'src/evil.ts'])
    },
    90_000,
  )
})
