import { describe, expect, it } from 'vitest'
import { readPlanScope } from '../../../../src/gate/scope.ts'
import { type ChecklistSetup, checkPlan } from '../../../../src/reviewers/checklist/plan.ts'

const there = new Set(['src', 'src/login.ts', 'src/session.ts', 'test', 'test/login.test.ts', 'package.json', 'docs'])

const setup: ChecklistSetup = {
  requiredSections: ['Goal', 'Context', 'Approach', 'Changes', 'Risks', 'Open Questions'],
  maxBytes: 100_000,
  readChanges: readPlanScope,
  exists: (path) => there.has(path),
}

const sections = {
  Goal: 'A wrong password is refused. `npm test` shows it.',
  Context: '`src/login.ts:12` lets everybody in.',
  Approach: 'One check before the session starts. A proxy would be one more service.',
  Changes: '- `src/login.ts` (changed): checks the password first\n- `test/login.test.ts` (changed): a wrong password',
  Risks: 'Old sessions stay valid for a day.',
  'Open Questions': 'None.',
}

const planWith = (changes: { [section: string]: string | null } = {}): string =>
  `# Login\n\n${Object.entries({ ...sections, ...changes })
    .flatMap(([name, text]) => (text === null ? [] : [`## ${name}\n${text}\n`]))
    .join('\n')}`

/** Each finding as `severity section: problem`. */
const findingsOf = (plan: string, changes: Partial<ChecklistSetup> = {}): string[] =>
  checkPlan(plan, { ...setup, ...changes }).map(
    ({ severity, section, problem }) => `${severity} ${section}: ${problem}`,
  )

describe('a plan that is all there', () => {
  it.each<[string, string]>([
    ['as the skill asks for it', planWith()],
    ['with CRLF', planWith().replaceAll('\n', '\r\n')],
    ['with a byte order mark', `\ufeff${planWith()}`],
    ['in capitals', planWith().replaceAll(/^## .*$/gm, (heading) => heading.toUpperCase())],
    ['with numbered headings', planWith().replaceAll(/^## (?!Changes)/gm, '## 3. ')],
    ['with bold headings and colons', planWith().replaceAll(/^## (?!Changes)(.*)$/gm, '## **$1:**')],
    ['with closed headings', planWith().replaceAll(/^## (.*)$/gm, '## $1 ##')],
    ['with underlined headings', planWith().replaceAll(/^## (?!Changes)(.*)$/gm, '$1\n---')],
    ['with longer headings', planWith().replace('## Risks', '## Risks and mitigations').replace('## Goal', '## Goals')],
    ['with more sections', `${planWith()}\n## Rollout\nAt once.\n`],
    ['with front matter', `---\ntitle: TODO\n---\n${planWith()}`],
    ['with subsections', planWith({ Approach: '### Chosen\nOne check.\n### Other\nA proxy.' })],
    ['with code alone in a section', planWith({ Approach: '```ts\nif (!ok) return // TODO\n```' })],
    ['with a risk that is none', planWith({ Risks: 'None known.' })],
    ['with a rule below', planWith({ 'Open Questions': 'None.\n\n---' })],
  ])('%s has no findings', (_, plan) => {
    expect(findingsOf(plan)).toEqual([])
  })
})

