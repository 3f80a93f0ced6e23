import { once } from 'node:events'
import { chmodSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { startCli } from '../../../support/run-cli.ts'
import { branchesOf, git, snapshot, temporaryRepo, write } from '../../../support/temporary-repo.ts'
import { bootstrapIn, lookOf, offline, openingsOf } from './bootstrap-in.ts'

/** Many files, and a few slow ones, so that git is interrupted half-way. */
function slowRepo(hook: string | null = null): string {
  const many = Array.from({ length: 400 }, (_, index) => [`src/${index % 20}/${index}.txt`, `${index}\n`])
  const slow = Array.from({ length: 5 }, (_, index) => [`src/${index}/slow.bin`, `${index}\n`])
  const files = { '.gitattributes': '*.bin filter=slow\n', '.gitignore': '.env\n', '.worktreeinclude': '.env\n' }
  const repo = temporaryRepo('shop', { ...files, ...Object.fromEntries([...many, ...slow]) })
  write(repo, { '.env': 'KEY=1\n'.repeat(1_000) })
  git(repo, 'config', 'filter.slow.clean', 'cat')
  git(repo, 'config', 'filter.slow.smudge', 'sleep 0.02; cat')
  if (hook !== null) {
    write(repo, { '.git/hooks/post-checkout': `#!/bin/sh\n${hook}\n` })
    chmodSync(join(repo, '.git/hooks/post-checkout'), 0o755)
  }
  return repo
}

type Moment = { step: 'worktree' | 'include' | 'install' | 'self-test'; ms: number }

const after = (step: Moment['step'], ...times: number[]): Moment[] => times.map((ms) => ({ step, ms }))

const variants: { name: string; signal: NodeJS.Signals; group: boolean; hook: string | null; moments: Moment[] }[] = [
  {
    name: 'kill -9 of the process group',
    signal: 'SIGKILL',
    group: true,
    hook: null,
    moments: [
      ...after('worktree', 0, 4, 8, 15, 40, 90, 150),
      ...after('include', 0),
      ...after('install', 0, 15, 30, 45),
      ...after('self-test', 0, 80),
    ],
  },
  {
    name: 'kill -9 with a slow post-checkout hook',
    signal: 'SIGKILL',
    group: true,
    hook: 'sleep 0.3',
    moments: after('worktree', 100, 200, 300, 400, 500),
  },
  {
    name: 'kill -9 of plan-gate alone, git continues',
    signal: 'SIGKILL',
    group: false,
    hook: 'sleep 0.1',
    moments: [...after('worktree', 0, 5, 10, 50, 150), ...after('install', 25)],
  },
  {
    name: 'Ctrl-C',
    signal: 'SIGINT',
    group: true,
    hook: null,
    moments: [...after('worktree', 0, 10, 50, 100), ...after('install', 30), ...after('self-test', 50)],
  },
]

describe('the next run finishes after', () => {
  it.each(variants)(
    '$name',
    async ({ signal, group, hook, moments }) => {
      const repo = slowRepo(hook)
      await bootstrapIn(repo, { args: ['--name', 'whole'], checkout: null })
      const before = lookOf(repo)
      const whole = snapshot(`${repo}-whole`, ['.git', '.claude'])
      let caughtOpening = 0
      for (const [index, moment] of moments.entries()) {
        const name = `cut-${index}`
        await cutShortAt(moment, signal, group, { repo, name })
        if (openingsOf(repo).length > 0 || !branchesOf(repo).includes(`plan/${name}`)) caughtOpening += 1

        const opened = await bootstrapIn(repo, { args: ['--name', name], checkout: null })
        expect(opened).toMatchObject({ worktree: `${repo}-${name}`, branch: `plan/${name}` })
        expect(snapshot(opened.worktree, ['.git', '.claude'])).toEqual(whole)
        expect(git(opened.worktree, 'rev-parse', 'HEAD', `refs/heads/plan/${name}`)).toBe(
          git(repo, 'rev-parse', 'HEAD', 'HEAD'),
        )
        expect(openingsOf(repo)).toEqual([])
        expect(readdirSync(join(repo, '.git/worktrees')).sort()).toEqual([basename(opened.worktree), 'shop-whole'])
        expect(locksIn(join(repo, '.git'))).toEqual([])
        git(repo, 'worktree', 'remove', '--force', opened.worktree)
        git(repo, 'branch', '--quiet', '-D', `plan/${name}`)
      }
      expect(lookOf(repo)).toEqual(before)
      expect(branchesOf(repo)).toEqual(['main', 'plan/whole'])
      expect(caughtOpening).toBeGreaterThan(1)
    },
    180_000,
  )
})

/** Sends the signal this long after the step was reported as started. */
async function cutShortAt(
  { step, ms }: Moment,
  signal: NodeJS.Signals,
  group: boolean,
  { repo, name }: { repo: string; name: string },
): Promise<void> {
  const child = startCli([...offline, '--name', name, '--json'], { cwd: repo })
  const ended = once(child, 'exit')
  for await (const line of createInterface({ input: child.stdout })) if (line.includes(`"step":"${step}"`)) break
  await sleep(ms)
  if (child.exitCode === null) process.kill(group ? -Number(child.pid) : Number(child.pid), signal)
  await ended
}

const locksIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => /\.lock$/.test(path))
