import { describe, expect, it } from 'vitest'
import { checkWithParser, policy, ruleFor } from '../../../support/gate/bash/check-with-parser.ts'

describe('gate.bash.allow', () => {
  it.each([
    { allowed: ['npm test'], command: 'npm test', expected: 'allow' },
    { allowed: ['npm test'], command: 'npm  test -- --watch=false', expected: 'allow' },
    { allowed: ['npm test'], command: 'npm "test" x', expected: 'allow' },
    { allowed: ['npm test'], command: 'npm run test', expected: 'command' },
    { allowed: ['npm test'], command: 'npm testing', expected: 'command' },
    { allowed: ['npm test'], command: 'npm', expected: 'command' },
    { allowed: ['docker ps'], command: 'docker ps -a', expected: 'allow' },
    { allowed: ['docker ps'], command: 'docker --host x ps', expected: 'command' },
    { allowed: ['awk'], command: "awk '{print $1}' list.txt", expected: 'allow' },
    { allowed: ['awk'], command: 'ls | awk 1', expected: 'allow' },
    { allowed: ['awk'], command: 'gawk 1', expected: 'command' },
    { allowed: ['awk'], command: '/usr/bin/awk 1', expected: 'command' },
    { allowed: ['sort'], command: 'sort -o x y', expected: 'allow' },
    { allowed: ['git fetch'], command: 'git fetch --all', expected: 'allow' },
    { allowed: ['git fetch'], command: 'git push', expected: 'subcommand' },
    // What they are joined by, and what stands in them, is judged as ever.
    { allowed: ['npm test'], command: 'npm test > out.txt', expected: 'redirection' },
    { allowed: ['npm test'], command: 'npm test; rm x', expected: 'command' },
    { allowed: ['npm test'], command: 'npm test &', expected: 'background' },
    { allowed: ['npm test'], command: 'npm test $(id)', expected: 'substitution' },
    { allowed: ['npm test'], command: 'npm test *', expected: 'glob' },
    { allowed: ['npm test'], command: 'X=1 npm test', expected: 'assignment' },
    { allowed: ['npm test'], command: 'npm test\nrm x', expected: 'command' },
    { allowed: ['npm test'], command: 'npm test src/*', expected: 'command' },
    { allowed: ['npm test'], command: 'npm test "$X"', expected: 'expansion' },
    { allowed: ['npm test'], command: 'cd src && npm test', expected: 'allow' },
    // What the user allows, they allow in this worktree.
    { allowed: ['npm test'], command: 'cd ../x && npm test', expected: 'git-place' },
    { allowed: ['cd'], command: 'cd ../x && git status', expected: 'git-place' },
    { allowed: ['cd'], command: 'cd $x', expected: 'expansion' },
    { allowed: ['pushd'], command: 'pushd ../x && git status', expected: 'command' },
    { allowed: ['npm test'], command: `npm test ${'x'.repeat(8_000)}`, expected: 'too-long' },
    { allowed: ['', ' '], command: 'rm x', expected: 'command' },
    { allowed: [], command: 'npm test', expected: 'command' },
  ])('$allowed, $command → $expected', ({ allowed, command, expected }) => {
    expect(ruleFor(command, { allowed })).toBe(expected)
  })
})

describe('gate.bash.compound: false', () => {
  it.each([
    { command: 'ls -la', expected: 'allow' },
    { command: 'rg "a|b" src', expected: 'allow' },
    { command: 'ls;', expected: 'allow' },
    { command: 'ls | head', expected: 'compound' },
    { command: 'ls && pwd', expected: 'compound' },
    { command: 'ls || pwd', expected: 'compound' },
    { command: 'ls ; pwd', expected: 'compound' },
    { command: 'ls 2>/dev/null', expected: 'compound' },
    { command: 'ls 2>&1', expected: 'compound' },
    { command: 'ls > x', expected: 'redirection' },
    { command: 'ls & pwd', expected: 'background' },
  ])('$command → $expected', ({ command, expected }) => {
    expect(ruleFor(command, { compound: false })).toBe(expected)
  })
})

