import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CompiledConfig, defaultConfig } from '../../../../src/config/schema.ts'
import { readTranscriptTail, tailOfTranscript } from '../../../../src/reflect/at-stop.ts'
import { demand, type Opened, type Target } from '../target.ts'

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

const compiled = { config: defaultConfig } as unknown as CompiledConfig
const most = 2_000

function open(): Opened {
  const folder = mkdtempSync(join(tmpdir(), 'plan-gate-fuzz-'))
  const path = join(folder, 't.jsonl')
  const look = (text: string): string => {
    const tail = tailOfTranscript(text, most, (said) => said.replaceAll('Done', ''))
    demand(tail.length <= most + 100 && !tail.includes('Done'), 'more is told of it than may be')
    demand(tailOfTranscript(text, most, () => null).length <= 200_000, 'what cannot be cleaned has no end')
    // Files and redaction are slow, so a part of the inputs has to do.
    if (text.length % 8 === 0) {
      writeFileSync(path, text)
      demand(readTranscriptTail(path, most, compiled).length <= 200_000, 'from the file more is told than may be')
    }
    return `${tail.split('\n').length} ${tail.replace(/[^[\]a-z]/g, '').slice(0, 12)}`
  }
  return { look, close: () => rmSync(folder, { recursive: true, force: true }) }
}
