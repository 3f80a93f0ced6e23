import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { gitKeys, surroundings } from '../../../../src/gate/check-commands.ts'
import { readGitDirs } from '../../../../src/system/git-dirs.ts'
import { ruleFor } from '../../../support/gate/bash/check-with-parser.ts'
import { temporaryRoot } from '../../../support/state/temporary-root.ts'
import { write } from '../../../support/temporary-repo.ts'

// Below /dev, where a memory disk may be, each file is special.
delete process.env.TMPDIR

/** A repository with folders that belong to others, or seem to. */
function makeRepository(): string {
  const root = join(temporaryRoot(), 'repo')
  const git = (folder: string, ...args: string[]) => execFileSync('git', ['-C', join(root, folder), ...args])
  for (const folder of ['src/deep', 'nested', 'planted/objects', 'planted/refs', '../outside/x'])
    mkdirSync(join(root, folder), { recursive: true })
  git('.', 'init', '-q')
  git('nested', 'init', '-q')
  writeFileSync(join(root, 'planted/HEAD'), 'ref: refs/heads/main\n')
  symlinkSync('../outside', join(root, 'link'))
  symlinkSync('src/deep', join(root, 'inside'))
  return root
}

function rulesFor(root: string, lines: readonly string[], cwd = root): string[] {
  const policy = { ...gitKeys(root, readGitDirs(root)), ...surroundings(root, cwd) }
  return lines.map((line) => ruleFor(line, policy))
}

describe('git', () => {
  it.each([
    { folder: '.', expected: 'allow' },
    { folder: 'src', expected: 'allow' },
    { folder: 'src/deep/..', expected: 'allow' },
    { folder: 'inside', expected: 'allow' },
    { folder: 'nested', expected: 'git-place' },
    { folder: 'planted', expected: 'git-place' },
    { folder: 'planted/refs', expected: 'git-place' },
    { folder: '.git', expected: 'git-place' },
    { folder: '..', expected: 'git-place' },
    { folder: '../outside', expected: 'git-place' },
    { folder: 'link', expected: 'git-place' },
    // A shell goes back to the root, the kernel to where the link leads.
    { folder: 'link/..', expected: 'git-place' },
    { folder: 'inside/..', expected: 'git-place' },
    { folder: 'nowhere', expected: 'git-place' },
    { folder: '/', expected: 'git-place' },
  ])('in $folder: $expected', ({ folder, expected }) => {
    const root = makeRepository()
    const lines = [`cd ${folder} && git status`, `cd ${folder}; git status`, `git -C ${folder} status`]
    expect(rulesFor(root, lines)).toEqual(lines.map(() => expected))
    expect(rulesFor(root, ['git status', 'ls'], resolve(root, folder))).toEqual([
      // A folder that is named by the event is as it is: its `..` is resolved.
      folder.endsWith('/..') ? 'allow' : expected,
      'allow',
    ])
  })

  it('may fetch nothing in a partial clone', () => {
    const root = makeRepository()
    const config = join(root, '.git/config')
    expect(rulesFor(root, ['git log'])).toEqual(['allow'])
    for (const lines of ['[remote "x"]\n\tPromisor = true\n', '[extensions]\n\tpartialClone = x\n']) {
      writeFileSync(config, lines)
      expect(rulesFor(root, ['git log', 'git remote -v', 'ls'])).toEqual(['git-config', 'allow', 'allow'])
    }
  })
})

describe('what a command finds', () => {
  it('is seen from where the session stands', () => {
    const root = makeRepository()
    expect(rulesFor(root, ['cat zero'])).toEqual(['allow'])
    expect(rulesFor(root, ['cat zero', 'cat null', 'ls'], '/dev')).toEqual(['special-file', 'allow', 'allow'])
    expect(rulesFor(root, ['cat credentials'], join(root, '.aws'))).toEqual(['secret'])
  })

  it('is what the kernel finds behind links and `..`', () => {
    const root = makeRepository()
    symlinkSync('/proc/self/environ', join(root, 'src/link'))
    symlinkSync('../.ssh/deploy_key', join(root, 'src/key'))
    symlinkSync('/proc/self', join(root, 'self'))
    symlinkSync('/proc/self/environ', join(root, 'nested/o\nx'))
    symlinkSync('.ssh', join(root, 'keys'))
    write(root, { '.ssh/deploy_key': 'k\n', 'src/a.ts': 'a\n' })
    symlinkSync('a.ts', join(root, 'src/b.ts'))
    execFileSync('mkfifo', [join(root, 'src/pipe')])
    const up = '../'.repeat(root.split('/').length)
    expect(rulesFor(root, ['cat src/a.ts src/b.ts', 'grep -r x .', 'cat src/*.ts', 'node --check src/a.ts'])).toEqual(
      Array(4).fill('allow'),
    )
    for (const line of [
      ...['cat src/link', 'cat src/l*', 'cd src && head link', 'cat src/pipe', 'wc src/pi?e', 'rg -f src/link x'],
      ...[
        `cat ${up}proc/thread-self/environ`,
        `grep -rs x ${up}proc`,
        `grep -r x ${up}`,
        'cat /var/run/../proc/uptime',
      ],
      ...['cd /var/run; cd ../proc; cat uptime', 'cd /var/run && cd ../dev && cat zero'],
      ...['cat /etc/.?/proc/uptime', `cat ${up}proc/thread-self/environ*`, 'cat /var/run/../proc/self/environ*'],
      ...['node --check src', 'cat self/environ*', 'head ./self/envir[o]n', 'cat ./nested/o*', 'cat nested/?'],
    ])
      expect([line, ...rulesFor(root, [line])]).toEqual([
        line,
        expect.stringMatching(/^(?:special-file|glob|operand)$/),
      ])
    expect(rulesFor(root, ['cat src/key', 'cat src/ke*', 'cat keys/*'])).toEqual(['secret', 'secret', 'secret'])
  })

  it('has the variables of its environment', () => {
    const root = makeRepository()
    process.env.dir = 'x'
    onTestFinished(() => {
      delete process.env.dir
    })
    expect(rulesFor(root, ['dir=src; ls $dir', 'd=src; ls $d'])).toEqual(['assignment', 'allow'])
  })
})
