import { stringify } from 'yaml'
import { describeProblems } from '../../../../src/config/errors.ts'
import { parseConfig } from '../../../../src/config/load.ts'
import { matchesTool } from '../../../../src/gate/tools.ts'
import { makeConfig } from '../grammar/config.ts'
import { readElsewhere } from '../oracle/yaml-readers.ts'
import { demand, type Failure, type Opened, same, type Target } from '../target.ts'

/** `plan-gate.yaml`. */
export const config: Target = {
  name: 'config',
  seeds: [
    ...[
      '',
      '# nothing\n',
      '{}',
      'gate: {}\n',
      'gate:\n  scope: ask\n',
      'plan:\n  max_revisions: 3\n',
      '---\n...\n',
      '\ufeffgate:\n',
    ],
    'gate:\n  scope: deny\n  bash:\n    compound: false\n    allow: [npm test, "make check"]\n  tools:\n    allow:\n      - mcp__lab__*\n',
    'review:\n  routes:\n    - backend: codex\n      when: [always]\n      capabilities: [sandbox]\n      fail_mode: fallthrough\n      timeout: 300\n      retries: 1\n    - backend: checklist\n      when: [always]\n',
    'gpt_review:\n  pass_budgets:\n    pass1_input: 4000\n  reasoning_mode: single-pass\n',
    'review:\n  multipass:\n    adaptive: false\n    budgets: {}\n  redact:\n    patterns: ["a+", "(b|c)*"]\n',
    'reflect:\n  enabled: true\n  max_calls: 10\nworktree:\n  setup: [npm ci]\n',
    'plan: &p\n  max_revisions: 5\ngate: *p\n<<: *p\n',
    'a: [1, {b: c}, "d\\n", \'e\', |\n  f\n , >\n  g\n]\n? h\n: i\n',
  ],
  pieces: [
    ...[
      'plan:',
      'gate:',
      'review:',
      'reflect:',
      'worktree:',
      'gpt_review:',
      'pass_budgets:',
      'multipass:',
      'routes:',
      'bash:',
    ],
    ...[
      'scope: ask',
      'tools:',
      'allow:',
      'backend: ',
      'codex',
      'checklist',
      'when: [always]',
      'fail_mode: hard_fail',
      'redact:',
    ],
    ...[
      'max_revisions: ',
      'required_sections: ',
      'max_bytes: ',
      'timeout_seconds: ',
      '__proto__: ',
      'constructor: ',
      'patterns:',
    ],
    ...[
      '\n',
      '\n  ',
      '\n    ',
      '\n      - ',
      '\n\t',
      '- ',
      '? ',
      ': ',
      '[',
      ']',
      '{',
      '}',
      ',',
      '"',
      "'",
      '|\n',
      '>\n',
      '#',
      ' #',
    ],
    ...[
      '&a ',
      '*a',
      '!',
      '!!int ',
      '---\n',
      '...\n',
      '%YAML 1.1\n',
      '\\x',
      '1',
      '.inf',
      'off',
      'true',
      'null',
      '~',
      '<<: ',
      '0x1f',
    ],
    ...['\r', ' ', '\\', '@', '`', '\ud800', '\ufeff', '\0'],
  ],
  make: makeConfig,
  parses: 2,
  open,
}

const atOnce = 500

/** What is valid means the same to two other readers of YAML, in what the gate goes by. */
function open(): Opened {
  const waiting: string[] = []
  let compared = 0
  const settle = (): readonly Failure[] => {
    if (waiting.length < atOnce) return []
    const texts = waiting.splice(0)
    compared += texts.length
    const readings = readElsewhere(texts)
    return texts.flatMap((input, at) => {
      const other = (readings[at] ?? []).find(
        ({ by, value }) =>
          canMerge(by, input) && gateOf(JSON.stringify(typeof value === 'object' ? value : null)) !== gateOf(input),
      )
      return other === undefined
        ? []
        : [{ input, why: `${other.by} reads another gate: ${JSON.stringify(other.value).slice(0, 300)}` }]
    })
  }
  const lookAt = (text: string): string => {
    const word = look(text)
    if (word.startsWith('valid')) waiting.push(text)
    return word
  }
  return { look: lookAt, settle, figures: () => ({ 'valid ones before Bun and js-yaml': compared }) }
}

/** js-yaml merges nothing by `<<`, as YAML 1.2 has it. */
const canMerge = (by: string, text: string): boolean => by === 'Bun' || !text.includes('<<')

function gateOf(text: string): string {
  const parsed = parseConfig(text)
  return parsed.kind === 'valid' ? JSON.stringify(parsed.config.gate) : 'invalid'
}

function look(text: string): string {
  const parsed = parseConfig(text)
  if (parsed.kind === 'invalid') {
    const places = parsed.problems.map(({ line, column }) => line * 1e6 + column)
    demand(
      places.length > 0 && places.every((place, index) => place >= (places[index - 1] ?? 0)),
      'problems not in order',
    )
    for (const { line, column, message, hint = '' } of parsed.problems) {
      demand(line >= 1 && column >= 1, 'a problem outside of the file')
      demand(!/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/.test(message + hint), 'a message that a terminal obeys')
    }
    const lines = describeProblems(parsed.problems, 'plan-gate.yaml')
    demand(
      lines.every((line) => line.length < 2_000),
      'a problem that has no end',
    )
    return (parsed.problems[0]?.message ?? '').replace(/"[^"]*"|\d+/g, '').slice(-60)
  }
  const again = parseConfig(stringify(parsed.config))
  same(
    again.kind === 'valid' ? again.config : again.problems,
    parsed.config,
    'written down, it is read as something else',
  )
  matchesTool(parsed.config.gate.tools.allow, 'mcp__lab__note')
  return `valid ${parsed.notices.length} ${JSON.stringify(parsed.config).length >> 4}`
}