describe('sections', () => {
  it.each<[string, string, string[]]>([
    ['missing', planWith({ Risks: null }), ['major Risks: There is no `## Risks` section.']],
    [
      'two missing',
      planWith({ Risks: null, Context: null }),
      ['major Context: There is no `## Context` section.', 'major Risks: There is no `## Risks` section.'],
    ],
    [
      'at another rank',
      planWith().replace('## Risks', '### Risks'),
      ['major Risks: There is no `## Risks`, but `### Risks`.'],
    ],
    [
      'nearly named',
      planWith().replace('## Risks', '## Risk'),
      ['major Risks: There is no `## Risks`, but `## Risk`.'],
    ],
    [
      'only in a code block',
      `${planWith({ Risks: null })}\n~~~\n## Risks\nNone.\n~~~\n`,
      ['major Risks: There is no `## Risks` section.'],
    ],
    [
      'only in a comment',
      `${planWith({ Risks: null })}\n<!--\n## Risks\nNone.\n-->\n`,
      ['major Risks: There is no `## Risks` section.'],
    ],
    ['empty', planWith({ Risks: '' }), ['major Risks: `## Risks` is empty.']],
    [
      'empty but for a comment',
      planWith({ Risks: '<!-- what could\ngo wrong -->' }),
      ['major Risks: `## Risks` is empty.'],
    ],
    ['empty but for a rule', planWith({ Risks: '***' }), ['major Risks: `## Risks` is empty.']],
    [
      'empty but for subheadings',
      planWith({ Risks: '### Security\n### Speed' }),
      ['major Risks: `## Risks` is empty.'],
    ],
    ['empty but for an empty code block', planWith({ Risks: '```\n\n```' }), ['major Risks: `## Risks` is empty.']],
    ['there twice, once empty', `${planWith()}\n## Risks\n`, []],
    ['a placeholder', planWith({ Risks: 'TBD' }), ['major Risks: "TBD" is a placeholder.']],
    ['a list of one', planWith({ Risks: '- [ ] **TODO**.' }), ['major Risks: "TODO" is a placeholder.']],
    ['dots', planWith({ Goal: '...' }), ['major Goal: "..." is a placeholder.']],
    ['words for later', planWith({ Goal: 'To be written.' }), ['major Goal: "To be written" is a placeholder.']],
    [
      'an open question that is none yet',
      planWith({ 'Open Questions': 'TBD' }),
      ['major Open Questions: "TBD" is a placeholder.'],
    ],
    ['none at all', '# Login\n\nWe add a check.\n', ['major Plan: None of the sections of a plan is there.']],
    ['an empty plan', ' \n\n', ['critical Plan: The plan is empty.']],
  ])('%s', (_, plan, expected) => {
    expect(findingsOf(plan)).toEqual(expected)
  })

  it('are those that are configured', () => {
    expect(findingsOf('## Ziel\nFertig.\n', { requiredSections: ['Ziel'], readChanges: () => [] })).toEqual([])
    expect(findingsOf('Fertig.\n', { requiredSections: [], readChanges: () => [] })).toEqual([])
  })
})

