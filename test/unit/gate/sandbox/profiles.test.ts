import { describe, expect, it } from 'vitest'
import { type Profile, profileArgs, type SandboxPlaces } from '../../../../src/gate/sandbox/profiles.ts'

const linked: SandboxPlaces = {
  root: '/work/tree',
  gitDir: '/work/main/.git/worktrees/tree',
  commonDir: '/work/main/.git',
  scratch: '/tmp/plan-gate-1/x',
  clientDirs: ['/tmp/claude-1'],
  home: '/home/me',
  isRoot: false,
  caches: ['/home/me/.npm'],
  protectedPaths: [
    '/work/tree/.claude',
    '/work/tree/.git',
    '/work/main/.git/config',
    '/work/main/.git/worktrees',
    '/work/main/.git/worktrees/tree/plan-gate',
  ],
  absentPaths: [],
  reopened: ['/work/main/.git/worktrees/tree'],
  agents: ['/run/agent'],
  secrets: ['API_KEY'],
  environment: {},
}

/** What is mounted on a path at the end: the last mount on it or on a folder above it. */
function mountAt(args: readonly string[], path: string): string {
  let found = ''
  for (const [index, flag] of args.entries()) {
    const target = flag === '--tmpfs' || flag === '--tmp-overlay' ? args[index + 1] : args[index + 2]
    if (!/^--(?:ro-bind|bind|tmpfs|tmp-overlay)(?:-try)?$/.test(flag) || target === undefined) continue
    if (target === '/' || path === target || path.startsWith(`${target}/`)) found = flag
  }
  return found
}

describe.each<[Profile, string, string]>([
  ['read-only', '/work/tree/src/a.ts', '--ro-bind'],
  ['read-only', '/work/main/.git/objects', '--ro-bind'],
  ['read-only', '/home/me/.npm/x', '--ro-bind'],
  ['read-only', '/usr/bin/git', '--ro-bind'],
  ['read-only', '/tmp/x', '--bind'],
  ['read-only', '/var/tmp/x', '--tmpfs'],
  ['read-only', '/run/agent', '--tmpfs'],
  ['read-only', '/proc/sys/kernel', '--ro-bind-try'],
  ['rehearsal', '/work/tree/src/a.ts', '--tmp-overlay'],
  ['rehearsal', '/work/main/.git/index', '--tmp-overlay'],
  ['rehearsal', '/home/me/.npm/x', '--tmp-overlay'],
  ['rehearsal', '/home/me/.bashrc', '--tmp-overlay'],
  ['approved', '/work/tree/src/a.ts', '--bind'],
  ['approved', '/work/tree/.claude/settings.json', '--ro-bind'],
  ['approved', '/work/tree/.git', '--ro-bind'],
  ['approved', '/work/main/.git/objects/x', '--bind'],
  ['approved', '/work/main/.git/config', '--ro-bind'],
  ['approved', '/work/main/.git/worktrees/other/plan-gate', '--ro-bind'],
  ['approved', '/work/main/.git/worktrees/tree/index', '--bind'],
  ['approved', '/work/main/.git/worktrees/tree/plan-gate/install.json', '--ro-bind'],
  ['approved', '/work/main/README.md', '--ro-bind'],
  ['approved', '/home/me/.bashrc', '--ro-bind'],
  ['approved', '/home/me/.npm/x', '--bind'],
  ['approved', '/run/agent', '--bind-try'],
])('%s', (profile, path, mount) => {
  it(`${path}: ${mount}`, () => expect(mountAt(profileArgs(profile, linked), path)).toBe(mount))
})

describe('the arguments', () => {
  it.each(['read-only', 'rehearsal', 'approved'] as const)('of %s end with the word that they are whole', (profile) => {
    expect(profileArgs(profile, linked).slice(-3)).toEqual(['--setenv', 'PLAN_GATE_ARGS', 'whole'])
  })

  it('have the network only under an approval', () => {
    const withNetwork = (['read-only', 'rehearsal', 'approved'] as const).filter(
      (profile) => !profileArgs(profile, linked).includes('--unshare-net'),
    )
    expect(withNetwork).toEqual(['approved'])
  })

  it('take keys out of the environment, and the words to the session always', () => {
    const unset = (profile: Profile): string[] =>
      profileArgs(profile, linked).filter((_, index, args) => args[index - 1] === '--unsetenv')
    const always = ['CLAUDE_CODE_MESSAGING_SOCKET', 'CLAUDE_CODE_MESSAGING_TOKEN', 'PLAN_GATE_LAUNCH']
    expect(unset('read-only')).toEqual([...always, 'API_KEY'])
    expect(unset('approved')).toEqual(always)
  })

  it('mount each parent of a protected path on itself, in a checkout with its git directory inside', () => {
    const inside: SandboxPlaces = {
      ...linked,
      root: '/work/main',
      gitDir: '/work/main/.git',
      protectedPaths: ['/work/main/.claude', '/work/main/.git/plan-gate', '/work/main/.git/worktrees'],
      reopened: [],
    }
    const args = profileArgs('approved', inside)
    const own = args.findIndex((arg, index) => arg === '--bind' && args[index + 1] === '/work/main/.git')
    expect(own).toBeGreaterThan(args.findIndex((arg, index) => arg === '--bind' && args[index + 1] === '/work/main'))
    expect(own).toBeLessThan(args.indexOf('/work/main/.git/plan-gate'))
    expect(mountAt(args, '/work/main/.git/worktrees/x')).toBe('--ro-bind')
  })
})
