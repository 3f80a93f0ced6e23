import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readApproval, writeApproval } from '../../../src/state/approval.ts'
import { reviewDir, reviewPaths } from '../../../src/state/own-paths.ts'
import { temporaryRoot } from '../../support/state/temporary-root.ts'

const hash = 'a'.repeat(64)

it.each([
  { what: 'nothing', text: null, expected: { kind: 'absent' } },
  {
    what: 'what a person writes by hand',
    text: `{"is_optimal":true,"plan_hash":"${hash}"}`,
    expected: { kind: 'recorded', approval: { is_optimal: true, plan_hash: hash } },
  },
  {
    what: 'the same, from an editor on Windows',
    text: `\uFEFF{\r\n"is_optimal": true, "plan_hash": "${hash}"}\r\n`,
    expected: { kind: 'recorded', approval: { is_optimal: true, plan_hash: hash } },
  },
  { what: 'an empty file', text: '', expected: refused('is empty') },
  { what: 'a torn file', text: '{"is_optimal":tr', expected: refused('is not JSON: Unexpected end of JSON input') },
  { what: 'another form', text: '[]', expected: refused('has the wrong form: it must be object') },
  {
    what: 'a truthy approval',
    text: `{"is_optimal":"true","plan_hash":"${hash}"}`,
    expected: refused('has the wrong form: is_optimal must be boolean'),
  },
  { what: 'no hash', text: '{"is_optimal":true}', expected: refused("must have required property 'plan_hash'") },
  {
    what: 'too much',
    text: `{"is_optimal":true,"plan_hash":"${hash}"}${' '.repeat(65_536)}`,
    expected: refused('larger'),
  },
])('$what is read for what it is', ({ text, expected }) => {
  const root = temporaryRoot()
  mkdirSync(join(root, reviewDir), { recursive: true })
  if (text !== null) writeFileSync(join(root, reviewPaths.approval), text)
  expect(readApproval(root)).toEqual(expected)
})

it.each([
  { what: 'a symbolic link', make: (path: string) => symlinkSync('other.json', path) },
  { what: 'a directory', make: (path: string) => mkdirSync(path) },
  { what: 'a named pipe', make: (path: string) => execFileSync('mkfifo', [path]) },
])('$what in its place is refused, read or written, and stays', ({ what, make }) => {
  const root = temporaryRoot()
  const path = join(root, reviewPaths.approval)
  mkdirSync(join(root, reviewDir), { recursive: true })
  writeFileSync(join(root, reviewDir, 'other.json'), `{"is_optimal":true,"plan_hash":"${hash}"}`)
  make(path)

  expect(readApproval(root)).toEqual(refused(`.claude/review/approval.json is ${what}, not a regular file`))
  expect(() => writeApproval(root, { is_optimal: true, plan_hash: hash })).toThrow(`is ${what}`)
  expect(readdirSync(join(root, reviewDir)).sort()).toEqual(['.gitignore', 'approval.json', 'other.json'])
})

it('is written for its owner alone, in a folder that git does not see', () => {
  const root = temporaryRoot()
  const approval = { is_optimal: true, plan_hash: hash, review_version: 3, approved_at: null, route: 'codex' }
  writeApproval(root, approval)

  expect(readApproval(root)).toEqual({ kind: 'recorded', approval })
  expect(statSync(join(root, reviewPaths.approval)).mode & 0o777).toBe(0o600)
  expect(statSync(join(root, reviewDir)).mode & 0o777).toBe(0o700)
  execFileSync('git', ['init', '-q'], { cwd: root })
  expect(execFileSync('git', ['status', '--porcelain', '-uall'], { cwd: root, encoding: 'utf8' })).toBe('')
})

function refused(why: string | RegExp) {
  return { kind: 'refused', why: expect.stringMatching(why) }
}