describe('placeholders', () => {
  it.each<[string, string]>([
    ['TODO: name the file.', 'TODO'],
    ['- TODO write this', 'TODO'],
    ['1. FIXME', 'FIXME'],
    ['- [ ] TODO(ada): the limit', 'TODO'],
    ['The limit is decided later (TODO).', 'TODO'],
    ['Error handling: TODO', 'TODO'],
    ['The timeout is TBD.', 'TBD'],
    ['We use [TBD] for it.', 'TBD'],
    ['| Owner | TBD |', 'TBD'],
    ['| Limit | ... |', '...'],
    ['- …', '…'],
    ['???', '???'],
    ['XXX', 'XXX'],
    ['todo', 'todo'],
    ['We call <name of the service> first.', '<name of the service>'],
    ['- <describe the risk>', '<describe the risk>'],
    ['Then <...> follows.', '<...>'],
    ['See [your name here].', '[your name here]'],
    ['Written by [Insert author].', '[Insert author]'],
    ['- [what changes and why]', '[what changes and why]'],
    ['| `src/a.ts` | [what it does there] |', '[what it does there]'],
  ])('%s', (line, mark) => {
    const [found, ...others] = checkPlan(planWith({ Context: `A sentence.\n\n${line}\n` }), setup)
    expect(others).toEqual([])
    expect(found).toEqual({
      id: null,
      severity: 'major',
      section: 'Context',
      problem: `"${mark}" is a placeholder.`,
      evidence: `Line 9: ${line}`,
      fix: 'Write it, or take the line out; what only the user can decide belongs under Open Questions.',
    })
  })

  it.each([
    'Remove the TODO in the parser.',
    'TODO comments are removed as well.',
    'The TODO list app stores its items.',
    'We resolve every FIXME.',
    'No TBD is left.',
    'Call `TODO()` and `<name here>`.',
    'It prints "TODO: nothing" and "...".',
    'See TODO.md and docs/TODO/list.md.',
    'A todo item is a row.',
    'CVE-2024-XXX is one of them.',
    'Size XXXL is new.',
    'One line<br>and another, <details open> and <img src="x">.',
    'It returns `Promise<void>`, a Map<string, number> or Array<Some type here>.',
    'See <https://example.com/a> and <ada@example.com>.',
    'If a < b and c > d, then b wins.',
    'Renders <my-element> and <Button primary>.',
    'Wait, loop, ... and so on.',
    'The array [a, b] and the box [x].',
    'See [the other plan] for more.\n\n[the other plan]: https://example.com',
    '- [x] done',
    '- [the plan](plan.md)',
    'A link to [your profile](https://example.com/TODO).',
    '```\nTODO: in code\n```',
    '~~~~\n```\nTODO: in longer code\n~~~~',
    'First.\n\n    TODO: indented code',
    '<!-- TODO: a note\nTODO: over lines -->\nText.',
    "It's the user's choice, they don't have to.",
  ])('%s is none', (text) => {
    expect(findingsOf(planWith({ Context: `A sentence.\n\n${text}\n` }))).toEqual([])
  })

  it('may be what a question is about', () => {
    expect(findingsOf(planWith({ 'Open Questions': 'Which port? TBD by the user.' }))).toEqual([])
  })

  it('is found after a comment that never ends', () => {
    expect(findingsOf(planWith({ Context: 'Text <!-- open\n\nTODO: this' }))).toHaveLength(1)
  })

  it('is found in the items of a list, however deep', () => {
    expect(findingsOf(planWith({ Context: '- One\n  - Two\n\n      - TODO: three' }))).toHaveLength(1)
  })

  it('is listed twelve times, and then counted', () => {
    const findings = checkPlan(planWith({ Context: `${'TODO: more\n'.repeat(30)}Text.` }), setup)
    expect(findings).toHaveLength(13)
    expect(findings.at(-1)).toMatchObject({
      problem: '18 more places are still to be written.',
      evidence: `${Array.from({ length: 18 }, (_, i) => `Line ${19 + i}`).join(', ')}.`,
    })
  })
})

