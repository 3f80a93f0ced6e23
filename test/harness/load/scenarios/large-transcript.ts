import { writeFileSync } from 'node:fs'
import { fireHook } from '../run-measured.ts'
import { must, type Scenario } from '../scenario.ts'
import { beginApproved, mustHaveReflected, withTinyReviewer } from '../tiny-reviewer.ts'

/** Claude wants to stop, with the record of a session of days behind it. */
export const largeTranscript: Scenario = {
  name: 'a large transcript at Stop',
  unit: 'kB',
  sizes: { full: [1_000, 10_000, 50_000], quick: [500, 12_000] },
  run: (size) =>
    withTinyReviewer(async (worktree, reviewer) => {
      await beginApproved(worktree)
      worktree.write('src/app.ts', 'export const done = true\n')
      const transcript = worktree.at('.git/transcript.jsonl')
      writeFileSync(transcript, transcriptOf(size))
      const ran = await fireHook(worktree.root, 'stop', {
        hook_event_name: 'Stop',
        stop_hook_active: false,
        transcript_path: transcript,
      })
      must(reviewer.asked() === 1, `the second reviewer was asked ${reviewer.asked()} times`)
      must(reviewer.mostSent() < 200_000, `the second reviewer was sent ${reviewer.mostSent()} bytes`)
      must(!ran.stdout.includes('"block"'), `a PASS kept Claude from stopping: ${ran.stdout.slice(0, 300)}`)
      await mustHaveReflected(worktree.root)
      return [{ what: 'Stop', ...ran }]
    }),
}

function transcriptOf(kilobytes: number): string {
  const lines: string[] = []
  for (let length = 0, n = 1; length < kilobytes * 1000; n += 1) {
    const text = `Step ${n}: I have read module ${n % 97} and changed line ${n * 7}. `.repeat(12)
    const line = JSON.stringify({
      type: n % 2 === 0 ? 'assistant' : 'user',
      message: { role: n % 2 === 0 ? 'assistant' : 'user', content: [{ type: 'text', text }] },
      uuid: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    })
    lines.push(line)
    length += line.length + 1
  }
  return `${lines.join('\n')}\n`
}
