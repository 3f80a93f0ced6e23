import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { planText } from '../../support/plan-texts.ts'
import { fails, openFail, pass, question, reflectWorktree, says, unsure, writeTranscript } from './reflect-worktree.ts'

const silent = { exitCode: 0, user: null, model: null, blocks: false, stdout: '', stderr: '' }
const unplanned = 'The work is not in the plan.'

describe('a stop with nothing open', () => {
  it.each([
    { name: 'PASS', turn: pass, expected: { exitCode: 0, blocks: false, model: null } },
    { name: 'FAIL', turn: fails('no test was run.'), expected: { exitCode: 2, blocks: true } },
    { name: 'UNCERTAIN', turn: unsure('no output is shown.'), expected: { exitCode: 2, blocks: true } },
    { name: 'FAIL without a reason', turn: says('FAIL'), expected: { exitCode: 2, blocks: true } },
  ])('is held by one review that says $name', async ({ name, turn, expected }) => {
    const { write, stop, state, api } = await reflectWorktree([turn])
    write('src/app.ts', 'console.log("hello")\n')
    const result = await stop()
    expect(result).toMatchObject(expected)
    if (expected.blocks) {
      expect(result.model).toMatch(new RegExp(`the final review of your work says ${name.slice(0, 4)}`))
      expect(result.model).toContain('You are not held back a second time')
      expect(result.stderr.trimEnd()).toBe(result.model)
    }
    // A review of the whole is about no file, so it is neither cached nor open.
    expect(state()).toMatchObject({ fails: { fails: [] }, memory: { entries: [] }, spending: { calls: 1 } })
    expect(await stop({ stop_hook_active: true })).toEqual(silent)
    expect(api.requests).toHaveLength(1)
  })

  it('shows the reviewer what was said, what changed and what was planned', async () => {
    const { write, stop, api } = await reflectWorktree([pass])
    write('src/app.ts', 'console.log("hello")\n')
    write('src/new.ts', 'export const added = 1\n')
    await stop({ last_assistant_message: 'I print hello now.' })
    for (const part of ['I print hello now.', '+console.log("hello")', '+export const added = 1', 'Change the line.'])
      expect(question(api, 1)).toContain(part)
  })

  it('goes by the transcript where there is no last message', async () => {
    const worktree = await reflectWorktree([pass])
    writeTranscript(worktree, 'First.', 'I printed hello.')
    for (const last_assistant_message of [undefined, '', ' \n'])
      expect(await worktree.stop({ last_assistant_message })).toMatchObject({ exitCode: 0, blocks: false })
    for (const n of [1, 2, 3]) expect(question(worktree.api, n)).toContain('First.\nI printed hello.')
  })

  it.each([
    { what: 'no transcript', transcript: () => {} },
    { what: 'an empty transcript', transcript: (path: string) => writeFileSync(path, '') },
    {
      what: 'a transcript of garbage',
      transcript: (path: string) => writeFileSync(path, '\u0000{"role":"assistant"\n'),
    },
    { what: 'a folder for a transcript', transcript: (path: string) => void mkdirSync(path) },
  ])('is let go with neither: $what', async ({ transcript }) => {
    const { stop, home, api } = await reflectWorktree([fails('x')])
    transcript(join(home, 'transcript.jsonl'))
    for (const transcript_path of [join(home, 'transcript.jsonl'), undefined])
      expect(await stop({ last_assistant_message: undefined, transcript_path })).toMatchObject({
        exitCode: 0,
        blocks: false,
      })
    expect(api.requests).toHaveLength(0)
  })

  it('looks anew each time', async () => {
    const { stop, api } = await reflectWorktree([pass, fails('it is not done.')])
    expect((await stop()).blocks).toBe(false)
    expect((await stop()).blocks).toBe(true)
    expect(api.requests).toHaveLength(2)
  })
})

