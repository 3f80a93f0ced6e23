import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readTranscript } from '../../../src/hooks/read-transcript.ts'
import { tailOfTranscript } from '../../../src/reflect/tail-of-transcript.ts'
import { demand, type Opened, same, type Target } from '../target.ts'

const line = (role: string, content: unknown, more: object = {}): string =>
  JSON.stringify({ type: role, message: { role, content }, ...more })
const session = [
  JSON.stringify({ type: 'summary', summary: 'x' }),
  line('user', 'Do it.'),
  line('assistant', [
    { type: 'text', text: 'I will.' },
    { type: 'tool_use', name: 'Bash', input: { command: 'npm test' } },
  ]),
  line('user', [{ type: 'tool_result', is_error: true, content: [{ type: 'text', text: 'Exit code 1' }] }]),
  line('assistant', 'Done.', { isSidechain: true }),
  line('assistant', [
    { type: 'thinking', thinking: 'hm' },
    { type: 'text', text: 'All is done.' },
  ]),
]

/** Claude Code's own record of a session. */
export const transcript: Target = {
  name: 'transcript',
  seeds: [
    session.join('\n'),
    `${session.join('\n')}\n`,
    session.join('\r\n'),
    ...session,
    'half": {"role":"assistant"}}\n',
    '',
  ],
  pieces: [
    '\n',
    '\r\n',
    '"role":"assistant"',
    '"role": "user"',
    ...session.map((one) => `\n${one}\n`),
    '{',
    '}',
    '[',
    ']',
    '"content":',
    '"text"',
    '"tool_use"',
    '"tool_result"',
    '"is_error":true',
    '"isSidechain":true',
    'null',
    'é',
    '\ud83d',
  ],
  parses: 2,
  open,
}

function open(): Opened {
  const folder = mkdtempSync(join(tmpdir(), 'plan-gate-fuzz-'))
  const path = join(folder, 't.jsonl')
  const look = (text: string): string => {
    const tail = tailOfTranscript(text, 2_000)
    demand(tail.length <= 2_100, 'more is told of it than there is room for')
    if (tail.includes('[used'))
      demand(
        text.includes('tool_use') || text.includes('\\u') || text.includes('[used'),
        'a tool was used that nobody used',
      )
    // Files are slow, so a part of the inputs has to do.
    if (text.length % 8 === 0) {
      writeFileSync(path, text)
      same(
        tailOfTranscript(readTranscript(path), 2_000),
        tailOfTranscript(Buffer.from(text).toString('utf8'), 2_000),
        'from the file it is read as something else',
      )
    }
    return `${tail.split('\n').length} ${tail.replace(/[^[\]a-z]/g, '').slice(0, 12)}`
  }
  return { look, close: () => rmSync(folder, { recursive: true, force: true }) }
}