describe('paths under Changes', () => {
  const missing = (path: string): string =>
    `major Changes: \`${path}\` does not exist, and the plan does not say that it is new.`
  const toBe = (path: string, mark: string): string =>
    `major Changes: \`${path}\` is to be ${mark}, but does not exist.`

  it.each<[string, string[]]>([
    ['We improve the login.', ['major Changes: `## Changes` names no file.']],
    ['- `src/login.ts` (changed)', []],
    ['- `src/logn.ts` (changed): adds a check', [toBe('src/logn.ts', 'changed')]],
    ['- `src/logn.ts`: the check', [missing('src/logn.ts')]],
    ['- src/logn.ts: the check', [missing('src/logn.ts')]],
    ['- [`src/logn.ts`](src/logn.ts): the check', [missing('src/logn.ts')]],
    ['1. `./src/logn.ts:12-20`: the check', [missing('src/logn.ts')]],
    ['* **`src/logn.ts`**: the check', [missing('src/logn.ts')]],
    ['- Update `src/logn.ts`: the check', [toBe('src/logn.ts', 'changed')]],
    ['- `src/login.ts`, `src/logn.ts`: the check', [missing('src/logn.ts')]],
    ['- `src/login.ts` and `src/session.ts`: the check', []],
    ['| `src/login.ts` | changed |\n| `src/logn.ts` | changed |', [toBe('src/logn.ts', 'changed')]],
    ['### `src/logn.ts`\nThe check.', [missing('src/logn.ts')]],
    ['- `src/hash.ts` (new): hashes', []],
    ['- `src/hash.ts` — new: hashes', []],
    ['- New file `src/hash.ts`', []],
    ['- Create `src/hash.ts`', []],
    ['- `src/hash.ts`: a new module for hashes', []],
    ['- `src/hash.ts`\n  - new: hashes', []],
    ['### `src/hash.ts`\n\nNew file. It hashes.', []],
    ['### New files\n- `src/hash.ts`: hashes\n\n### Others\n- `src/login.ts`: uses it', []],
    ['**New files**\n\n- `src/hash.ts`: hashes', []],
    ['Created:\n- `src/hash.ts`', []],
    ['- New\n  - `src/hash.ts`\n- Changed\n  - `src/login.ts`', []],
    ['| `src/hash.ts` | new | hashes |', []],
    ['- `src/login.ts` (changed): imports `src/hash.ts`\n- `src/hash.ts` (new): hashes', []],
    ['- `src/login.ts` (new): the check', []],
    ['- Create `src/login.ts`', []],
    ['- `src/login.ts`: add a new option', []],
    ['- `src/login.ts` - new option', []],
    ['- Add to `src/login.ts` the check', []],
    ['- Add a check to `src/login.ts`', []],
    ['- `src/old.ts` (deleted)', [toBe('src/old.ts', 'deleted')]],
    ['- Delete `src/old.ts`', [toBe('src/old.ts', 'deleted')]],
    ['- `src/session.ts` (deleted)', []],
    ['- `src/hash.ts` (new): drops the old cache', []],
    ['- `src/login.ts` → `src/auth/login.ts`', []],
    [
      '- `src/old.ts` → `src/newer.ts`',
      ['major Changes: Neither `src/old.ts` nor `src/newer.ts` exists, so there is nothing to rename.'],
    ],
    [
      '- Rename `src/old.ts` to `src/newer.ts`',
      ['major Changes: Neither `src/old.ts` nor `src/newer.ts` exists, so there is nothing to rename.'],
    ],
    ['- `src/login.ts` (changed): moves the check to `src/hash.ts`', []],
    ['- `src/logn.ts` (changed): moves the check', [toBe('src/logn.ts', 'changed')]],
    ['- `src/**/*.ts`: imports', []],
    ['- `src/{a,b}.ts`: imports', []],
    ['- `app/[id]/page.tsx`: imports', []],
    ['- `src/`: all files', []],
    ['- `lib/`: all files', [missing('lib/')]],
    ['- `lib/` (new): three files', []],
    ['- `src/` (new files below)', []],
    ['- `src/missing` (changed)', [toBe('src/missing', 'changed')]],
    ['- `feature/login` is the branch\n- `src/login.ts`', []],
    ['- `react-dom/client` is imported\n- `src/login.ts`', []],
    ['- `config.timeout` is read\n- `src/login.ts`', []],
    ['- Node.js 20 is enough\n- `src/login.ts`', []],
    ['- `tsconfig.json`: strict', [missing('tsconfig.json')]],
    ['- `package.json`: a script', []],
    ['- `src/login.ts`: see `src/nowhere.ts` for the idea', []],
    ['The check is like the one in `src/nowhere.ts`.\n- `src/login.ts`', []],
    ['```\n- `src/nowhere.ts` (changed)\n```\n- `src/login.ts`', []],
  ])('%s', (changes, expected) => {
    expect(findingsOf(planWith({ Changes: changes }))).toEqual(expected)
  })

  it.each(['## 4. Changes', '## **Changes**'])('stand under a heading that the gate finds, not %s', (heading) => {
    expect(checkPlan(planWith().replace('## Changes', heading), setup)).toMatchObject([
      { severity: 'major', section: 'Changes', evidence: `Line 12: ${heading}`, fix: 'Write it as `## Changes`.' },
    ])
  })

  it('are reported with their line and with what to write', () => {
    expect(checkPlan(planWith({ Changes: '- `src/logn.ts`: the check' }), setup)).toEqual([
      {
        id: null,
        severity: 'major',
        section: 'Changes',
        problem: '`src/logn.ts` does not exist, and the plan does not say that it is new.',
        evidence: 'Line 13: - `src/logn.ts`: the check',
        fix: 'Correct the path, or write `src/logn.ts` (new).',
      },
    ])
  })

  it('are looked for as they were read, also by another reader', () => {
    const asked: string[] = []
    const exists = (path: string): boolean => asked.push(path) > 0 && false
    const readChanges = (): ReturnType<typeof readPlanScope> => [{ pattern: 'lib/x/', mark: 'unstated', line: 999 }]
    expect(findingsOf(planWith(), { exists, readChanges })).toEqual([missing('lib/x/')])
    expect(new Set(asked)).toEqual(new Set(['lib/x']))
  })

  it('are listed twelve times, and then counted', () => {
    const lines = Array.from({ length: 40 }, (_, i) => `- \`src/f${i}.ts\` (changed)`).join('\n')
    const findings = checkPlan(planWith({ Changes: lines }), setup)
    expect(findings).toHaveLength(13)
    expect(findings.at(-1)).toMatchObject({ severity: 'major', problem: '28 more paths are not as the plan says.' })
  })
})

