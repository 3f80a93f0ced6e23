import { readDenials } from '../../../src/store/read-denials.ts'
import { readEvents } from '../../../src/store/read-events.ts'
import { verifyLedger } from '../../../src/store/verify-ledger.ts'
import { gatedWorktree } from '../../support/gated-worktree.ts'
import { fireHook, type Ran } from '../run-measured.ts'
import { must, type Scenario } from '../scenario.ts'

/** Before and after calls of all kinds, at the same moment in one worktree: each gets its own right answer. */
export const hooksAtOnce: Scenario = {
  name: 'hooks at once in one worktree',
  unit: 'hooks',
  sizes: { full: [20, 60, 200], quick: [40] },
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
      const wrong = all.filter(({ ran, isRight }) => !isRight(ran))
      must(wrong.length === 0, `${wrong.length} of ${size} hooks answered wrongly: ${wrong[0]?.ran.stderr}`)
      const denied = all.filter(({ isDenial }) => isDenial).length
      must(readDenials(root, 'load').length === denied, `${denied} denials, ${readDenials(root, 'load').length} noted`)
      must(verifyLedger(root).kind === 'intact', 'the ledger is broken')
      const read = readEvents(root)
      const drift = read.kind === 'read' ? read.events.filter(({ type }) => type === 'drift-found').length : 0
      must(drift >= 1 && drift <= size, `${drift} times the same drift was put on record`)
      must(worktree.git('status', '--porcelain').trim() === 'M src/a.ts', 'git status shows more than there is')
      return [{ what: 'all of them', ...sumOf(all.map(({ ran }) => ran)), ms }]
    } finally {
      worktree.remove()
    }
  },
}

type One = { ran: Ran; isRight: (ran: Ran) => boolean; isDenial: boolean }

async function fireOne(root: string, at: (path: string) => string, i: number): Promise<One> {
  const before = (tool_name: string, tool_input: object) =>
    fireHook(root, 'pre-tool-use', { hook_event_name: 'PreToolUse', tool_name, tool_input }, { exitCodes: [0, 2] })
  const isDenied = (words: RegExp) => (ran: Ran) => ran.exitCode === 2 && words.test(ran.stdout)
  const isSilent = (ran: Ran): boolean => ran.exitCode === 0 && ran.stdout === ''
  switch (i % 4) {
    case 0:
      return {
        ran: await before('Write', { file_path: at(`src/new-${i}.ts`), content: 'x' }),
        isRight: isDenied(new RegExp(`src/new-${i}\\.ts is not allowed`)),
        isDenial: true,
      }
    case 1:
      return {
        ran: await before('Bash', { command: `git log --oneline -${i} | head -3` }),
        isRight: isSilent,
        isDenial: false,
      }
    case 2:
      return {
        ran: await before('Bash', { command: `rm -rf src-${i}` }),
        isRight: isDenied(/`rm` is not on the list/),
        isDenial: true,
      }
    default:
      return {
        ran: await fireHook(root, 'post-tool-use', {
          hook_event_name: 'PostToolUse',
          tool_name: 'Bash',
          tool_input: { command: `ls ${i}` },
          tool_response: {},
        }),
        isRight: ({ stdout }) => /"decision":"block".*src\/a\.ts: changed/.test(stdout),
        isDenial: false,
      }
  }
}

const sumOf = (all: readonly Ran[]) => ({
  cpu_ms: all.reduce((sum, { cpu_ms }) => sum + cpu_ms, 0),
  peak_mb: Math.max(...all.map(({ peak_mb }) => peak_mb)),
  read_kb: all.reduce((sum, { read_kb }) => sum + read_kb, 0),
})
