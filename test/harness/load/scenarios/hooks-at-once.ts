import { readDenials } from '../../../../src/state/sessions.ts'
import { gatedWorktree } from '../../../support/gated-worktree.ts'
import { mustBeWhole } from '../must-be-whole.ts'
import { fireHook, type Ran, sumOf } from '../run-measured.ts'
import { must, type Scenario } from '../scenario.ts'

/** Before and after calls of all kinds, at the same moment in one worktree: each gets its own right answer. */
export const hooksAtOnce: Scenario = {
  name: 'hooks at once in one worktree',
  unit: 'hooks',
  sizes: { full: [20, 60, 200], quick: [30] },
  run: async (size) => {
    const worktree = await gatedWorktree({ 'src/a.ts': 'one\n' })
    try {
      const { root, at } = worktree
      await fireHook(root, 'session-start', { hook_event_name: 'SessionStart', source: 'startup' })
      // Each hook after a command finds this, and one of them puts it on record.
      worktree.write('src/a.ts', 'two\n')
      const since = performance.now()
      const all = await Promise.all(Array.from({ length: size }, (_, i) => fireOne(root, at, i)))
      const ms = performance.now() - since
      const wrong = all.filter(({ ran, isRight }) => !isRight(ran) && !isLate(ran))
      must(wrong.length === 0, `${wrong.length} of ${size} hooks answered wrongly: ${wrong[0]?.ran.stderr}`)
      const late = all.filter(({ ran }) => isLate(ran)).length
      if (late > 0) console.error(`${late} of ${size} hooks had to refuse, since they took longer than they may`)
      const inTime = (kind: Kind): number[] =>
        all.flatMap((one, i) => (one.kind === kind && !isLate(one.ran) ? [i] : []))
      for (const kind of ['denied', 'silent', 'vetoed', 'drift'] as const)
        must(inTime(kind).length > 0, `all that should have been ${kind} were late, so nothing is shown`)
      const noted = readDenials(root, 'load').map(({ target }) => target)
      const denied = inTime('denied')
      must(noted.length >= denied.length, `${denied.length} denials, ${noted.length} noted`)
      must(new Set(noted).size === noted.length, 'a denial was noted twice')
      const events = await mustBeWhole(root, { approved: false })
      const vetoed = events.flatMap(({ type, path }) => (type === 'config-change-vetoed' ? [path] : []))
      must(new Set(vetoed).size === vetoed.length, 'a veto is on record twice')
      for (const i of inTime('vetoed'))
        must(vetoed.includes(skillFile(at, i)), `the veto of hook ${i} is not on record`)
      const drift = events.filter(({ type }) => type === 'drift-found').length
      must(drift >= 1 && drift <= size, `${drift} times the same drift was put on record`)
      must(worktree.git('status', '--porcelain').trim() === 'M src/a.ts', 'git status shows more than there is')
      return [
        {
          what: 'all of them',
          ...sumOf(
            all.map(({ ran }) => ran),
            ms,
          ),
        },
      ]
    } finally {
      worktree.remove()
    }
  },
}

type Kind = 'denied' | 'silent' | 'vetoed' | 'drift'
type One = { kind: Kind; ran: Ran; isRight: (ran: Ran) => boolean }

/** On a machine too busy to judge in its seconds, the gate refuses; that is right, and is no note of a denial. */
const isLate = (ran: Ran): boolean => ran.exitCode === 2 && /took longer than/.test(ran.stdout + ran.stderr)

const skillFile = (at: (path: string) => string, i: number): string => at(`.claude/skills/plan-with-review/${i}.md`)

async function fireOne(root: string, at: (path: string) => string, i: number): Promise<One> {
  const before = (tool_name: string, tool_input: object) =>
    fireHook(root, 'pre-tool-use', { hook_event_name: 'PreToolUse', tool_name, tool_input }, { exitCodes: [0, 2] })
  const isDenied = (words: RegExp) => (ran: Ran) => ran.exitCode === 2 && words.test(ran.stdout)
  const isSilent = (ran: Ran): boolean => ran.exitCode === 0 && ran.stdout === ''
  switch (i % 5) {
    case 0:
      return {
        kind: 'denied',
        ran: await before('Write', { file_path: at(`src/new-${i}.ts`), content: 'x' }),
        isRight: isDenied(new RegExp(`src/new-${i}\\.ts is not allowed`)),
      }
    case 1:
      return {
        kind: 'silent',
        ran: await before('Bash', { command: `git log --oneline -${i} | head -3` }),
        isRight: isSilent,
      }
    case 2:
      return {
        kind: 'denied',
        ran: await before('Bash', { command: `rm -rf src-${i}` }),
        isRight: isDenied(/`rm` is not on the list/),
      }
    case 3: {
      const event = { hook_event_name: 'ConfigChange', source: 'skills', file_path: skillFile(at, i) }
      return {
        kind: 'vetoed',
        ran: await fireHook(root, 'config-change', event, { exitCodes: [0, 2] }),
        isRight: ({ stderr }) => stderr.includes('was refused'),
      }
    }
    default:
      return {
        kind: 'drift',
        ran: await fireHook(root, 'post-tool-use', {
          hook_event_name: 'PostToolUse',
          tool_name: 'Bash',
          tool_input: { command: `ls ${i}` },
          tool_response: {},
        }),
        isRight: ({ stdout }) => /"decision":"block".*src\/a\.ts: changed/.test(stdout),
      }
  }
}
