import type { GatedWorktree } from '../../../support/gated-worktree.ts'
import { mustBeWhole } from '../must-be-whole.ts'
import { fireHook, medianOf, type Ran } from '../run-measured.ts'
import { must, type Scenario } from '../scenario.ts'
import { beginApproved, mustHaveReflected, withTinyReviewer } from '../tiny-reviewer.ts'

/** A call of a tool with so much in it, before and after an approval, and looked at by the second reviewer. */
export const largeToolInput: Scenario = {
  name: 'a large tool input',
  unit: 'kB',
  sizes: { full: [10, 1_000, 10_000], quick: [10, 1_000] },
  run: (size) =>
    withTinyReviewer(async (worktree, reviewer) => {
      const content = codeOf(size)
      const rows = [
        { what: 'the gate, a Write', ...(await medianOf(3, () => denied(worktree, 'Write', content))) },
        { what: 'the gate, a command', ...(await medianOf(3, () => denied(worktree, 'Bash', content))) },
      ]
      await mustBeWhole(worktree.root, { approved: false })
      await beginApproved(worktree)
      const followed = await afterWrite(worktree, content)
      must(reviewer.asked() >= 1, 'the second reviewer was not asked')
      must(reviewer.mostSent() < 500_000, `the second reviewer was sent ${reviewer.mostSent()} bytes at once`)
      const again = await medianOf(3, () => afterWrite(worktree, content))
      await mustHaveReflected(worktree.root)
      return [...rows, { what: 'a change followed', ...followed }, { what: 'the same change again', ...again }]
    }),
}

/** Lines that differ, as code has them. */
function codeOf(kilobytes: number): string {
  const lines: string[] = []
  for (let length = 0, n = 1; length < kilobytes * 1000; n += 1) {
    const line = `export const value${n} = compute(${n * 7}, 'text number ${n % 97}', { deep: [${n % 13}] })`
    lines.push(line)
    length += line.length + 1
  }
  return lines.join('\n')
}

async function denied({ root, at }: GatedWorktree, tool: 'Write' | 'Bash', content: string): Promise<Ran> {
  const tool_input =
    tool === 'Write'
      ? { file_path: at('src/new.ts'), content }
      : { command: `cat > src/new.ts <<'EOF'\n${content}\nEOF` }
  const event = { hook_event_name: 'PreToolUse', tool_name: tool, tool_input }
  const ran = await fireHook(root, 'pre-tool-use', event, { exitCodes: [2] })
  must(/not allowed|only commands that read/.test(ran.stdout), `it was denied for another reason: ${ran.stdout}`)
  must(ran.stdout.length < 5_000, 'the denial repeats the input')
  return ran
}

async function afterWrite({ root, at, write }: GatedWorktree, content: string): Promise<Ran> {
  write('src/app.ts', content)
  const ran = await fireHook(root, 'post-tool-use', {
    hook_event_name: 'PostToolUse',
    tool_name: 'Write',
    tool_input: { file_path: at('src/app.ts'), content },
    tool_response: { type: 'update', filePath: at('src/app.ts'), content, originalFile: 'export {}\n' },
  })
  must(!ran.stdout.includes('"block"'), `the change was blocked: ${ran.stdout.slice(0, 300)}`)
  return ran
}
