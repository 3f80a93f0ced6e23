import { unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Turn } from '../../support/servers/responses-api.ts'
import { cleanEnvironment } from '../../support/temporary-repo.ts'
import { codexProcesses } from '../plan-review-e2e/codex-processes.ts'
import {
  type HookResult,
  openFail,
  pass,
  type ReflectWorktree,
  reflectWorktree,
  says,
  writeTranscript,
} from './reflect-worktree.ts'

type Row = {
  name: string
  turn: Turn | ((worktree: ReflectWorktree) => Turn)
  config?: string
  breakIt?: (worktree: ReflectWorktree) => void
  env?: (worktree: ReflectWorktree) => { [name: string]: string }
  /** Not for all events at once: it would hit the others, too. */
  oneByOne?: true
  /** How it stands in the ledger, and in words. */
  failure: string
  why: RegExp
  nextStep: RegExp
}

const soon = 'reflect:\n  timeout_seconds: 1\n'

/**
 * One row for each way that a reflection can fail. What follows from each failure class is held by
 * test/unit/reflect/fail-open-fail-closed.test.ts, which failure is of which class by
 * test/clients/reviewers/codex/codex-failures.test.ts.
 */
const rows: readonly Row[] = [
  {
    name: 'Codex is killed in the middle',
    turn: (worktree) => {
      for (const pid of codexProcesses(worktree)) process.kill(pid, 'SIGKILL')
      return { kind: 'hang', when: 'before-headers' }
    },
    oneByOne: true,
    failure: 'crashed',
    why: /ended from outside \(SIGKILL\)/,
    nextStep: /Try again/,
  },
  {
    name: 'it hangs before its first word',
    config: soon,
    turn: { kind: 'hang', when: 'before-headers' },
    failure: 'timeout',
    why: /1 s/,
    nextStep: /timeout/,
  },
  {
    name: 'it answers too late',
    config: soon,
    turn: says('PASS', { afterMs: 1_500 }),
    failure: 'timeout',
    why: /1 s/,
    nextStep: /timeout/,
  },
  {
    name: 'it answers after the time of the whole hook',
    config: 'plan:\n  deadline_seconds: 1\n',
    turn: says('PASS', { afterMs: 1_500 }),
    failure: 'timeout',
    why: /1 s|time for this review ran out/,
    nextStep: /timeout|max_total_seconds/,
  },
  { name: 'it answers nothing', turn: says(''), failure: 'malformed', why: /empty/, nextStep: /again/ },
  {
    name: 'it is not installed',
    turn: pass,
    breakIt: ({ home }) => unlinkSync(join(home, 'bin', 'codex')),
    env: ({ home }) => ({ PATH: `${join(home, 'bin')}:${cleanEnvironment().PATH}` }),
    failure: 'not-installed',
    why: /Codex was not found/,
    nextStep: /npm i -g @openai\/codex/,
  },
  {
    name: 'there is no folder for temporary files',
    turn: pass,
    env: ({ home }) => ({ TMPDIR: join(home, 'nowhere') }),
    failure: 'crashed',
    why: /Codex could not be asked/,
    nextStep: /temporary files/,
  },
  {
    name: 'secrets cannot be blanked',
    config: "review:\n  redaction:\n    patterns: ['(x+x+)+y']\n",
    turn: pass,
    failure: 'rejected',
    why: /Secrets could not be redacted, so nothing was sent/,
    nextStep: /review\.redaction\.patterns/,
  },
]

/** Text on which the pattern above never ends. */
const text = `console.log("${'x'.repeat(60)}")\n`

const silent = { exitCode: 0, user: null, model: null, blocks: false, stdout: '', stderr: '' }
const notReviewed = (what: string, { why, nextStep }: Row): object => ({
  exitCode: 0,
  blocks: false,
  model: null,
  stderr: '',
  user: expect.toSatisfy(
    (user: string) => user.startsWith(`plan-gate: ${what} was not reviewed: `) && why.test(user) && nextStep.test(user),
  ),
})

/** How it comes about, what was open before, and what a failure of the reviewer comes to. */
type Event = {
  name: string
  kind: string
  open: boolean
  fire: (worktree: ReflectWorktree, session: string, env: { [name: string]: string }) => Promise<HookResult>
  expected: (row: Row) => object
}