describe('size', () => {
  it('is limited in bytes, and the line of the limit is named', () => {
    const long = planWith({ Context: `${'ä'.repeat(50)}\n`.repeat(100) })
    expect(findingsOf(long, { maxBytes: 12_000 })).toEqual([])
    expect(checkPlan(long, { ...setup, maxBytes: 8_000 })).toMatchObject([
      {
        severity: 'major',
        section: 'Size',
        problem: 'The plan has 10,452 bytes; at most 8,000 are reviewed.',
        evidence: 'Line 85 is where the limit is reached.',
      },
    ])
  })

  const nasty: readonly [string, string][] = [
    ['prose', planWith({ Context: 'A sentence about `src/login.ts` and its callers.\n'.repeat(4_000) })],
    ['backticks', planWith({ Context: '`'.repeat(200_000) })],
    ['runs of backticks', planWith({ Context: '` `` ``` '.repeat(22_000) })],
    ['lines of backticks', planWith({ Context: `${'`a ``b '.repeat(600)}\n`.repeat(45) })],
    ['quotation marks', planWith({ Context: `${'"\''.repeat(2_000)}\n`.repeat(50) })],
    ['angle brackets', planWith({ Context: `${'<a b '.repeat(900)}\n`.repeat(45) })],
    ['stars', planWith({ Context: `${'*'.repeat(4_900)}a\n`.repeat(40) })],
    ['spaces', planWith({ Context: `TODO${' '.repeat(4_900)}a\n`.repeat(40) })],
    ['comments', planWith({ Context: `${'<!-- '.repeat(990)}\n`.repeat(40) })],
    ['headings', planWith({ Context: '## Risks\n# a\n'.repeat(15_000) })],
    ['colons', planWith({ Context: `${': ***'.repeat(990)}\n`.repeat(40) })],
    ['paths', planWith({ Changes: '- `src/nowhere.ts`: the check\n'.repeat(6_500) })],
    [
      'many paths',
      planWith({ Changes: Array.from({ length: 6_000 }, (_, i) => `- \`src/f${i}.ts\`: the check`).join('\n') }),
    ],
  ]

  it.each(nasty)('does not make it slow: 200 kB of %s', (_, plan) => {
    // What the gate reads is the gate's own time.
    const changes = readPlanScope(plan)
    const startedAt = performance.now()
    checkPlan(plan, { ...setup, maxBytes: 1_000_000, readChanges: () => changes })
    // Some 50 ms where nothing else runs; a pattern that blows up would take minutes.
    expect(performance.now() - startedAt).toBeLessThan(3_000)
  })
})