describe('a repository whose configuration changed', () => {
  const untrustedGitKeys = ['core.fsmonitor', 'hooks/post-index-change']

  it.each([
    { command: 'git status', expected: 'git-config' },
    { command: 'git --version', expected: 'git-config' },
    { command: 'ls && git log', expected: 'git-config' },
    { command: 'git commit -m x', expected: 'git-config' },
    { command: 'ls', expected: 'allow' },
    { command: 'rg alpha', expected: 'allow' },
    { command: 'echo git', expected: 'allow' },
  ])('$command → $expected', ({ command, expected }) => {
    expect(ruleFor(command, { untrustedGitKeys })).toBe(expected)
  })

  it('is not forgiven by gate.bash.allow', () => {
    expect(ruleFor('git fetch', { untrustedGitKeys, allowed: ['git', 'git fetch'] })).toBe('git-config')
  })

  it('is told with the keys', () => {
    expect(checkWithParser('git log', { ...policy, untrustedGitKeys })).toMatchObject({
      reason: expect.stringContaining('core.fsmonitor, hooks/post-index-change changed since'),
    })
  })
})

describe('a shell with CDPATH', () => {
  const shell = { ...policy.shell, environment: ['CDPATH'] }
  it.each([
    { command: 'cd src && ls', expected: 'operand' },
    { command: 'cd ./src && ls', expected: 'allow' },
    { command: 'cd .. && ls', expected: 'allow' },
    { command: 'cd /tmp && ls', expected: 'allow' },
    { command: 'git -C src log', expected: 'allow' },
  ])('$command → $expected', ({ command, expected }) => {
    expect(ruleFor(command, { shell })).toBe(expected)
  })
})

describe('a partial clone', () => {
  it.each([
    { command: 'git log', expected: 'git-config' },
    { command: 'git show HEAD:x', expected: 'git-config' },
    { command: 'git --no-pager diff', expected: 'git-config' },
    { command: 'git ls-files --eol', expected: 'git-config' },
    { command: 'git check-ignore x', expected: 'git-config' },
    { command: 'git remote -v', expected: 'allow' },
    { command: 'git config --list', expected: 'allow' },
    { command: 'git remote add x y', expected: 'operand' },
    { command: 'ls', expected: 'allow' },
  ])('$command → $expected', ({ command, expected }) => {
    expect(ruleFor(command, { promisorKeys: ['extensions.partialclone'] })).toBe(expected)
  })
})

describe('a denial', () => {
  it.each([
    { command: 'rg alpha *.ts', part: '*.ts', says: './*.ts' },
    { command: 'tail -f x.log', part: '-f', says: 'never end (rule: flag).\nLeave -f out' },
    { command: 'git -C .. status', part: 'git -C .. status', says: 'Run git in this worktree' },
    { command: 'git branch topic', part: 'topic', says: "git branch --list 'topic'" },
    { command: 'cd $x && ls', part: '$x', says: 'Write the value itself' },
    { command: 'ls > out.txt', part: '> out.txt', says: '2>/dev/null' },
    { command: 'cat "$X/x"', part: '"$X/x"', says: 'Write the value itself' },
    { command: 'git stash', part: 'git stash', says: 'git stash list' },
    { command: 'ls && npm test', part: 'npm', says: 'gate.bash.allow' },
  ])('of $command quotes $part and tells the nearest form', ({ command, part, says }) => {
    const verdict = checkWithParser(command, policy)
    expect(verdict).toMatchObject({ kind: 'deny', part })
    if (verdict.kind === 'allow') return
    expect(verdict.reason).toContain(`\`${part}\``)
    expect(verdict.reason).toContain(says)
    expect(verdict.reason.split('\n')).toHaveLength(2)
  })

  it('is one to read: short, and without what a terminal would obey', () => {
    const long = checkWithParser(`ls ${'*'.repeat(7_000)}`, policy)
    const painted = checkWithParser('ls \u001b[2J', policy)
    const key = checkWithParser('git log', { ...policy, untrustedGitKeys: ['core.\u001b[2J\nx', 'y'.repeat(5_000)] })
    for (const verdict of [long, painted, key]) {
      const reason = verdict.kind === 'deny' ? verdict.reason : ''
      expect(reason.length).toBeLessThan(1_000)
      expect(reason).not.toContain('\u001b')
      expect(reason.split('\n')).toHaveLength(2)
    }
  })
})