const events: readonly Event[] = [
  {
    name: 'PostToolUse',
    kind: 'change',
    open: true,
    fire: ({ edit }, session_id, env) => edit('src/app.ts', text, { session_id }, env),
    expected: (row) => notReviewed('the change to src/app.ts', row),
  },
  {
    name: 'PostToolUseFailure',
    kind: 'failure',
    open: true,
    fire: ({ fail }, session_id, env) => fail('npm test', `Exit code 1\n${text}`, { session_id }, env),
    expected: (row) => notReviewed('the failure of `npm test`', row),
  },
  {
    name: 'PreCompact',
    kind: 'compaction',
    open: true,
    fire: ({ compact }, session_id, env) => compact({ session_id }, env),
    expected: () => silent,
  },
  {
    name: 'Stop',
    kind: 'stop',
    open: false,
    fire: ({ stop }, session_id, env) => stop({ session_id, last_assistant_message: text }, env),
    expected: ({ why, nextStep }) => ({
      exitCode: 2,
      blocks: true,
      user: expect.stringMatching(why),
      model: expect.toSatisfy(
        (model: string) =>
          model.startsWith('plan-gate: do not stop yet: the final review of your work failed') &&
          why.test(model) &&
          nextStep.test(model) &&
          model.includes('You are not held back a second time'),
      ),
    }),
  },
]

const remembered = { hash: 'h', verdict: 'PASS', at: Date.now(), path: 'src/other.ts', summary: '' }

describe('a reviewer that fails', () => {
  it.each(rows)('lets all through but the stop, and remembers nothing: $name', async (row) => {
    const { turn } = row
    let worktree: ReflectWorktree | undefined
    const turns = (): Turn => (typeof turn === 'function' ? turn(worktree as ReflectWorktree) : turn)
    worktree = await reflectWorktree(turns, { config: row.config ?? '{}\n', files: { 'src/old.ts': 'old\n' } })
    writeTranscript(worktree, text)
    row.breakIt?.(worktree)
    const env = row.env?.(worktree) ?? {}
    const fireAndCheck = async ({ name, open, fire, expected }: Event): Promise<void> => {
      const { putState, state, stop } = worktree
      const before = { fails: { fails: open ? [openFail('src/old.ts')] : [] }, memory: { entries: [remembered] } }
      putState(before, name)
      const result = await fire(worktree, name, env)
      expect({ name, result }).toEqual({ name, result: expect.objectContaining(expected(row)) })
      expect({ name, ...state(name) }).toMatchObject({ name, ...before })
      if (name === 'Stop') expect(await stop({ session_id: name, stop_hook_active: true }, env)).toEqual(silent)
    }
    if (row.oneByOne) for (const event of events) await fireAndCheck(event)
    else await Promise.all(events.map(fireAndCheck))
    const recorded = worktree
      .events()
      .flatMap(({ type, kind, failure }) => (type === 'reflection-unavailable' ? [`${kind}: ${failure}`] : []))
    expect(recorded.sort()).toEqual(events.map(({ kind }) => `${kind}: ${row.failure}`).sort())
    expect(codexProcesses(worktree)).toEqual([])
  })
})

describe('a reviewer that answers garbage', () => {
  const garbage: { readonly [name: string]: string } = {
    'prose without a verdict': 'I have read it, and it is what it is.',
    'a verdict too far down': '1\n2\n3\n4\n5\nFAIL',
    'two verdicts at once': 'PASS\nVerdict: FAIL\nVerdict: PASS',
    characters: '\u0000\u001b[31m\ufffd{"a":',
    'the verdict of another form': '{"verdict":"APPROVED","is_optimal":true}',
  }

  it('is UNCERTAIN, which only a stop is held by', async () => {
    let answer = ''
    const worktree = await reflectWorktree(() => says(answer), { files: { 'src/old.ts': 'old\n' } })
    const { edit, fail, stop, state, putState, events: recorded } = worktree
    const open = [openFail('src/app.ts')]
    const uncertain = { exitCode: 0, blocks: false, user: expect.stringMatching(/: UNCERTAIN\./) }
    for (const [name, words] of Object.entries(garbage)) {
      answer = words
      const [one, other] = [{ session_id: `1 ${name}` }, { session_id: `2 ${name}` }]
      putState({ fails: { fails: open } }, one.session_id)
      const told = [await edit('src/app.ts', text, one), await fail('npm test', 'Exit code 1', one)]
      expect({ name, told }).toMatchObject({ name, told: [uncertain, uncertain] })
      // What was open about the very file stays open.
      expect({ name, ...state(one.session_id).fails }).toEqual({ name, fails: open })
      const held = await stop(other)
      expect({ name, ...held }).toMatchObject({ name, exitCode: 2, blocks: true })
      expect(held.model).toMatch(/the final review of your work says UNCERTAIN/)
      expect(state(other.session_id).fails.fails).toEqual([])
    }
    const verdicts = recorded().flatMap(({ type, verdict }) => (type === 'reflected' ? [verdict] : []))
    expect(verdicts).toEqual(Array(3 * Object.keys(garbage).length).fill('UNCERTAIN'))
    expect(codexProcesses(worktree)).toEqual([])
  })
})
