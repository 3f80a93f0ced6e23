import { mkdtempSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  commandRule,
  explainRefusals,
  findRefusals,
  markSession,
  pruneMarks,
  ranInSandbox,
  wrapperPath,
  writeMode,
} from '../../../../src/gate/sandbox/rules.ts'

let gitDir: string
beforeEach(() => {
  gitDir = mkdtempSync(join(tmpdir(), 'rules-'))
})
afterEach(() => rmSync(gitDir, { recursive: true, force: true }))

const env = (): NodeJS.ProcessEnv => ({ CLAUDE_CODE_SHELL_PREFIX: wrapperPath(gitDir) ?? '' })
const rule = (session: string | undefined = 's1', variables = env()) => commandRule(gitDir, session, variables)

describe('the sandbox decides about a command', () => {
  beforeEach(() => {
    writeMode(gitDir, 'sandbox')
    markSession(gitDir, 's1', 'proven')
    markSession(gitDir, 's1', 'command')
  })

  it('where it is proven and a command of the session has started in it', () => {
    expect(rule()).toEqual({ kind: 'sandbox' })
    expect(ranInSandbox(gitDir, 's1')).toBe(true)
  })

  it.each<[string, () => void, RegExp]>([
    ['it does not hold on the machine', () => writeMode(gitDir, 'list', 'no engine'), /^no engine$/],
    ['it is not set up', () => rmSync(join(gitDir, 'plan-gate/sandbox/mode')), /not set up/],
    [
      'it was not proven in this session',
      () => rmSync(join(gitDir, 'plan-gate/sandbox/started/s1.proven')),
      /not proven/,
    ],
    ['no command has started in it', () => rmSync(join(gitDir, 'plan-gate/sandbox/started/s1.command')), /no command/],
    ['the client has a sandbox of its own', () => markSession(gitDir, 's1', 'nested'), /own sandbox/],
  ])('and not where %s', (_name, change, why) => {
    change()
    expect(rule()).toEqual({ kind: 'list', why: expect.stringMatching(why) })
  })

  it('and not in another session, without a session, or with a name that leads elsewhere', () => {
    for (const session of ['s2', undefined, '', '../started/s1', 's1/'])
      expect(commandRule(gitDir, session, env()).kind).toBe('list')
  })

  it('and not where the client was told of another prefix, or of none', () => {
    for (const prefix of [undefined, '', '/bin/true', `${wrapperPath(gitDir)} x`])
      expect(commandRule(gitDir, 's1', { CLAUDE_CODE_SHELL_PREFIX: prefix })).toMatchObject({
        kind: 'list',
        why: expect.stringMatching(/PREFIX/),
      })
  })

  it('before its first command only in a client that was tested', () => {
    rmSync(join(gitDir, 'plan-gate/sandbox/started/s1.command'))
    markSession(gitDir, 's1', 'hook')
    expect(rule().kind).toBe('list')
    markSession(gitDir, 's1', 'tested')
    expect(rule().kind).toBe('sandbox')
  })

  it('and not any more once another start of the session has not proven it', () => {
    pruneMarks(gitDir, 's1')
    expect(rule()).toEqual({ kind: 'list', why: expect.stringContaining('not proven') })
  })

  it('whatever other sessions long ago have left', () => {
    markSession(gitDir, 'old', 'proven')
    utimesSync(join(gitDir, 'plan-gate/sandbox/started/old.proven'), 1, 1)
    pruneMarks(gitDir, 's2')
    expect(rule()).toEqual({ kind: 'sandbox' })
    expect(commandRule(gitDir, 'old', env()).kind).toBe('list')
  })
})

describe('what a program prints', () => {
  it.each([
    ['touch: cannot touch x: Read-only file system', ['a write']],
    ["Error: EROFS: read-only file system, open 'x'", ['a write']],
    ['curl: (6) Could not resolve host: example.com', ['the network']],
    ['getaddrinfo EAI_AGAIN registry', ['the network']],
    ['mv: cannot move: Device or resource busy\nping: connect: Network is unreachable', ['the network', 'a write']],
    ['all 12 tests passed', []],
  ])('%s', (output, refused) => expect(findRefusals(output)).toEqual(refused))

  it('is explained by what holds', () => {
    expect(explainRefusals(['a write'], false)).toMatch(/refused a write: until docs\/plan\.md is approved/)
    expect(explainRefusals(['a write', 'the network'], true)).toMatch(
      /a write and the network\. While the plan is carried out/,
    )
  })
})