describe('a stop with something open', () => {
  it('names all of it, what is certain first, and asks nobody', async () => {
    const files = Array.from({ length: 12 }, (_, n) => `src/f${n}.ts`)
    const { stop, putState, api } = await reflectWorktree([pass], {
      files: Object.fromEntries(files.map((path) => [path, ''])),
    })
    putState({
      fails: { fails: [openFail(files[0] ?? '', 'UNCERTAIN'), ...files.slice(1).map((path) => openFail(path))] },
    })
    const result = await stop()
    expect(result).toMatchObject({ exitCode: 2, blocks: true })
    expect(result.user).toMatch(/12 findings of this session are open/)
    for (const path of files) expect(result.model).toContain(path)
    expect(result.model?.indexOf('src/f1.ts: FAIL')).toBeLessThan(result.model?.indexOf('src/f0.ts') ?? 0)
    expect(result.model?.length).toBeLessThan(10_000)
    expect(api.requests).toHaveLength(0)
  })

  it('is let go the second time, and the user is told what stays open', async () => {
    const { stop, putState, state, api } = await reflectWorktree([pass])
    putState({ fails: { fails: [openFail('src/app.ts')] } })
    expect(await stop({ stop_hook_active: true })).toMatchObject({
      exitCode: 0,
      blocks: false,
      model: null,
      user: 'plan-gate: still open:\n  - src/app.ts: FAIL',
    })
    expect(state().fails.fails).toHaveLength(1)
    expect(api.requests).toHaveLength(0)
  })

  it('is held where git says nothing for longer than anybody waits', { timeout: 60_000 }, async () => {
    const { stop, putState, home } = await reflectWorktree([pass])
    const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
    const script = `#!/bin/sh\ncase "$1" in add) exec sleep 40;; esac\nexec '${git}' "$@"\n`
    writeFileSync(join(home, 'bin', 'git'), script, { mode: 0o755 })
    putState({ fails: { fails: [openFail('src/app.ts')] } })
    expect(await stop()).toMatchObject({
      exitCode: 2,
      blocks: true,
      model: expect.stringContaining('src/app.ts: FAIL'),
    })
  })

  it('of another session is let go', async () => {
    const { stop, putState } = await reflectWorktree([pass])
    putState({ fails: { fails: [openFail('src/app.ts')] } }, 's2')
    expect(await stop()).toMatchObject({ exitCode: 0, blocks: false })
  })
})

/** The plan is no longer what was approved, so nobody follows it. */
describe('after the approval has ended', () => {
  it('nothing is reviewed, and nothing is held', async () => {
    const worktree = await reflectWorktree([fails('it is wrong.')])
    const { edit, stop, fail, compact, write, api, state } = worktree
    await edit('src/app.ts', 'one\n')
    writeTranscript(worktree, 'I did it.')
    write('docs/plan.md', planText(unplanned))
    expect(await fail('npm test', 'Exit code 1')).toEqual(silent)
    expect(await compact()).toEqual(silent)
    expect(await stop()).toEqual(silent)
    expect(api.requests).toHaveLength(1)
    expect(state().fails.fails).toHaveLength(1)
  })

  it('by a change to the plan during a review, that review is still reported', async () => {
    const { write, edit, stop, api } = await reflectWorktree(() => {
      write('docs/plan.md', planText(unplanned))
      return fails('it is wrong.')
    })
    expect((await edit('src/app.ts', 'one\n')).model).toMatch(/it is wrong\./)
    expect(await stop()).toEqual(silent)
    expect(api.requests).toHaveLength(1)
  })
})

describe('before the context is compacted', () => {
  it('what is worth keeping goes into the instructions for the summary', async () => {
    const points = '- src/app.ts: hello is printed, a test is missing.\n- Stop running the whole suite for one test.'
    const worktree = await reflectWorktree([says(points)])
    writeTranscript(worktree, 'I printed hello.')
    const result = await worktree.compact()
    expect(result).toMatchObject({ exitCode: 0, stderr: '' })
    expect(result.stdout).toMatch(/^plan-gate: a reviewer looked back on this session\./)
    for (const line of points.split('\n')) expect(result.stdout).toContain(`  ${line}`)
    expect(question(worktree.api, 1)).toContain('I printed hello.')
    expect(worktree.events().at(-1)).toMatchObject({ type: 'reflected', kind: 'compaction', verdict: 'none' })
    expect(worktree.state()).toMatchObject({ fails: { fails: [] }, memory: { entries: [] } })
  })

  it('a session of which nothing is known is not asked about', async () => {
    const { compact, api } = await reflectWorktree([pass])
    expect(await compact()).toEqual(silent)
    expect(api.requests).toHaveLength(0)
  })
})
