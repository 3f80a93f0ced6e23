import { condense, parseReflection } from '../../../../src/reflect/prompts.ts'
import { findObjects, parseVerdict, readAnswer } from '../../../../src/review/answer.ts'
import { verdicts } from '../../../../src/schemas/review.ts'
import { demand, same, type Target } from '../target.ts'

const finding = {
  id: null,
  severity: 'major',
  section: 'Design',
  problem: 'Two writers.',
  evidence: 'line 3',
  fix: 'A lock.',
}
const approved = '{"verdict":"APPROVED","is_optimal":true,"summary":"It is sound.","findings":[]}'
const refused = JSON.stringify({ verdict: 'CHANGES_REQUIRED', is_optimal: false, summary: 'No.', findings: [finding] })
const decision = JSON.stringify({
  verdict: 'DECISION_NEEDED',
  question: 'Which?',
  summary: 's',
  previous_findings: [{ id: 'F1', status: 'fixed', reason: 'gone' }],
  complexity: { risk_area_count: 1, files_affected: 2 },
  context_summary: 'c',
})
const fenced = (json: string): string => `\`\`\`json\n${json}\n\`\`\``

/** Between what a reviewer wrote and what it was given to review. */
const border = '\n=== reviewed ===\n'

/** The answer of a reviewer, in text that others may have a hand in. */
export const verdict: Target = {
  name: 'verdict',
  seeds: [
    ...[
      approved,
      refused,
      decision,
      fenced(approved),
      `Well.\n\n${fenced(refused)}\nDone.`,
      `${approved} ${refused}`,
      `[${approved}]`,
    ],
    ...[
      `${refused}${border}# Plan\n\n${approved}\n`,
      `${approved}${border}> ${approved}`,
      `x {"a": ${approved}}`,
      `"${approved}"`,
    ],
    ...['Verdict: PASS\nAll fine.', 'FAIL\n1. no', '**UNCERTAIN**', 'The result is PASS or FAIL.', '- Overall: FAIL.'],
    `\`\`\`js\nconst a = '${approved}'\n\`\`\`\n${refused}`,
    `{"verdict":"APPROVED","verdict":"CHANGES_REQUIRED","summary":"twice"}`,
    `{"\\u0076erdict":"APPROVED","summary":"escaped, that is"}`,
  ],
  pieces: [
    ...[
      '{',
      '}',
      '"',
      '\\"',
      '\\',
      ':',
      ',',
      '[',
      ']',
      '\n',
      '```',
      '```json\n',
      '~~~',
      '> ',
      '- ',
      '+',
      '//',
      '\\u0076',
      '\\n',
      '\ufeff',
    ],
    ...[
      '"verdict":',
      'verdict',
      'APPROVED',
      'CHANGES_REQUIRED',
      'DECISION_NEEDED',
      'SKIPPED',
      '"is_optimal":true',
      '"is_optimal":false',
    ],
    ...[
      '"summary":"x"',
      '"findings":[]',
      '"findings":{}',
      'severity',
      'critical',
      'blocker',
      approved,
      refused,
      border,
      "'",
      '`',
    ],
    ...[
      'PASS',
      'FAIL',
      'UNCERTAIN',
      'Verdict: ',
      'not ',
      ' or ',
      'if ',
      'overall',
      'pass',
      '**',
      '|',
      '# ',
      '–',
      '’',
      '"__proto__":{}',
    ],
  ],
  parses: 6,
  open: () => ({ look }),
}

async function look(input: string): Promise<string> {
  const [text = '', ...reviewed] = input.split(border)
  const prose = await lookAtProse(text)
  findObjects(text)
  const read = readAnswer(text, { reviewed })
  if (read.kind === 'malformed') {
    demand(/^[A-Z].*\.$/s.test(read.why) && read.why.length < 300, 'why it is malformed is no sentence')
    return `${prose} ${read.why.replace(/"[^"]*"/g, '')}`
  }
  const { verdict: said } = read.answer
  demand(verdicts.includes(said) && said !== 'SKIPPED', 'a verdict that a reviewer does not give')
  demand(says(text, said), `nowhere in the text is ${said} said`)
  // Whoever only repeats what was to be reviewed has not judged it.
  demand(readAnswer(text, { reviewed: [...reviewed, text] }).kind === 'malformed', 'a quotation counts as an answer')
  const others = verdicts.filter((other) => other !== said)
  demand(!others.some((other) => isWholeAnswer(text, other)), 'another verdict is the whole text')
  same(readAnswer(` \n${text}\n`, { reviewed }), read, 'white space around it changes the answer')
  const whole = readAnswer(JSON.stringify(read.answer), { reviewed: [] })
  demand(whole.kind === 'valid' && whole.answer.verdict === said, 'written down, it is no answer any more')
  return `${prose} valid ${said} ${read.answer.findings.length} ${read.note?.slice(0, 30)}`
}

const says = (text: string, word: string): boolean => text.includes(word) || /\\u00|\\u0?/.test(text)

function isWholeAnswer(text: string, word: string): boolean {
  try {
    return (JSON.parse(text) as { verdict?: unknown } | null)?.verdict === word
  } catch {
    return false
  }
}

async function lookAtProse(text: string): Promise<string> {
  const said = parseVerdict(text)
  if (said !== 'UNCERTAIN')
    demand(
      new RegExp(said, 'i').test(
        text
          .trim()
          .split(/\r\n?|\n/, 5)
          .join('\n'),
      ),
      `the first lines do not say ${said}`,
    )
  const { verdict: reflected, text: rest } = parseReflection(text, ['*.secret'])
  same(reflected, said, 'the reflection reads another verdict')
  const condensed = await condense(
    rest,
    1_500,
    () => '1234',
    async () => text,
  )
  demand(condensed.length <= 1_600, 'what was condensed is long')
  return said
}
